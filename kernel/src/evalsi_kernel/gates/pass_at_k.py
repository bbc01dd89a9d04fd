"""pass@k and pass^k: their estimators for one record, and a fold from the outcomes of trials to summaries.

It must not know where an outcome comes from. Memory does not grow with the number of records.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from evalsi_kernel.summaries import Summary

Trial = Literal["passed", "failed", "error", "skipped", "cancelled"]
SUCCESS_FROM = 1 - 1e-6


def pass_at_k(n: int, passed: int, k: int) -> float | None:
    """The chance that at least one of k trials passes, estimated without bias; None for n < k."""
    raise NotImplementedError


def pass_hat_k(n: int, passed: int, k: int) -> float | None:
    """The chance that k trials all pass, estimated without bias; None for n < k."""
    raise NotImplementedError


def metric_parts(metric: str) -> tuple[str, Literal["@", "^"], int] | None:
    """`exact-match.pass@3` as ("exact-match", "@", 3); None where a name is no such metric."""
    raise NotImplementedError


def wanted_ks(metric: str, gate_metrics: Iterable[str], trials: int) -> list[int]:
    """For which k a metric gets pass@k and pass^k: k = trials where there are several, and each k that a gate names."""
    raise NotImplementedError


class PassAtK:
    """Adds up the trials of one pass/fail metric.

    Args:
        metric: the pass/fail metric, such as "exact-match".
        evaluator: the instance that scores it.
        ks: each k from 1 up.
        level: confidence level of the intervals.
    """

    def __init__(self, metric: str, evaluator: str, ks: Iterable[int], *, level: float = 0.95) -> None:
        raise NotImplementedError

    def add(self, record_id: str, trial: Trial) -> None:
        """Take in one trial; all trials of a record come one after the other."""
        raise NotImplementedError

    def summaries(self) -> list[Summary]:
        """`X.pass@k` and `X.pass^k` for each k; where errors matter, also `X.pass@k (errors as failures)`."""
        raise NotImplementedError
