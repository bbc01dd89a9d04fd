"""T1: the `significant` gates of a run share one error rate, and say of two files what `evalsi compare` says."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from evalsi_comparison.baseline import read_baseline
from evalsi_comparison.comparison import Wanted, compare
from evalsi_kernel.gates.baseline import Baseline, Mean, Measured
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.gates.verdicts import GateResult, judge_gates
from evalsi_kernel.scores.summaries import Summary
from tests.comparison.results_files import write_results

from .gate_parts import Condition, gate

Values = dict[str, list[float]]


def measured(name: str, values: Values) -> Measured:
    records = len(next(iter(values.values())))
    return Measured(
        name,
        {metric: Mean(sum(of) / records, records, 0, 0, metric) for metric, of in values.items()},
        {},
        {metric: {f"r{at}": (value,) for at, value in enumerate(of)} for metric, of in values.items()},
        ("00", records),
        1,
        {metric: {"name": metric, "ref": f"core/{metric}@1", "params": {}} for metric in values},
        None,
        0.95,
    )


def judged(
    base: Values, cand: Values, gates: Sequence[dict[str, object]] | None = None, conditions: Sequence[bool] = ()
) -> list[GateResult]:
    """Judge one gate a metric, or the gates given."""
    from evalsi_comparison.significance import paired_difference

    wanted = gates if gates is not None else [{"metric": metric} for metric in base]
    specs = [gate(**{"baseline": "b", "max_drop": 0.0, "significant": True} | one) for one in wanted]  # type: ignore[arg-type]
    compiled: list[Condition | None] = [Condition(one) for one in conditions] or [None] * len(specs)
    sides = measured("b", base), measured("this run", cand)
    summaries = [
        Summary(metric, metric, "pass", len(of), sum(of) / len(of), higher_is_better=True)
        for metric, of in cand.items()
    ]
    names = {str(one.get("baseline", "b")) for one in wanted}
    plan = GatePlan(tuple(specs), tuple(compiled), dict.fromkeys(names, Baseline(sides[0], paired_difference)), {})
    return judge_gates(plan, summaries, facts={}, this_run=sides[1])


@pytest.mark.parametrize("count", [1, 5, 10, 20])
def test_t1_without_a_difference_any_gate_fails_in_at_most_about_one_run_of_twenty(count: int) -> None:
    draw, rounds, failed = random.Random(2300 + count), 200, 0
    for _ in range(rounds):
        base, cand = (
            {f"m{at}": [float(draw.random() < 0.7) for _ in range(60)] for at in range(count)} for _ in range(2)
        )
        failed += any(one.verdict == "fail" for one in judged(base, cand))

    # 0.05 and three standard errors of 200 runs.
    assert failed / rounds <= 0.05 + 3 * (0.05 * 0.95 / rounds) ** 0.5


def lost(records: int, count: int = 60) -> list[float]:
    return [0.0] * records + [1.0] * (count - records)


def test_t1_a_drop_that_one_gate_alone_would_fail_passes_among_many() -> None:
    base, drop = lost(0), lost(5)  # mid-p of 5 lost: 0.031
    (alone,) = judged({"m0": base}, {"m0": drop})
    among = judged({f"m{at}": base for at in range(5)}, {"m0": drop, **{f"m{at}": base for at in range(1, 5)}})

    assert (alone.verdict, among[0].verdict) == ("fail", "pass")
    assert "adjusted p = 0.156" in among[0].reason
    assert "5 tests" in among[0].reason
    assert "of this metric alone" in among[0].reason


def test_t1_gates_on_one_metric_and_gates_that_do_not_apply_add_no_test() -> None:
    base, drop = {"m0": lost(0), "m1": lost(0)}, {"m0": lost(5), "m1": lost(0)}
    twice = judged(base, drop, [{"metric": "m0"}, {"metric": "m0", "max_drop": 0.01}])
    off = judged(base, drop, [{"metric": "m0"}, {"metric": "m1"}], [True, False])
    plain = judged(base, drop, [{"metric": "m0"}, {"metric": "m1", "significant": False}])

    assert [one.verdict for one in twice] == ["fail", "fail"]
    assert [one.verdict for one in off] == ["fail", "not applicable"]
    assert [one.verdict for one in plain] == ["fail", "pass"]


def test_t1_two_baselines_are_two_tests_and_a_failed_bound_stays_in_the_family() -> None:
    base, drop = {"m0": lost(0), "m1": lost(0)}, {"m0": lost(5), "m1": lost(4)}
    two = judged(base, drop, [{"metric": "m0", "baseline": "x"}, {"metric": "m0", "baseline": "y"}])
    bound = judged(base, drop, [{"metric": "m0"}, {"metric": "m1", "min": 1.0}])

    assert [one.verdict for one in two] == ["pass", "pass"]
    assert [one.verdict for one in bound] == ["pass", "fail"]


@pytest.mark.parametrize("seed", range(6))
def test_t1_the_gate_and_compare_say_the_same_of_the_same_files(tmp_path: Path, seed: int) -> None:
    draw, metrics = random.Random(seed), [f"m{at}" for at in range(seed + 1)]
    sides = []
    for name, rate in (("base", 0.9), ("cand", 0.75)):
        values = {metric: {f"r{at}": draw.random() < rate for at in range(60)} for metric in metrics}
        sides.append(write_results(tmp_path / f"{name}.json", values))
    found = compare(Wanted(sides[0], sides[1]))
    plan_base = read_baseline(sides[0], "base.json", metrics)
    cand = read_baseline(sides[1], "this run", metrics).side
    specs = [gate(metric, baseline="base.json", max_drop=0.0, significant=True) for metric in metrics]
    summaries = [
        Summary(one["metric"], one["evaluator"], one["kind"], one["n"], one["mean"], higher_is_better=True)
        for one in json.loads(sides[1].read_text("utf-8"))["summaries"]
    ]
    plan = GatePlan(tuple(specs), (None,) * len(specs), {"base.json": plan_base}, {})
    gates = judge_gates(plan, summaries, facts={}, this_run=cand)

    said = {one.metric: one.direction(0.05) for one in found.differences}
    assert {one.metric: one.verdict for one in gates} == {
        metric: "fail" if direction == "worse" else "pass" for metric, direction in said.items()
    }
