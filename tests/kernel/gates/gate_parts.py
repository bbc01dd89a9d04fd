"""The plain data that gates are tested on: specs, plans, summaries, sides of a comparison.

It must not know what a gate says of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalsi_comparison.significance import paired_difference
from evalsi_kernel.gates.baseline import Baseline, Mean, Measured
from evalsi_kernel.gates.conditions import ConditionError
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.gates.spec import GateSpec
from evalsi_kernel.gates.verdicts import GateResult, judge_gates
from evalsi_kernel.scores.intervals import wilson
from evalsi_kernel.scores.summaries import Summary


def gate(metric: str = "a", **keys: Any) -> GateSpec:
    return GateSpec.model_validate({"metric": metric, **keys})


def passes(passed: int, n: int, *, metric: str = "a", **counts: Any) -> Summary:
    """The summary of so many passes of so many."""
    interval = wilson(passed, n, 0.95) if n else None
    return Summary(metric, "a", "pass", n, passed / n if n else None, ci=interval, **counts)


def numbers(mean: float | None, n: int = 10, *, metric: str = "a", **keys: Any) -> Summary:
    return Summary(metric, "a", "number", n, mean, **keys)


def judged(spec: GateSpec, *summaries: Summary, **keys: Any) -> GateResult:
    """The one result of one gate."""
    [result] = results(spec, *summaries, **keys)
    return result


def results(
    spec: GateSpec,
    *summaries: Summary,
    base: Measured | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    when: Condition | None = None,
    **keys: Any,
) -> list[GateResult]:
    baselines = {spec.baseline or "": Baseline(base, paired_difference)} if base is not None else {}
    plan = GatePlan((spec,), (when,), baselines, {"a": (0.0, 1.0)} if ranges is None else ranges)
    return judge_gates(plan, summaries, **{"facts": {}, **keys})


class Condition:
    """A condition that is known to be true, false, or neither."""

    source = "x"

    def __init__(self, value: bool | str) -> None:
        self._value = value

    def holds(self, values: Mapping[str, Any]) -> bool:
        if isinstance(self._value, str):
            raise ConditionError(self._value)
        return self._value


def side(
    means: Mapping[str, tuple[float | None, int]] | None = None,
    *,
    name: str = "main.json",
    errors: int = 0,
    skipped: int = 0,
    dataset: tuple[Any, Any] = ("00", 10),
    asked: int | None = 1,
    ref: str = "core/a@1",
    params: Mapping[str, Any] | None = None,
    entry: Mapping[str, Any] | None = None,
    judge: Any = None,
    values: Mapping[str, float] | None = None,
    slices: Mapping[tuple[str, str], Mapping[str, Mean]] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Measured:
    """One side of a comparison; without more words the same as the other."""
    return Measured(
        name,
        {metric: Mean(mean, n, errors, skipped, "a") for metric, (mean, n) in (means or {}).items()},
        slices or {},
        {"a": {record_id: (value,) for record_id, value in (values or {}).items()}},
        dataset,
        asked,
        {"a": {"name": "a", "ref": ref, "params": params or {}, **(entry or {})}},
        judge,
        0.95,
        clusters or {},
    )


def verdicts(found: Sequence[GateResult]) -> list[str]:
    return [one.verdict for one in found]
