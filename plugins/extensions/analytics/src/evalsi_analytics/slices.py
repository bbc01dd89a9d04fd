"""Owns a metric by slices: for each run and each value of a metadata key the count, the mean and its interval.

The statistics are the kernel's own, so a slice of everything has the numbers of the run's table. It must not know
files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import UsageError
from evalsi_kernel.packs.pack_info import Kind, OutputInfo
from evalsi_kernel.scores.summaries import MetricAccumulator

from .answers import Answer
from .tables import pointer

if TYPE_CHECKING:
    import duckdb

MAX_ROWS = 10_000
NO_VALUE = "(none)"
_CHUNK_ROWS = 10_000
COLUMNS = ("run", "n", "mean", "low", "high", "skipped", "errors")

_KEYS = "SELECT DISTINCT unnest(json_keys(metadata)) FROM records WHERE metadata IS NOT NULL ORDER BY 1"
# What a run was clustered by, as the name of a pointer; its trials are told apart by the record.
_ROWS = """
WITH clusters AS (
    SELECT run_id, replace(replace(json_extract_string(manifest, '/summary/cluster_by'), '~', '~0'), '/', '~1') AS name
    FROM runs
)
SELECT run_id, coalesce(json_extract_string(metadata, ?), ?), record_id, outcome, value, passed, label,
    coalesce(
        json_extract_string(metadata, '/' || clusters.name),
        json_extract_string(metadata, '/' || replace(clusters.name, '.', '/'))
    )
FROM scores JOIN records USING (run_id, record_id, trial) JOIN runs USING (run_id) JOIN clusters USING (run_id)
WHERE metric = ?
ORDER BY started_at, run_id, 2, record_id, trial
"""


class Slice(NamedTuple):
    """One row: a run, a value of the key, and what the metric is there."""

    run_id: str
    value: str
    n: int
    mean: float | None
    low: float | None
    high: float | None
    skipped: int
    errors: int


def slices(connection: duckdb.DuckDBPyConnection, metric: str, key: str, level: float) -> list[Slice]:
    """A metric by a key.

    Args:
        connection: to the tables.
        metric: its name.
        key: of the records' metadata; dots reach inside.
        level: confidence level of the intervals, strictly between 0 and 1.

    Raises:
        UsageError: there is no such metric or key, the metric gives labels, or there would be too many rows.
    """
    _require(connection, metric, key)
    found: list[Slice] = []
    for group in _groups(connection, metric, key):
        found.append(_summed(group, metric, level))
        if len(found) > MAX_ROWS:
            raise UsageError(
                f"{key!r} has so many values that the slices would be more than {MAX_ROWS:,} rows.",
                "Slice by a key of fewer values, or use `evalsi analyze query`.",
            )
    return found


def as_answer(found: Sequence[Slice], key: str) -> Answer:
    """The slices as rows."""
    columns = [COLUMNS[0], key, *COLUMNS[1:]]
    return Answer(columns, found)


def _require(connection: duckdb.DuckDBPyConnection, metric: str, key: str) -> None:
    rows = connection.execute("SELECT metric, bool_or(label IS NOT NULL) FROM scores GROUP BY 1 ORDER BY 1").fetchall()
    metrics = {str(name): bool(labels) for name, labels in rows}
    if metric not in metrics:
        raise UsageError(f"There is no metric {metric!r} in these runs.", choose(metric, metrics))
    if metrics[metric]:
        raise UsageError(
            f"{metric!r} gives labels, which have no mean.",
            f"Count them with a query: SELECT label, count(*) FROM scores WHERE metric = '{metric}' GROUP BY 1.",
        )
    keys = [str(name) for (name,) in connection.execute(_KEYS).fetchall()]
    if key not in keys and key.partition(".")[0] not in keys:
        raise UsageError(f"No record has {key!r} in its metadata.", choose(key, keys))


def _path(connection: duckdb.DuckDBPyConnection, key: str) -> str:
    """The path of a key: as one name where records have it so, else with its dots reaching inside."""
    known = {str(name) for (name,) in connection.execute(_KEYS).fetchall()}
    return pointer(key) if key in known else pointer(*key.split("."))


def _groups(connection: duckdb.DuckDBPyConnection, metric: str, key: str) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of each run and value, one group at a time."""
    cursor = connection.execute(_ROWS, [_path(connection, key), NO_VALUE, metric])
    group: list[tuple[Any, ...]] = []
    while rows := cursor.fetchmany(_CHUNK_ROWS):
        for row in rows:
            if group and row[:2] != group[0][:2]:
                yield group
                group = []
            group.append(row)
    if group:
        yield group


def _summed(group: Sequence[tuple[Any, ...]], metric: str, level: float) -> Slice:
    scored = [row for row in group if row[3] == "scored" and row[4] is not None]
    outcomes = Counter(row[3] for row in group)
    kind: Kind = "pass" if any(row[5] is not None for row in scored) else "number"
    # Trials of one record are no new records.
    clusters = [row[2] if row[7] is None else row[7] for row in scored]
    clustered = len(set(clusters)) < len(clusters) or any(row[7] is not None for row in scored)
    sample = MetricAccumulator(metric, metric, OutputInfo(kind=kind), level=level, clustered=clustered)
    sample.add([row[4] for row in scored], clusters if clustered else None)
    summary = sample.summary()
    ci = summary.ci
    return Slice(
        run_id=group[0][0],
        value=group[0][1],
        n=summary.n,
        mean=summary.mean,
        low=None if ci is None else ci.low,
        high=None if ci is None else ci.high,
        skipped=outcomes["skipped"],
        errors=outcomes["error"],
    )
