"""Owns what changed since a baseline: each metric's difference over the same records, and the records that flipped.

It must not know how a difference is shown; `evalsi compare` has the statistics for a decision.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from evalsi_kernel.scores.intervals import student_t
from evalsi_kernel.scores.moments import Moments

from .columns import Column
from .folding import Folded
from .metrics import Metric, metrics_of

_LEVEL = 0.95
_OTHER_DATA = "The data are not the same as the baseline's."


class Change(NamedTuple):
    """What became of one metric.

    Args:
        metric: as it is now.
        before: its mean in the baseline, None where that has none.
        difference: of the means over the records that both have; of all where no record is in both.
        low, high: ends of its 95 % interval, by Student's t over the records; None where there is none, and where
            records come in clusters, of which it knows nothing.
        paired: how many records both have scores for.
        lost, won: ids of the records that passed and now fail, and the other way round; numbers: fell and rose.
    """

    metric: Metric
    before: float | None
    difference: float | None
    low: float | None
    high: float | None
    paired: int
    lost: tuple[str, ...]
    won: tuple[str, ...]

    @property
    def direction(self) -> str:
        """`better`, `worse`, `same`, or `other` where neither is better."""
        if self.difference is None or self.metric.higher_is_better is None:
            return "other"
        if not self.difference:
            return "same"
        return "better" if (self.difference > 0) == self.metric.higher_is_better else "worse"

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves no difference out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class Changes(NamedTuple):
    """What changed.

    Args:
        metrics: those that both files have, in their order.
        gone, new: names of metrics that only the baseline has, or only this run.
        notes: sentences on what else differs, so that the numbers compare less than they seem to.
    """

    metrics: tuple[Change, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    notes: tuple[str, ...]


def changes_of(now: Folded, metrics: Sequence[Metric], before: Folded, *, of_other_data: bool) -> Changes:
    """Compare a run with its baseline, which may be of other data."""
    old = {metric.name: metric for metric in metrics_of(before)}
    both = [metric for metric in metrics if metric.name in old and metric.kind != "label"]
    names = {metric.name for metric in metrics}
    return Changes(
        tuple(_change(metric, now, old[metric.name], before) for metric in both),
        tuple(name for name in old if name not in names),
        tuple(metric.name for metric in metrics if metric.name not in old),
        (*([_OTHER_DATA] if of_other_data else []), *_notes(now, before)),
    )


def _change(metric: Metric, now: Folded, old: Metric, before: Folded) -> Change:
    ours = _by_record(metric.column, now)
    theirs = _by_record(old.column, before)
    pairs = {record_id: (theirs[record_id], value) for record_id, value in ours.items() if record_id in theirs}
    if not pairs:
        difference = None if metric.mean is None or old.mean is None else metric.mean - old.mean
        return Change(metric, old.mean, difference, None, None, 0, (), ())
    moments = Moments()
    moments.add([value - earlier for earlier, value in pairs.values()])
    interval = None
    clustered = _cluster_key(now) or _cluster_key(before)
    if not clustered and moments.mean is not None and moments.variance is not None:
        # Where both lie between 0 and 1, no difference is beyond 1.
        within = 1.0 if metric.span == old.span == (0.0, 1.0) else None
        least = None if within is None else -within
        interval = student_t(moments.n, moments.mean, moments.variance, _LEVEL, minimum=least, maximum=within)
    falls = [record_id for record_id, (earlier, value) in pairs.items() if _is_less(value, earlier)]
    rises = [record_id for record_id, (earlier, value) in pairs.items() if _is_less(earlier, value)]
    lost, won = (rises, falls) if metric.higher_is_better is False else (falls, rises)
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Change(metric, old.mean, moments.mean, low, high, len(pairs), tuple(lost), tuple(won))


def _by_record(column: Column | None, folded: Folded) -> dict[str, float]:
    """The mean over the trials of each record, so that records count once however often they ran."""
    if column is None:
        return {}
    found: defaultdict[str, list[float]] = defaultdict(list)
    for row, record_id in enumerate(folded.rows.ids):
        value = column[row]
        if not math.isnan(value):
            found[record_id].append(value)
    return {record_id: sum(values) / len(values) for record_id, values in found.items()}


def _is_less(one: float, other: float) -> bool:
    return one < other and not math.isclose(one, other, rel_tol=1e-14, abs_tol=1e-15)


def _notes(now: Folded, before: Folded) -> list[str]:
    notes = []
    for name, ref in now.refs.items():
        old = before.refs.get(name)
        if old is not None and old != ref:
            notes.append(f"{name} is {ref} now, and was {old}.")
    if key := _cluster_key(now) or _cluster_key(before):
        notes.append(f"Records are clustered by {key}: `evalsi compare` says which differences are no chance.")
    if len(now.rows) and not set(now.rows.ids) & set(before.rows.ids):
        notes.append("No record of this run is in the baseline, so that nothing can be paired.")
    return notes


def _cluster_key(folded: Folded) -> str | None:
    """The key that a file's records are clustered by; trials of a record are told apart by it, and count once."""
    summary = folded.head.manifest.get("summary")
    found = summary.get("cluster_by") if isinstance(summary, dict) else None
    return found if isinstance(found, str) and found not in ("", "id") else None
