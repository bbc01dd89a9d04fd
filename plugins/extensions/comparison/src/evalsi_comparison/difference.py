"""Owns the comparison of one metric: the difference, how sure it is, and which records it comes from.

It must not know files, nor how a comparison is shown.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalsi_kernel.scores.intervals import Interval, IntervalMethod

from .paired_tests import LARGEST, Tested, means_tested, verdicts_tested
from .pairs import LeftOut, Pairs, pair_up, paired_labels
from .side import Items, Kind, Side

POINTS = 0.02
"""The change that `needed` is about: two points of a share."""


class Settings(NamedTuple):
    """How metrics are compared.

    Args:
        level: confidence level, strictly between 0 and 1; 1 - level is what a p-value is held to.
        method: makes intervals in place of the usual ones; None for the usual ones.
    """

    level: float = 0.95
    method: IntervalMethod | None = None

    @property
    def alpha(self) -> float:
        """Below which a p-value is a finding; without the digits that subtraction adds."""
        return round(1 - self.level, 12)


class Flip(NamedTuple):
    """A record that changed.

    Args:
        record: its place.
        record_id: its id.
        before, after: its mean in the base and in the candidate.
        trials: over how many pairs.
        trial: the first of them in which the runs differ.
    """

    record: int
    record_id: str
    before: float
    after: float
    trials: int
    trial: int = 1

    @property
    def item(self) -> tuple[str, int]:
        """The record's id and the trial to show."""
        return self.record_id, self.trial


class Difference(NamedTuple):
    """What the comparison says of one metric.

    Args:
        metric, evaluator, kind, unit: as in the summaries.
        higher_is_better: the declared direction; None where neither is better.
        pairs: how many items were scored in both runs; `records` of how many records.
        clusters: how many clusters these are in; None where records count one by one.
        base, candidate: means over the records of the pairs.
        tested: of candidate - base.
        p_holm: the p-value, adjusted for the number of metrics.
        won, lost, tied: how many records are better, worse, the same; without a direction, higher or lower.
        change: the change that `tested.needed` is about, in the unit of the metric.
        input_differs, left_base, left_candidate, both_skipped: items that are in no pair.
        flips: the records that changed, lost ones first, those that changed most before the others.
        labels: of labels: each with its count in base and candidate; `relabelled` is how many pairs changed.
        not_comparable: why the two means were not measured alike, as a clause; then nothing is tested. "" otherwise.
    """

    metric: str
    evaluator: str
    kind: Kind
    unit: str | None
    higher_is_better: bool | None
    pairs: int
    records: int
    clusters: int | None
    base: float | None
    candidate: float | None
    tested: Tested
    won: int
    lost: int
    tied: int
    change: float | None
    input_differs: int
    left_base: LeftOut
    left_candidate: LeftOut
    both_skipped: int
    flips: tuple[Flip, ...] = ()
    labels: Mapping[str, tuple[int, int]] = {}
    relabelled: int = 0
    p_holm: float | None = None
    not_comparable: str = ""

    @property
    def is_too_large(self) -> bool:
        """Whether there are numbers in pairs, and some too large to be compared."""
        return self.kind == "number" and bool(self.pairs) and self.base is None

    @property
    def difference(self) -> float | None:
        """The candidate's mean less the base's."""
        return None if self.base is None or self.candidate is None else self.candidate - self.base

    @property
    def ci(self) -> Interval | None:
        """The interval of the difference."""
        return self.tested.ci

    def worse_by(self) -> float | None:
        """How far the candidate is worse, below 0 where it is better; None without a direction or a difference."""
        if self.difference is None or self.higher_is_better is None:
            return None
        return -self.difference if self.higher_is_better else self.difference

    def significant(self, alpha: float) -> bool:
        """Whether the difference holds after the correction for several metrics."""
        return self.p_holm is not None and self.p_holm < alpha

    def direction(self, alpha: float) -> str:
        """`better`, `worse`, `higher` or `lower` where the difference holds; else `same`."""
        if not self.significant(alpha) or not self.difference:
            return "same"
        worse = self.worse_by()
        if worse is None:
            return "higher" if self.difference > 0 else "lower"
        return "worse" if worse > 0 else "better"


