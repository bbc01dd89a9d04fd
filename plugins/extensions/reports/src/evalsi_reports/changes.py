"""Owns what changed since a baseline: each metric's difference over the same records, and the records that flipped.

It must not know how a difference is shown, nor how one is judged: `evalsi compare` does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .folding import Folded
from .judged import Judged
from .metrics import Metric, metrics_of
from .shown_text import one_line

_OTHER_DATA = "The data are not the same as the baseline's."


class Change(NamedTuple):
    """What became of one metric.

    Args:
        metric: as it is now.
        before: its mean in the baseline, None where that has none.
        difference: of the means over the records that both have; of all where no record is in both.
        low, high: ends of its 95 % interval; None where there is none.
        paired: how many records both have scores for.
        lost, won: ids of the records that passed and now fail, and the other way round; numbers: fell and rose. Those
            that changed most come first.
        is_clear: whether the difference is significant, adjusted for all metrics.
        not_comparable: why the metric was not measured alike in both runs, as a clause; "" otherwise.
    """

    metric: Metric
    before: float | None
    difference: float | None
    low: float | None = None
    high: float | None = None
    paired: int = 0
    lost: tuple[str, ...] = ()
    won: tuple[str, ...] = ()
    is_clear: bool = False
    not_comparable: str = ""

    @property
    def direction(self) -> str:
        """`better`, `worse`, `same`, or `other` where neither is better."""
        if self.not_comparable or self.difference is None or self.metric.higher_is_better is None:
            return "other"
        if not self.difference:
            return "same"
        return "better" if (self.difference > 0) == self.metric.higher_is_better else "worse"


class Changes(NamedTuple):
    """What changed.

    Args:
        metrics: those that both files have, in their order.
        gone, new: names of metrics that only the baseline has, or only this run.
        errors: how many more or fewer there are, as a clause; "" where that may be chance.
        notes: sentences on what else differs, so that the numbers compare less than they seem to.
    """

    metrics: tuple[Change, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    notes: tuple[str, ...]
    errors: str = ""


def changes_of(now: Folded, metrics: Sequence[Metric], before: Folded, told: Judged, *, of_other_data: bool) -> Changes:
    """What changed since a baseline, which may be of other data, by what is said of the differences."""
    old = {metric.name: metric for metric in metrics_of(before)}
    both = [metric for metric in metrics if metric.name in old and metric.kind != "label"]
    names = {metric.name for metric in metrics}
    return Changes(
        tuple(_change(metric, old[metric.name], told.metrics.get(metric.name)) for metric in both),
        tuple(name for name in old if name not in names),
        tuple(metric.name for metric in metrics if metric.name not in old),
        (*([_OTHER_DATA] if of_other_data else []), *_notes(now, before, told)),
        told.errors,
    )


def _change(metric: Metric, old: Metric, told: Mapping[str, Any] | None) -> Change:
    if told is None or told["difference"] is None:
        difference = None if metric.mean is None or old.mean is None else metric.mean - old.mean
        return Change(metric, old.mean, difference)
    interval = told["ci"] or {"low": None, "high": None}
    return Change(
        metric,
        old.mean,
        told["difference"],
        interval["low"],
        interval["high"],
        told["records"],
        tuple(told["lost_ids"]),
        tuple(told["won_ids"]),
        is_clear=told["significant"],
        not_comparable=one_line(str(told.get("not_comparable") or ""), 200),
    )


def _notes(now: Folded, before: Folded, told: Judged) -> list[str]:
    notes = []
    for name, ref in now.refs.items():
        old = before.refs.get(name)
        if old is not None and old != ref:
            notes.append(f"{name} is {ref} now, and was {old}.")
    keys = [_cluster_key(one) for one in (before, now)]
    if told.cluster_by is not None:
        notes.append(f"Records are clustered by {told.cluster_by}, as in both files.")
    elif any(keys) and not told.note:
        clustered = [f"{name} by {key}" for name, key in zip(("the baseline", "this run"), keys, strict=True) if key]
        notes.append(f"Records count one by one here, and were clustered in {' and '.join(clustered)}.")
    if len(now.rows) and not set(now.rows.ids) & set(before.rows.ids):
        notes.append("No record of this run is in the baseline, so that nothing can be paired.")
    elif told.note:
        notes.append(one_line(told.note, 400))
    return notes


def _cluster_key(folded: Folded) -> str | None:
    """The key that a file's records are clustered by; trials of a record are told apart by it, and count once."""
    summary = folded.head.manifest.get("summary")
    found = summary.get("cluster_by") if isinstance(summary, dict) else None
    return found if isinstance(found, str) and found not in ("", "id") else None
