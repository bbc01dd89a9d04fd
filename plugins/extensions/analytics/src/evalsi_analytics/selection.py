"""Owns which runs a question is about: those with some labels, the newest few, or some by their ids.

It must not know what is asked. Views of the tables' own names stand before the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import UsageError

from .tables import TABLES, pointer

if TYPE_CHECKING:
    import duckdb


class Selection(NamedTuple):
    """What a run must be to be asked about.

    Args:
        labels: name and value, all of which it has.
        project: its project.
        run_ids: its id is among these, where there are any.
        limit: the newest so many of the others.
    """

    labels: Sequence[tuple[str, str]] = ()
    project: str | None = None
    run_ids: Sequence[str] = ()
    limit: int | None = None


def parse_labels(words: Sequence[str]) -> list[tuple[str, str]]:
    """Read `name=value`; raises `UsageError`."""
    pairs = [word.partition("=") for word in words]
    for word, (name, equals, _) in zip(words, pairs, strict=True):
        if not name or not equals:
            raise UsageError(f"--label is {word!r}.", "Write it as suite=nightly.")
    return [(name, value) for name, _, value in pairs]


def select(connection: duckdb.DuckDBPyConnection, selection: Selection) -> int:
    """Narrow the tables to the selection; returns how many runs there are.

    Raises:
        UsageError: there is no run of an id, or none at all.
    """
    conditions, values = ["true"], list[str]()
    for name, value in selection.labels:
        conditions.append("json_extract_string(labels, ?) = ?")
        values += [pointer(name), value]
    if selection.project is not None:
        conditions.append("project = ?")
        values.append(selection.project)
    rows = connection.execute(
        f"SELECT run_id FROM runs WHERE {' AND '.join(conditions)} ORDER BY started_at DESC, run_id", values
    ).fetchall()
    found = [str(run_id) for (run_id,) in rows]
    for run_id in selection.run_ids:
        if run_id not in found:
            raise UsageError(f"There is no run {run_id!r} among those that are loaded.", did_you_mean(run_id, found))
    chosen = [one for one in found if not selection.run_ids or one in selection.run_ids][: selection.limit]
    if not chosen:
        raise UsageError("No run is left to ask about.", "Load files with --results, or loosen --label and --project.")
    if selection != Selection():
        # A view cannot have a parameter, so what it is about stands in a table of this connection.
        connection.execute("CREATE TEMP TABLE chosen AS SELECT unnest(?::VARCHAR[]) AS run_id", [chosen])
        [(catalog,)] = connection.execute("SELECT current_database()").fetchall()
        quoted = str(catalog).replace('"', '""')
        for table in TABLES:
            source = f'"{quoted}".main.{table} WHERE run_id IN (FROM temp.chosen)'
            connection.execute(f"CREATE TEMP VIEW {table} AS FROM {source}")
    return len(chosen)
