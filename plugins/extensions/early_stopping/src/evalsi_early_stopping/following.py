"""Follows gates while a run goes on, and says when they are decided, at a stated rate of errors over all of them.

It must not know where records come from, nor how a gate is judged in the end. What it decides is what the gate would
say of the mean once every record was scored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from evalsi_kernel.gates.early_stopping import Decision, RecordScores
from evalsi_kernel.gates.pass_at_k import metric_parts, pass_at_k, pass_hat_k, succeeded
from evalsi_kernel.gates.shares import error_rate_of, skip_rate_of
from evalsi_kernel.gates.spec import GateSpec

from .betting import Bound


class FollowedGates:
    """Follows the gates of a run, in the same time and memory for each record.

    Records must be fed in the order in which the run takes them up, which is a shuffled one, and not in the order in
    which they are done: what is quick is no sample.

    Args:
        gates: as `verdicts.applying` gives them, None for one that does not apply.
        ranges: metric → (minimum, maximum) of its values, as `GatePlan.ranges`.
        records: how many records there are, from 1 up; None where nobody knows.
        trials: how often each is run.
        error_rate: the chance of one wrong decision over all gates together, above 0 and below 1.

    Attributes:
        obstacle: a sentence on a gate that cannot be followed, so that the run never stops early; None where all can.
    """

    def __init__(
        self,
        gates: Sequence[GateSpec | None],
        ranges: Mapping[str, tuple[float, float]],
        *,
        records: int | None,
        trials: int = 1,
        error_rate: float = 0.05,
    ) -> None:
        self._records = records
        self._error_rate = error_rate
        self._fed = 0
        applying = list(filter(None, gates))
        obstacles = [_obstacle(gate, ranges) for gate in applying] or [
            "There is no gate that early stopping can follow."
        ]
        self.obstacle = next(filter(None, obstacles), None)
        self._followed: list[_FollowedGate | None] = [None] * len(gates)
        if self.obstacle is None:
            # Of the bounds of a gate as of the gates, any may be the one that is decided wrongly.
            share = error_rate / sum((gate.min is not None) + (gate.max is not None) for gate in applying)
            self._followed = [
                None if gate is None else _FollowedGate(gate, ranges[gate.metric], records, trials, share)
                for gate in gates
            ]

    def add(self, scores: Mapping[str, RecordScores]) -> None:
        """Take in the next record, all of its trials together, by metric; `X.pass@k` is made from the trials of X.

        Raises:
            ValueError: there are more records than was said.
        """
        if self._fed == self._records:
            raise ValueError(f"{self._records} records were to come, and here is one more.")
        self._fed += 1
        for gate in filter(None, self._followed):
            gate.add(scores)

    @property
    def decisions(self) -> list[Decision | None]:
        """One for each gate; None where it is not decided yet, or where too much was not scored so far to say."""
        verdicts = [None if gate is None else gate.verdict for gate in self._followed]
        return [
            None if verdict is None else Decision(verdict, self._fed, self._records, self._error_rate)
            for verdict in verdicts
        ]

    @property
    def is_decided(self) -> bool:
        """Whether every gate is decided, so that the run may stop."""
        return self.obstacle is None and all(gate.verdict for gate in self._followed if gate)


def _obstacle(gate: GateSpec, ranges: Mapping[str, tuple[float, float]]) -> str | None:
    """Why a gate cannot be followed, as a sentence."""
    if gate.baseline is not None:
        why = "compares with a baseline"
    elif gate.slice is not None:
        why = "looks at slices, whose sizes are not known before the end"
    elif gate.stat != "mean":
        why = f"bounds {gate.stat}, and only a mean can be followed"
    elif gate.metric not in ranges:
        why = "bounds a metric that declares no minimum and maximum"
    else:
        return None
    return f"The run cannot stop early, because the gate on {gate.metric} {why}."


class _FollowedGate:
    """One gate: its bounds, and what was scored."""

    def __init__(
        self, gate: GateSpec, values: tuple[float, float], records: int | None, trials: int, error_rate: float
    ) -> None:
        self._gate = gate
        self._parts = metric_parts(gate.metric)
        # A record of a pass@k has one value, however many trials it was made from.
        self._trials = 1 if self._parts else trials
        self._bounds: list[tuple[float, int, Bound]] = []
        # "At most" is "at least" of the negatives.
        for limit, sign in ((gate.min, 1), (gate.max, -1)):
            if limit is not None:
                least, most = sorted(sign * (value - limit) for value in values)
                self._bounds.append((limit, sign, Bound(least, most, records, error_rate)))
        self._n = self._errors = self._skipped = 0

    def add(self, scores: Mapping[str, RecordScores]) -> None:
        record = self._of_record(scores)
        self._n += len(record.values)
        self._errors += record.errors
        self._skipped += record.skipped
        for limit, sign, bound in self._bounds:
            bound.add(sum(sign * (value - limit) for value in record.values) / self._trials)

    @property
    def verdict(self) -> Literal["pass", "fail"] | None:
        gate = self._gate
        errors = error_rate_of(self._n, self._errors)
        skips = skip_rate_of(self._n, self._errors, self._skipped)
        if not self._n or errors > gate.max_error_rate or skips > gate.max_skip_rate:
            return None
        if any(bound.is_broken for _, _, bound in self._bounds):
            return "fail"
        return "pass" if all(bound.is_kept for _, _, bound in self._bounds) else None

    def _of_record(self, scores: Mapping[str, RecordScores]) -> RecordScores:
        parts = self._parts
        trials = scores.get(parts.metric if parts else self._gate.metric, RecordScores((), skipped=1))
        if parts is None:
            return trials
        estimator = pass_at_k if parts.sign == "@" else pass_hat_k
        value = estimator(len(trials.values), sum(map(succeeded, trials.values)), parts.k)
        if value is not None:
            return RecordScores((value,))
        return RecordScores((), errors=1) if trials.errors else RecordScores((), skipped=1)