def compare_metric(
    metric: str, base: Side, candidate: Side, items: Items, refused: set[int], *, settings: Settings
) -> Difference:
    """Compare a metric that both runs have, of one kind.

    Args:
        metric: its name.
        base, candidate: the runs.
        items: the places of the items in both.
        refused: places of records whose inputs differ.
        settings: how.
    """
    pairs = pair_up(metric, base, candidate, items, refused)
    summary = candidate.summaries.get(metric) or base.summaries.get(metric) or {}
    column = candidate.columns[metric]
    clusters = [candidate.clusters[one] for one in pairs.records] if candidate.clusters else None
    found = Difference(
        metric=metric,
        evaluator=column.evaluator,
        kind=column.kind,
        unit=summary.get("unit"),
        higher_is_better=summary.get("higher_is_better"),
        pairs=pairs.n,
        records=len(pairs.records),
        clusters=None if clusters is None else len(set(clusters)),
        base=None,
        candidate=None,
        tested=Tested(),
        won=0,
        lost=0,
        tied=0,
        change=None,
        input_differs=pairs.input_differs,
        left_base=pairs.left_base,
        left_candidate=pairs.left_candidate,
        both_skipped=pairs.both_skipped,
    )
    if column.kind == "label":
        return _with_labels(found, paired_labels(metric, base, candidate, items, refused))
    return _with_numbers(found, pairs, items, clusters, settings)


def _with_numbers(
    found: Difference, pairs: Pairs, items: Items, clusters: Sequence[str] | None, settings: Settings
) -> Difference:
    n = len(pairs.records)
    values = [*pairs.base, *pairs.candidate]
    size = max(map(abs, values), default=0.0)
    if not n or size > LARGEST:
        return found
    before, after = math.fsum(pairs.base) / n, math.fsum(pairs.candidate) / n
    of_verdicts = found.kind == "pass"
    change: float | None = POINTS
    if not (of_verdicts or (min(values) >= 0 and size <= 1)):
        change = POINTS * abs(before) or None
    if of_verdicts and clusters is None and max(pairs.counts) == 1:
        tested = verdicts_tested(pairs.base, pairs.candidate, settings.level, POINTS, settings.method)
    else:
        tested = means_tested(
            pairs.differences, size, settings.level, change, settings.method, clusters=clusters, of_verdicts=of_verdicts
        )
    sign = -1 if found.higher_is_better is False else 1
    # Of equal changes those that come first in the data.
    flips = sorted(_flips(pairs, items), key=lambda one: (-abs(one.after - one.before), one.record))
    lost = [one for one in flips if sign * (one.after - one.before) < 0]
    won = [one for one in flips if sign * (one.after - one.before) > 0]
    return found._replace(
        base=before,
        candidate=after,
        tested=tested,
        won=len(won),
        lost=len(lost),
        tied=n - len(flips),
        change=change,
        flips=(*lost, *won),
    )


def _flips(pairs: Pairs, items: Items) -> list[Flip]:
    rows = zip(pairs.records, pairs.base, pairs.candidate, pairs.counts, pairs.trials, strict=True)
    return [
        Flip(record, items.records[record], before, after, count, trial)
        for record, before, after, count, trial in rows
        if before != after
    ]


def _with_labels(found: Difference, pairs: Sequence[tuple[str, str]]) -> Difference:
    before, after = Counter(one for one, _ in pairs), Counter(one for _, one in pairs)
    names = sorted({*before, *after}, key=lambda name: (-before[name], -after[name], name))
    return found._replace(
        labels={name: (before[name], after[name]) for name in names},
        relabelled=sum(1 for one, other in pairs if one != other),
    )


def without_test(found: Difference, reason: str) -> Difference:
    """Return a comparison of what was measured differently: both means, no test and no changed record."""
    return found._replace(not_comparable=reason, tested=Tested(), won=0, lost=0, tied=0, flips=())


def difference_dict(found: Difference, alpha: float) -> dict[str, Any]:
    """A metric's comparison as JSON values, without its flips."""
    tested, ci = found.tested, found.ci
    left = {"base": found.left_base._asdict(), "candidate": found.left_candidate._asdict()}
    return {
        "metric": found.metric,
        "evaluator": found.evaluator,
        "kind": found.kind,
        "unit": found.unit,
        "higher_is_better": found.higher_is_better,
        "pairs": found.pairs,
        "records": found.records,
        "clusters": found.clusters,
        "base": found.base,
        "candidate": found.candidate,
        "difference": found.difference,
        "ci": None if ci is None else {"low": ci.low, "high": ci.high, "level": ci.level, "method": ci.method},
        "p": tested.p,
        "p_holm": found.p_holm,
        "test": tested.test or None,
        "significant": found.significant(alpha),
        "direction": found.direction(alpha),
        "not_comparable": found.not_comparable or None,
        "won": found.won,
        "lost": found.lost,
        "tied": found.tied,
        "needed": {"change": found.change, "records": tested.needed},
        "labels": {name: {"base": one, "candidate": other} for name, (one, other) in found.labels.items()},
        "relabelled": found.relabelled,
        "left_out": {"input_differs": found.input_differs, "both_skipped": found.both_skipped, **left},
    }
