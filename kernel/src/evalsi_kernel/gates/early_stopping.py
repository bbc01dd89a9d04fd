"""Early stopping as a run sees it: what a test of its gates is fed, what it decides, and the seam to an extension.

It must not know the test: it is in an extension (`evalsi-early-stopping`), loaded when a run says `stop_when_decided`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from evalsi_kernel.gates.spec import GateSpec


class RecordScores(NamedTuple):
    """One metric on one record: the values of the trials that were scored, a pass as 1.0, and how many were not."""

    values: Sequence[float]
    errors: int = 0
    skipped: int = 0


class Decision(NamedTuple):
    """What is known of a gate.

    Args:
        verdict: what it would say of all records.
        records: after so many.
        of: of so many; None where nobody knows.
        error_rate: the chance of one wrong decision over all gates together.
    """

    verdict: Literal["pass", "fail"]
    records: int
    of: int | None
    error_rate: float


class EarlyStopping(Protocol):
    """Follows the gates of a run.

    Records must be fed in the order in which the run takes them up, which is a shuffled one, and not in the order in
    which they are done: what is quick is no sample.
    """

    @property
    def obstacle(self) -> str | None:
        """A sentence on a gate that cannot be followed, so that the run never stops early; None where all can."""

    def add(self, scores: Mapping[str, RecordScores]) -> None:
        """Take in the next record, all of its trials together, by metric; `X.pass@k` is made from the trials of X.

        Raises:
            ValueError: there are more records than was said.
        """

    @property
    def decisions(self) -> Sequence[Decision | None]:
        """One for each gate; None where it is not decided yet, or where too much was not scored so far to say."""

    @property
    def is_decided(self) -> bool:
        """Whether every gate is decided, so that the run may stop."""


class StoppingRule(Protocol):
    """Makes what follows the gates of a run; an extension provides it."""

    def __call__(
        self,
        gates: Sequence[GateSpec | None],
        ranges: Mapping[str, tuple[float, float]],
        *,
        records: int | None,
        trials: int,
        error_rate: float,
    ) -> EarlyStopping:
        """Begin with the first record.

        Args:
            gates: as `verdicts.applying` gives them, None for one that does not apply.
            ranges: metric → (minimum, maximum) of its values, as `GatePlan.ranges`.
            records: how many records there are, from 1 up; None where nobody knows.
            trials: how often each is run, from 1 up.
            error_rate: the chance of one wrong decision over all gates together, above 0 and below 1.
        """
