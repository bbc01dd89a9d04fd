"""Follows gates while a run goes on, and says when they are decided, at a stated rate of errors over all of them.

It must not know where records come from. Source: Waudby-Smith & Ramdas, Estimating means of bounded random variables by
betting, J. R. Statist. Soc. B 86 (2024): capital processes, sampling without replacement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec


class RecordScores(NamedTuple):
    """One metric on one record: the values of the trials that were scored, and how many were not."""

    values: Sequence[float]
    errors: int = 0
    skipped: int = 0


class Decision(NamedTuple):
    """What is known of a gate: its verdict, and after how many records of how many."""

    verdict: Literal["pass", "fail"]
    records: int
    of: int | None
    error_rate: float


class EarlyStopping:
    """Follows the gates of a run.

    Records must be fed in the order in which the run takes them up, which is a shuffled one, and not in the order in
    which they are done: what is quick is no sample.

    Args:
        gates: those that apply (`when` is true).
        ranges: metric → (minimum, maximum) of its values, as `GatePlan.ranges`.
        records: how many records there are; None where nobody knows.
        trials: how often each is run.
        error_rate: the chance of one wrong decision over all gates together, above 0 and below 1.

    Attributes:
        obstacle: a sentence on a gate that cannot be followed, so that the run never stops early; None where all can.
    """

    def __init__(
        self,
        gates: Sequence[GateSpec],
        ranges: Mapping[str, tuple[float, float]],
        *,
        records: int | None,
        trials: int = 1,
        error_rate: float = 0.05,
    ) -> None:
        raise NotImplementedError

    def add(self, scores: Mapping[str, RecordScores]) -> None:
        """Take in the next record, all of its trials together, by metric."""
        raise NotImplementedError

    @property
    def decisions(self) -> list[Decision | None]:
        """One for each gate; None where it is not decided yet."""
        raise NotImplementedError

    @property
    def is_decided(self) -> bool:
        """Whether every gate is decided, so that the run may stop."""
        raise NotImplementedError
