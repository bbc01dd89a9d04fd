"""What became of a record, as a test of an evaluator reads it.

An outcome that is asked for what it lacks fails the test. It must not know how the record was scored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalsi.score import SCORED, SKIPPED, Score, score_of_wire
from evalsi.scoring import STATE
from evalsi_protocol.errors import WireError


class WrongOutcome(AssertionError):
    """The outcome has no such part; the sentence says what it has."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What became of one record, or of the whole at dataset scope.

    Args:
        kind: "scored", "skipped", "error", or "state" for a record that a dataset-scope evaluator observed.
        scores: of a scored one, in the order returned.
        reason: of a skipped one.
        error: of a failed one: its code, its message and what would correct it.
        state: of an observed one.
    """

    kind: str
    scores: tuple[Score, ...] = ()
    reason: str = ""
    error: WireError | None = None
    state: Any = None

    @property
    def score(self) -> Score:
        """The only score.

        Raises:
            WrongOutcome: there is none, or there are several.
        """
        if len(self.scores) != 1:
            raise WrongOutcome(f"There is not one score, but this: {self!r}")
        return self.scores[0]

    @property
    def value(self) -> float:
        """The number of the only score; raises `WrongOutcome` when it is none."""
        value: float = self._verdict("value")
        return value

    @property
    def passed(self) -> bool:
        """Whether the only score is a pass; raises `WrongOutcome` when it is neither pass nor fail."""
        passed: bool = self._verdict("passed")
        return passed

    @property
    def label(self) -> str:
        """The label of the only score; raises `WrongOutcome` when it is none."""
        label: str = self._verdict("label")
        return label

    def __getitem__(self, name: str) -> Score:
        """The score of this name; raises `WrongOutcome` when there is none."""
        for one in self.scores:
            if one.name == name:
                return one
        raise WrongOutcome(f"There is no score {name!r}, but this: {self!r}")

    def _verdict(self, what: str) -> Any:
        verdict = getattr(self.score, what)
        if verdict is None:
            raise WrongOutcome(f"There is no {what}, but this: {self!r}")
        return verdict

    def __repr__(self) -> str:
        if self.kind == SCORED:
            return f"<scored: {', '.join(map(repr, self.scores))}>"
        if self.kind == SKIPPED:
            return f"<skipped: {self.reason}>"
        return f"<state: {self.state!r}>" if self.error is None else f"<error {self.error.code}: {self.error}>"


@dataclass(frozen=True, slots=True)
class PackRun:
    """What came back from a session.

    Args:
        outcomes: one a record, in order.
        whole: of a dataset-scope evaluator the outcome for all of them, else None.
    """

    outcomes: list[Outcome]
    whole: Outcome | None = None


def outcome_of(kind: str, payload: Any) -> Outcome:
    """What an item says of its record."""
    if kind == SCORED:
        return Outcome(kind, scores=tuple(score_of_wire(wire) for wire in payload))
    if kind == SKIPPED:
        return Outcome(kind, reason=payload["reason"])
    if kind == STATE:
        return Outcome(kind, state=payload["state"])
    return Outcome(kind, error=WireError.from_body(payload))
