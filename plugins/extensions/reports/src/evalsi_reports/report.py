"""Owns a report before it has a form: everything that any form shows, from a results file and perhaps a baseline.

It must not know a form.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .asked import asks_otherwise
from .changes import Changes, changes_of
from .details import Details, read_details
from .folding import Folded, fold
from .gate_words import Gate, gates_of
from .headline import Headline, headline_of
from .judged import Comparer, judged
from .metrics import Metric, metric_of, metrics_of
from .ranking import badness, order, worst
from .redaction import Redaction
from .results import Results
from .shown_text import one_line
from .trials import TrialShares, failed_trials, most_trials, trial_shares
from .values import objects

# More rows than these are counted and drawn in charts, but not shown one by one.
MAX_ROWS = 10_000


class Slice(NamedTuple):
    """The metrics of the records that have one value of a metadata key."""

    by: str
    value: str
    metrics: tuple[Metric, ...]


class ReportData(NamedTuple):
    """Everything that a report shows.

    Args:
        title: of the report.
        source: the name of the results file.
        folded: the file, folded.
        redaction: what of it is withheld.
        headline, metrics, gates, slices: what came of the run.
        changes: since the baseline; None without one.
        baseline: the name of its file.
        trials: how often a record ran at most.
        shares: how the trials agree.
        failed_trials: in how many trials each of the worst records failed a check.
        bad: how bad each row is.
        worst: the rows to look at first, the worst first.
        shown: all rows that can be looked at, in the order of the data.
        details: the texts of those.
    """

    title: str
    source: str
    folded: Folded
    redaction: Redaction
    headline: Headline
    metrics: tuple[Metric, ...]
    gates: tuple[Gate, ...]
    slices: tuple[Slice, ...]
    changes: Changes | None
    baseline: str
    trials: int
    shares: tuple[TrialShares, ...]
    failed_trials: Mapping[str, int]
    bad: array[float]
    worst: tuple[int, ...]
    shown: tuple[int, ...]
    details: Details

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What ran."""
        return self.folded.head.manifest


def read_report(
    path: Path,
    *,
    redaction: Redaction,
    baseline: Path | None = None,
    compare: Comparer | None = None,
    worst_count: int = 10,
    title: str | None = None,
    all_rows: bool = True,
) -> ReportData:
    """Read a results file, and what it is compared with.

    Args:
        path: of the results file.
        redaction: what of it is withheld.
        baseline: of another results file; None without one.
        compare: judges what changed since; without one nothing is called clear.
        worst_count: how many records to show first, 0 or more.
        title: of the report; None takes the run's name, or that of its data.
        all_rows: whether texts beyond those of the worst rows are wanted.

    Raises:
        ConfigError: a file cannot be read, or is no results file.
    """
    results = Results(path, redaction)
    folded = fold(results)
    metrics = metrics_of(folded)
    gates = gates_of(folded.head.gates)
    gated = {gate.metric for gate in gates if gate.verdict in ("fail", "undecided")}
    bad = badness(metrics, len(folded.rows), gated)
    changes = None
    if baseline is not None:
        before = fold(Results(baseline, Redaction()))
        is_other = asks_otherwise(folded.head, path, before.head, baseline)
        changes = changes_of(folded, metrics, before, judged(baseline, path, compare), of_other_data=is_other)
    baseline_name = "" if baseline is None else one_line(baseline.name)
    lowest = worst(bad, folded.rows, worst_count)
    shown = order(bad)[:MAX_ROWS] if all_rows else lowest
    return ReportData(
        title=one_line(title if title is not None else _title(folded, path)),
        source=path.name,
        folded=folded,
        redaction=redaction,
        headline=headline_of(folded, metrics, gates, changes, baseline_name),
        metrics=tuple(metrics),
        gates=tuple(gates),
        slices=tuple(_slice(entry) for entry in folded.head.slices),
        changes=changes,
        baseline=baseline_name,
        trials=most_trials(folded.rows),
        shares=tuple(trial_shares(metrics, folded.rows)),
        failed_trials=failed_trials(metrics, folded.rows, {folded.rows.ids[row] for row in lowest}),
        bad=bad,
        worst=tuple(lowest),
        shown=tuple(sorted({*shown, *lowest})),
        details=read_details(results, folded, {*shown, *lowest}),
    )


def _slice(entry: Mapping[str, Any]) -> Slice:
    metrics = tuple(metric_of(one) for one in objects(entry.get("summaries")))
    return Slice(one_line(str(entry.get("by"))), one_line(str(entry.get("value"))), metrics)


def _title(folded: Folded, path: Path) -> str:
    manifest = folded.head.manifest
    name = manifest.get("name")
    if isinstance(name, str) and name:
        return name
    dataset = manifest.get("dataset")
    source = dataset.get("source") if isinstance(dataset, dict) else None
    return Path(source).name if isinstance(source, str) and source and source != "-" else path.name
