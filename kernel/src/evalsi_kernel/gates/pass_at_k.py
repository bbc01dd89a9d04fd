"""pass@k and pass^k: their estimators for one record, and a fold from the outcomes of trials to summaries.

It must not know where an outcome comes from. Memory does not grow with the number of records: how many records had so
many trials of each kind is all that the estimators need.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final, Literal, NamedTuple

from evalsi_kernel.scores.clusters import ClusterSums
from evalsi_kernel.scores.intervals import Interval, StandardError, clustered_wilson, effective_wilson, wilson
from evalsi_kernel.scores.moments import Moments
from evalsi_kernel.scores.student_t import require_level
from evalsi_kernel.scores.summaries import Summary

Trial = Literal["passed", "failed", "error", "skipped", "cancelled"]
ERRORS_AS_FAILURES: Final = " (errors as failures)"
_SUCCESS_FROM = 1 - 1e-6
_METRIC = re.compile(r"(.+)\.pass([@^])([1-9][0-9]{0,3})")


def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """The chance that at least one of k trials passes, estimated without bias: 1 - C(n - passed, k) / C(n, k).

    Args:
        n: trials of the record that count.
        passed: how many of them passed, from 0 to n.
        k: at least 1.

    Returns:
        A share from 0 to 1; None for n < k, where there is no unbiased estimate.

    Source: Chen et al., Evaluating large language models trained on code, arXiv:2107.03374 (2021), equation 1.
    """
    return 1.0 - math.comb(n - passed, k) / math.comb(n, k) if n >= k else None


def pass_hat_k(n: int, passed: int, k: int) -> float | None:
    """The chance that k trials all pass, estimated without bias: C(passed, k) / C(n, k).

    Args and returns as those of `pass_at_k`.

    Source: Yao et al., tau-bench, arXiv:2406.12045 (2024), section 3.
    """
    return math.comb(passed, k) / math.comb(n, k) if n >= k else None


_ESTIMATORS: Final[dict[str, Callable[[int, int, int], float | None]]] = {"@": pass_at_k, "^": pass_hat_k}


def succeeded(value: float) -> bool:
    """Whether a number of the range 0 to 1 counts as a success: one trial at a time, and a part of one is none."""
    return value >= _SUCCESS_FROM


class MetricParts(NamedTuple):
    """`exact-match.pass@3` in its parts: the metric of the trials, "@" or "^", and k."""

    metric: str
    sign: str
    k: int


def metric_parts(metric: str) -> MetricParts | None:
    """The parts of the name of such a metric, by either convention; None where a name is none."""
    found = _METRIC.fullmatch(metric.removesuffix(ERRORS_AS_FAILURES))
    return MetricParts(found[1], found[2], int(found[3])) if found else None


def wanted_ks(metric: str, gate_metrics: Iterable[str], trials: int) -> list[int]:
    """For which k a metric gets pass@k and pass^k, from 1 up.

    Args:
        metric: the metric of the trials.
        gate_metrics: the metrics that gates name; `X.pass@2` asks for k = 2 of X.
        trials: how often each record runs; where it is several times, that is a k too.
    """
    named = {parts.k for parts in map(metric_parts, gate_metrics) if parts and parts.metric == metric}
    return sorted(named | ({trials} if trials > 1 else set()))


_Values = Counter[tuple[str | None, float]]
"""How many records of a cluster, which is None where records count one by one, have a value."""


class _Trials(NamedTuple):
    """How many trials of a record ended so."""

    passed: int = 0
    failed: int = 0
    error: int = 0
    skipped: int = 0
    cancelled: int = 0


class PassAtK:
    """Adds up the trials of one pass/fail metric.

    A skipped trial is no trial. A trial that ended as an error is by the first convention no trial either, by the
    second a failure. Where the two give different numbers, both are given.

    Args:
        metric: the metric of the trials, such as "exact-match".
        evaluator: the instance that scores it.
        ks: each k, from 1 up.
        level: confidence level of the intervals, strictly between 0 and 1.

    Raises:
        ValueError: `level` or a k is out of its range.
    """

    def __init__(self, metric: str, evaluator: str, ks: Iterable[int], *, level: float = 0.95) -> None:
        require_level(level)
        self.metric = metric
        self.evaluator = evaluator
        self.ks = sorted(set(ks))
        if self.ks and self.ks[0] < 1:
            raise ValueError(f"k counts trials, from 1 up, and {self.ks[0]} is below.")
        self._level = level
        self._records: Counter[tuple[_Trials, str | None]] = Counter()
        self._record: tuple[str, str | None] = "", None
        self._trials: Counter[str] = Counter()

    def add(self, record_id: str, trial: Trial, cluster: str | None = None) -> None:
        """Take in one trial; all trials of a record come one after the other.

        Args:
            record_id: of the record.
            trial: how it ended.
            cluster: of the record; None where records count one by one.
        """
        if (record_id, cluster) != self._record:
            self._end_record()
            self._record = record_id, cluster
        self._trials[trial] += 1

    def summaries(self) -> list[Summary]:
        """`X.pass@k` and `X.pass^k` for each k, and where errors make a difference, the same with errors as failures.

        `n` counts the records for which a number is defined; a record for which it is not is an error, skipped or
        cancelled, by what its missing trials are.
        """
        self._end_record()
        found = []
        for k in self.ks:
            for sign in _ESTIMATORS:
                usual = self._summary(sign, k, errors_fail=False)
                other = self._summary(sign, k, errors_fail=True)
                found.append(usual)
                if (usual.n, usual.mean) != (other.n, other.mean):
                    found.append(other)
        return found

    def _end_record(self) -> None:
        if self._trials:
            self._records[_Trials(**self._trials), self._record[1]] += 1
            self._trials.clear()

    def _summary(self, sign: str, k: int, *, errors_fail: bool) -> Summary:
        values: _Values = Counter()
        missing: Counter[str] = Counter()
        tried = 0
        for (trials, cluster), records in self._records.items():
            n = trials.passed + trials.failed + (trials.error if errors_fail else 0)
            value = _ESTIMATORS[sign](n, trials.passed, k)
            if value is not None:
                values[cluster, value] += records
                tried += n * records
            elif n + trials.cancelled >= k:
                missing["cancelled"] += records
            else:
                missing["errors" if trials.error and not errors_fail else "skipped"] += records
        moments = Moments()
        for key in sorted(values):
            moments.add([key[1]] * values[key])
        variance = moments.variance
        return Summary(
            metric=f"{self.metric}.pass{sign}{k}{ERRORS_AS_FAILURES if errors_fail else ''}",
            evaluator=self.evaluator,
            kind="number",
            n=moments.n,
            mean=moments.mean,
            std=None if variance is None else math.sqrt(variance),
            errors=missing["errors"],
            skipped=missing["skipped"],
            cancelled=missing["cancelled"],
            ci=_interval(moments, values, self._level, most=tried / k),
            higher_is_better=True,
            clusters=len({cluster for cluster, _ in values} - {None}) or None,
        )


def _interval(moments: Moments, values: _Values, level: float, *, most: float) -> Interval | None:
    """Wilson's interval; where values are fractions, or come in clusters, on their effective sample size.

    That is at most `most`, the number of groups of k trials: near 0 and 1 the spread of a few fractions is hardly any.
    Where they have none at all, or there is one alone, it is the number of records: a value in [0, 1] varies no more
    than a pass or failure of the same mean, so the interval is too wide rather than too narrow.
    """
    mean, variance = moments.mean, moments.variance
    if mean is None:
        return None
    clusters = [(cluster, value) for cluster, value in values if cluster is not None]
    if clusters:
        sums = ClusterSums()
        for cluster, value in clusters:
            records = values[cluster, value]
            sums.add([value] * records, [cluster] * records)
        return clustered_wilson(sums.whole_sums(), sums.counts, level, most=most)
    if variance and not {value for _, value in values} <= {0.0, 1.0}:
        error = StandardError(math.sqrt(variance / moments.n), moments.n - 1)
        return effective_wilson(mean, error, level, most=most)
    return wilson(mean * moments.n, moments.n, level)
