"""The verdicts of gates over a run's summaries, each with its reason in a sentence.

It must not know how a record is scored, nor read any file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from evalsi_kernel.gates.baseline import Measured
from evalsi_kernel.gates.early_stopping import Decision
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.summaries import Summary

Verdict = Literal["pass", "fail", "undecided", "not applicable"]


class GateResult(NamedTuple):
    """What became of one gate, of one slice of it where it has slices; None where the gate names nothing.

    `verdict` is "not applicable" where its `when` is false. `low` and `high` are the ends of the mean's interval;
    with a baseline and `significant`, of the paired difference. `undecided` is what the gate itself says that it counts as.
    """

    metric: str
    stat: str
    min: float | None
    max: float | None
    slice: dict[str, str] | None
    baseline: str | None
    max_drop: float | None
    significant: bool | None
    verdict: Verdict
    value: float | None
    low: float | None
    high: float | None
    n: int
    errors: int
    skipped: int
    reason: str
    undecided: Literal["fail", "pass"] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON, in the form of decision 0009: all but `undecided`."""
        raise NotImplementedError


def judge_gates(
    plan: GatePlan,
    summaries: Sequence[Summary],
    *,
    facts: Mapping[str, Any],
    slices: Mapping[tuple[str, str], Sequence[Summary]] | None = None,
    this_run: Measured | None = None,
    decided: Sequence[Decision | None] = (),
    trials: int = 1,
) -> list[GateResult]:
    """Judge every gate of a plan.

    Args:
        plan: from `plan_gates`.
        summaries: of the whole run; records that were not finished are among the `cancelled`.
        facts: the values of `GATE_VARIABLES`; the run's manifest has them.
        slices: (metadata key, value) → the summaries of those records.
        this_run: the run's own side of a comparison, needed where a gate has a baseline (`baseline.measured`).
        decided: what early stopping found, one for each gate; it takes the place of looking at the bounds.
        trials: how often each record ran; for the words of the reasons.

    Returns:
        One result a gate, in order; for a gate by slices one for each value.
    """
    raise NotImplementedError


def run_verdict(
    results: Sequence[GateResult], undecided: Literal["fail", "pass"] = "fail"
) -> Literal["pass", "fail", "undecided"] | None:
    """The verdict of a run: "fail" where a gate failed, else "undecided" where one is undecided and does not count as a
    pass, else "pass"; None where no gate applies. "undecided" ends a run as "fail" does, with exit code 3.
    """
    raise NotImplementedError
