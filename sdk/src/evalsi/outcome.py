"""Outcomes for tests of evaluators. Reading a part that an outcome lacks fails the test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evalsi.score import SCORED, SKIPPED, Score, score_of_wire
from evalsi.scoring import STATE
from evalsi_protocol.errors import WireError


class WrongOutcome(AssertionError):
    """The outcome has no such part. The message shows what it has."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """The outcome of one record, or of the whole data set at dataset scope.

    Args:
        kind: "scored", "skipped", "error", or "state" for a record observed by a dataset-scope evaluator.
        scores: the scores in the order returned, if scored.
        reason: the reason, if skipped.
        error: code, message and hint, if failed.
        state: the state, if observed.
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
            WrongOutcome: there is no score, or there are several.
        """
        if len(self.scores) != 1:
            raise WrongOutcome(f"The outcome does not have exactly one score: {self!r}")
        return self.scores[0]

    @property
    def value(self) -> float:
        """The number of the only score. Raises `WrongOutcome` if it is not a number."""
        value: float = self._verdict("value")
        return value

    @property
    def passed(self) -> bool:
        """Whether the only score is a pass. Raises `WrongOutcome` if it is neither pass nor fail."""
        passed: bool = self._verdict("passed")
        return passed

    @property
    def label(self) -> str:
        """The label of the only score. Raises `WrongOutcome` if it is not a label."""
        label: str = self._verdict("label")
        return label

    def __getitem__(self, name: str) -> Score:
        """Return the score of this name. Raise `WrongOutcome` if there is none."""
        for one in self.scores:
            if one.name == name:
                return one
        raise WrongOutcome(f"The outcome has no score {name!r}: {self!r}")

    def _verdict(self, what: str) -> Any:
        verdict = getattr(self.score, what)
        if verdict is None:
            raise WrongOutcome(f"The outcome has no {what}: {self!r}")
        return verdict

    def __repr__(self) -> str:
        if self.kind == SCORED:
            return f"<scored: {', '.join(map(repr, self.scores))}>"
        if self.kind == SKIPPED:
            return f"<skipped: {self.reason}>"
        return f"<state: {self.state!r}>" if self.error is None else f"<error {self.error.code}: {self.error}>"


@dataclass(frozen=True, slots=True)
class PackRun:
    """The outcomes of a session.

    Args:
        outcomes: one outcome for each record, in order.
        whole: the outcome of the whole data set for a dataset-scope evaluator, else None.
    """

    outcomes: list[Outcome]
    whole: Outcome | None = None


def outcome_of(kind: str, payload: Any) -> Outcome:
    """Return the outcome for an item's kind and payload."""
    if kind == SCORED:
        return Outcome(kind, scores=tuple(score_of_wire(wire) for wire in payload))
    if kind == SKIPPED:
        return Outcome(kind, reason=payload["reason"])
    if kind == STATE:
        return Outcome(kind, state=payload["state"])
    return Outcome(kind, error=WireError.from_body(payload))
