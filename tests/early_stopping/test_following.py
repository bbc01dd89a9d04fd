"""Early stopping: its rate of wrong decisions where that is highest, what it saves, and what keeps it from working."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_early_stopping.following import FollowedGates
from evalsi_kernel.gates.early_stopping import Decision, RecordScores
from evalsi_kernel.gates.spec import GateSpec
from tests.kernel.gates.gate_parts import gate, judged, passes

RANGES = {"a": (0.0, 1.0), "b": (0.0, 1.0), "a.pass@2": (0.0, 1.0), "a.pass^2": (0.0, 1.0), "points": (0.0, 10.0)}


def stopping(*gates: GateSpec | None, records: int | None = 1000, **keys: Any) -> FollowedGates:
    return FollowedGates(gates, RANGES, records=records, **keys)


def fed(test: FollowedGates, values: Sequence[float], metric: str = "a") -> Decision | None:
    """The decision of the first gate at the moment when all are decided, or at the end."""
    for value in values:
        test.add({metric: RecordScores((value,))})
        if test.is_decided:
            break
    return test.decisions[0]


def shuffled(values: Sequence[float], seed: int) -> list[float]:
    return random.Random(seed).sample(values, len(values))


def rate_of(verdict: str, values: Sequence[float], spec: GateSpec, runs: int, **keys: Any) -> tuple[float, float]:
    """How often a run ends early in a verdict, and how much of it is left undone in the mean."""
    ended, left = 0, 0
    for seed in range(runs):
        decision = fed(stopping(spec, records=len(values), **keys), shuffled(values, seed))
        ended += decision is not None and decision.verdict == verdict
        left += len(values) - (decision.records if decision else len(values))
    return ended / runs, left / runs / len(values)


# Where the mean lies just on the wrong side of the bound, looking after every record errs most often.
@pytest.mark.parametrize(("bound", "records"), [(0.9, 200), (0.5, 200), (0.8, 50)])
def test_at_the_border_no_more_than_the_stated_rate_of_runs_ends_wrongly(bound: float, records: int) -> None:
    needed = round(bound * records)
    short, enough = [1.0] * (needed - 1) + [0.0] * (records - needed + 1), [1.0] * needed + [0.0] * (records - needed)
    runs = 100

    assert rate_of("pass", short, gate(min=bound), runs, error_rate=0.1)[0] <= 0.1
    assert rate_of("fail", enough, gate(min=bound), runs, error_rate=0.1)[0] <= 0.1


def test_graded_values_at_the_border_end_wrongly_no_more_often() -> None:
    values = [0.5 + (number % 11) / 20 for number in range(198)] + [0.0, 0.0]
    bound = sum(values) / len(values)

    assert rate_of("pass", values, gate(min=bound + 1e-6), 60, error_rate=0.1)[0] <= 0.1
    assert rate_of("fail", values, gate(min=bound - 1e-6), 60, error_rate=0.1)[0] <= 0.1


def test_clear_cases_end_after_a_part_of_the_records() -> None:
    good, bad = [1.0] * 970 + [0.0] * 30, [1.0] * 700 + [0.0] * 300

    passing, saved_passing = rate_of("pass", good, gate(min=0.9), 30)
    failing, saved_failing = rate_of("fail", bad, gate(min=0.9), 30)

    assert (passing, failing) == (1.0, 1.0)
    assert saved_passing > 0.7
    assert saved_failing > 0.9


@given(
    values=st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=1, max_size=30),
    bound=st.integers(0, 10).map(lambda tenth: tenth / 10),
)
def test_when_every_record_was_fed_a_decision_by_certainty_is_the_gates_own(values: list[float], bound: float) -> None:
    # At this rate no bet is ever won: what is decided is decided for certain.
    test = stopping(gate(min=bound), records=len(values), error_rate=1e-300)
    decision = fed(test, values)
    kept = sum(values) - bound * len(values)

    if decision is not None:
        assert decision.verdict == ("pass" if kept >= 0 else "fail")
    else:
        assert abs(kept) < 1e-6


def test_a_bound_that_no_record_can_reach_any_more_is_decided_for_certain() -> None:
    test = stopping(gate(min=1.0), records=1000, error_rate=1e-9)

    assert fed(test, [1.0, 1.0, 0.0, 1.0]) == Decision("fail", 3, 1000, 1e-9)


def test_a_bound_outside_of_the_range_is_decided_by_the_first_score() -> None:
    assert fed(stopping(gate(min=0.0)), [0.0]) == Decision("pass", 1, 1000, 0.05)
    assert fed(stopping(gate(min=1.5)), [1.0]) == Decision("fail", 1, 1000, 0.05)
    test = stopping(gate(min=0.0))
    test.add({"a": RecordScores((), skipped=1)})
    assert not test.is_decided


def test_at_most_is_the_mirror_of_at_least() -> None:
    few, many = shuffled([1.0] * 20 + [0.0] * 980, 1), shuffled([1.0] * 500 + [0.0] * 500, 1)

    low, high = fed(stopping(gate(max=0.1)), few), fed(stopping(gate(max=0.1)), many)
    assert low == fed(stopping(gate(min=0.9)), [1.0 - value for value in few])
    assert (low and low.verdict, high and high.verdict) == ("pass", "fail")


def test_both_bounds_of_a_gate_must_be_kept_and_either_can_be_broken() -> None:
    spec = gate(min=0.4, max=0.6)
    half, most = shuffled([1.0, 0.0] * 2000, 2), shuffled([1.0] * 900 + [0.0] * 100, 2)

    inside, outside = fed(stopping(spec, records=4000), half), fed(stopping(spec), most)
    assert (inside and inside.verdict, outside and outside.verdict) == ("pass", "fail")
    assert inside is not None
    assert inside.records < 4000


def test_a_run_goes_on_until_the_last_of_its_gates_is_decided() -> None:
    test = stopping(gate("a", min=0.5), gate("b", min=0.9))
    for number in range(60):
        test.add({"a": RecordScores((1.0,)), "b": RecordScores((float(number % 10 != 0),))})

    first, second = test.decisions
    assert first is not None
    assert (first.verdict, second) == ("pass", None)
    assert not test.is_decided


def test_a_gate_that_does_not_apply_is_not_waited_for() -> None:
    test = stopping(None, gate(min=0.5))

    for _ in range(60):
        test.add({"a": RecordScores((1.0,))})
    assert test.is_decided
    assert test.decisions[0] is None


def test_several_gates_share_the_rate_of_errors() -> None:
    alone, together = stopping(gate(min=0.5)), stopping(gate(min=0.5), *[gate("b", min=0.5)] * 9)
    moments = []
    for test in (alone, together):
        number = 0
        while test.decisions[0] is None:
            test.add({"a": RecordScores((1.0,)), "b": RecordScores((0.5,))})
            number += 1
        moments.append(number)

    assert moments[0] < moments[1]


def test_too_many_errors_or_skips_keep_a_gate_open() -> None:
    errored, skipped = stopping(gate(min=0.5)), stopping(gate(min=0.5))
    errored.add({"a": RecordScores((), errors=1)})
    for _ in range(100):
        errored.add({"a": RecordScores((1.0,))})
    assert not errored.is_decided

    for _ in range(60):
        skipped.add({"a": RecordScores((), skipped=1)})
    for _ in range(59):
        skipped.add({"a": RecordScores((1.0,))})
    assert not skipped.is_decided
    skipped.add({"a": RecordScores((1.0,))})
    assert skipped.is_decided


def test_a_decision_is_that_of_the_mean_of_what_is_scored_however_much_is_skipped() -> None:
    decisions = []
    for seed in range(20):
        records = [RecordScores((1.0,))] * 480 + [RecordScores((0.0,))] * 20 + [RecordScores((), skipped=1)] * 500
        random.Random(seed).shuffle(records)
        test = stopping(gate(min=0.9))
        for record in records:
            test.add({"a": record})
            if test.is_decided:
                break
        decisions.append(test.decisions[0])

    assert judged(gate(min=0.9), passes(480, 500, skipped=500)).verdict == "pass"
    assert [one and one.verdict for one in decisions] == ["pass"] * 20
    assert all(one and one.records < 1000 for one in decisions)


def test_the_trials_of_a_record_are_one_look() -> None:
    test = stopping(gate(min=0.5), records=10, trials=3, error_rate=1e-300)
    for _ in range(4):
        test.add({"a": RecordScores((0.0, 0.0, 0.0))})
    assert not test.is_decided
    test.add({"a": RecordScores((0.0, 0.0, 0.0))})
    assert not test.is_decided  # the other five may all pass, which keeps the bound exactly
    test.add({"a": RecordScores((0.0, 1.0))})
    assert test.decisions == [Decision("fail", 6, 10, 1e-300)]


def test_pass_at_k_is_followed_by_the_trials_of_its_metric() -> None:
    lucky, strict = stopping(gate("a.pass@2", min=0.8), trials=2), stopping(gate("a.pass^2", min=0.8), trials=2)
    for _ in range(60):
        for test in (lucky, strict):
            test.add({"a": RecordScores((1.0, 0.0))})

    assert [one and one.verdict for one in lucky.decisions + strict.decisions] == ["pass", "fail"]


def test_a_pass_at_k_that_errors_make_undefined_keeps_its_gate_open() -> None:
    test = stopping(gate("a.pass@2", min=0.5), trials=2)
    test.add({"a": RecordScores((1.0,), errors=1)})
    for _ in range(100):
        test.add({"a": RecordScores((1.0, 1.0))})

    assert not test.is_decided


def test_numbers_of_another_range_are_followed_in_their_own() -> None:
    decision = fed(stopping(gate("points", min=5)), [8.0, 9.0] * 500, "points")

    assert decision is not None
    assert (decision.verdict, decision.records < 100) == ("pass", True)


def test_without_a_known_number_of_records_it_is_decided_for_all_that_could_come() -> None:
    decision = fed(stopping(gate(min=0.9), records=None), shuffled([1.0] * 980 + [0.0] * 20, 3))

    assert decision is not None
    assert (decision.verdict, decision.of) == ("pass", None)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (gate(min=0, baseline="x.json", max_drop=0), "compares with a baseline"),
        (gate(min=0, slice="tier"), "looks at slices"),
        (gate(min=0, stat="lower"), "bounds lower, and only a mean can be followed"),
        (gate(max=0, stat="errors"), "bounds errors"),
        (gate("c", min=0), "declares no minimum and maximum"),
    ],
)
def test_a_gate_that_cannot_be_followed_keeps_the_run_from_stopping(spec: GateSpec, why: str) -> None:
    test = stopping(gate(min=0.5), spec)
    for _ in range(100):
        test.add({"a": RecordScores((1.0,))})

    assert test.obstacle is not None
    assert why in test.obstacle
    assert test.obstacle.startswith(f"The run cannot stop early, because the gate on {spec.metric} ")
    assert (test.is_decided, test.decisions) == (False, [None, None])


def test_without_a_gate_nothing_is_decided() -> None:
    for test in (stopping(), stopping(None)):
        assert test.obstacle == "There is no gate that early stopping can follow."
        assert not test.is_decided


def test_more_records_than_were_said_are_refused() -> None:
    test = stopping(gate(min=0.5), records=1)
    test.add({})

    with pytest.raises(ValueError, match="1 records were to come"):
        test.add({})
