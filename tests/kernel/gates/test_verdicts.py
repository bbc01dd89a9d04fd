"""Gates over summaries: coverage before bounds, undefined before false, and a reason in each case."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.gates.early_stopping import Decision
from evalsi_kernel.gates.precheck import GatePlan
from evalsi_kernel.gates.verdicts import GateResult, applying, run_verdict
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.scores.summaries import MetricAccumulator, Summary
from tests.kernel.gates.gate_parts import Condition, gate, judged, numbers, passes, results, side, verdicts


def test_a_mean_that_keeps_its_bound_passes_and_says_so() -> None:
    found = judged(gate(min=0.9), passes(19, 20))

    assert found.verdict == "pass"
    assert found.reason == "The mean is 0.95 and must be at least 0.9."
    assert (found.value, found.n, found.errors, found.skipped) == (0.95, 20, 0, 0)
    assert found.low == pytest.approx(0.764, abs=1e-3)


def test_a_bound_is_kept_when_it_is_met_exactly() -> None:
    assert judged(gate(min=0.9), passes(18, 20)).verdict == "pass"
    assert judged(gate(max=0.9), passes(18, 20)).verdict == "pass"
    assert judged(gate(min=0.9, max=0.9), passes(18, 20)).verdict == "pass"


def test_a_mean_below_or_above_its_bounds_fails_and_reads_as_other_than_them() -> None:
    below = judged(gate(min=0.9), numbers(0.8999999))

    assert below.verdict == "fail"
    assert below.reason == "The mean is 0.8999999 and must be at least 0.9."
    assert judged(gate(min=0.1, max=0.5), passes(19, 20)).reason == "The mean is 0.95 and must be from 0.1 to 0.5."


# Reported fault open-16: half of the records errored, and the other half alone looked like a clean 0.8.
def test_half_a_run_never_passes_unless_the_user_allows_for_it() -> None:
    summary = passes(4, 5, errors=5)

    strict = judged(gate(min=0.75), summary)
    assert strict.verdict == "undecided"
    assert strict.reason == "5 of 10 records ended as errors, and max_error_rate allows none: 5 were scored."
    assert (strict.n, strict.errors, strict.value) == (5, 5, 0.8)
    assert (strict.low, strict.high) == pytest.approx((0.3755, 0.9638), abs=5e-5)
    assert run_verdict([strict]) == "undecided"
    assert judged(gate(min=0.75, max_error_rate=0.5), summary).verdict == "pass"


# Reported fault open-17: a NaN made the mean NaN, an exception a 0, and what was not measured a failed test.
def test_what_was_not_measured_is_neither_a_number_nor_a_failure() -> None:
    metric = MetricAccumulator("faithfulness", "judge", OutputInfo(kind="number"))
    metric.add([0.9, 0.8, 0.7])
    with pytest.raises(ValueError, match="NaN"):
        metric.add([float("nan")])
    found = metric.summary()
    summary = Summary("faithfulness", "judge", "number", found.n, found.mean, errors=2, ci=found.ci)

    result = judged(gate("faithfulness", min=0.5), summary)

    assert (result.n, result.errors) == (3, 2)
    assert result.value == pytest.approx(0.8)
    assert result.verdict == "undecided"


def test_nineteen_errors_of_twenty_never_pass() -> None:
    found = judged(gate(min=0.5), passes(1, 1, errors=19))

    assert found.verdict == "undecided"
    assert found.reason == "19 of 20 records ended as errors, and max_error_rate allows none: 1 was scored."


def test_skips_above_their_rate_make_a_gate_undecided() -> None:
    assert judged(gate(min=0.5), passes(10, 10, skipped=10)).verdict == "pass"
    found = judged(gate(min=0.5), passes(9, 9, skipped=11))
    assert found.verdict == "undecided"
    assert found.reason == "11 of 20 records were skipped, and max_skip_rate allows 50 %: 9 were scored."


def test_with_trials_it_is_trials_that_are_counted() -> None:
    assert "19 of 20 trials" in judged(gate(min=0.5), passes(1, 1, errors=19), trials=2).reason


def test_what_fails_whatever_the_errors_hide_fails_even_where_undecided_passes() -> None:
    spec = gate(min=0.9, undecided="pass")
    hopeless, open_still = judged(spec, passes(10, 20, errors=1)), judged(spec, passes(18, 20, errors=1))

    assert hopeless.verdict == "fail"
    assert "whatever the 1 without a score would add" in hopeless.reason
    assert run_verdict([hopeless]) == "fail"
    assert open_still.verdict == "undecided"
    assert run_verdict([open_still]) == "pass"


@pytest.mark.parametrize("stat", ["mean", "lower", "upper"])
def test_without_a_scored_record_a_gate_on_the_mean_fails(stat: str) -> None:
    found = judged(gate(stat=stat, min=0, max=100, max_error_rate=1), passes(0, 0, errors=3, skipped=2))

    assert found.verdict == "fail"
    assert found.reason == "No record was scored: 3 errors, 2 skipped, 0 not finished."


def test_a_metric_that_is_not_there_fails_with_the_nearest_name() -> None:
    found = judged(gate("exat-match", min=0), passes(1, 1, metric="exact-match"))

    assert found.verdict == "fail"
    assert found.reason == 'The run has no metric "exat-match". Did you mean "exact-match"?'
    assert (found.value, found.n) == (None, 0)


def test_a_label_has_no_mean_but_can_be_counted() -> None:
    label = Summary("a", "a", "label", 5, labels={"x": 5})

    assert judged(gate(min=0), label).reason == "a is a label, which has no mean."
    assert judged(gate(min=5, stat="n"), label).verdict == "pass"


def test_the_ends_of_the_interval_are_held_by_lower_and_upper() -> None:
    summary = passes(95, 100)

    assert judged(gate(stat="lower", min=0.88), summary).verdict == "pass"
    assert judged(gate(stat="lower", min=0.9), summary).verdict == "fail"
    assert judged(gate(stat="upper", max=0.98), summary).verdict == "pass"
    assert judged(gate(stat="upper", max=0.95), summary).verdict == "fail"
    assert judged(gate(stat="lower", min=0.88), summary).value == pytest.approx(0.8882, abs=1e-4)


def test_an_interval_that_is_undefined_makes_a_gate_undecided() -> None:
    found = judged(gate(stat="lower", min=0.5), numbers(0.9, 1))

    assert found.verdict == "undecided"
    assert found.reason == "The lower end of the interval is undefined: there is one score alone."
    assert "no spread" in judged(gate(stat="upper", max=1), numbers(0.9, 5)).reason


@pytest.mark.parametrize(
    ("stat", "value"), [("n", 16), ("errors", 2), ("skipped", 2), ("error_rate", 2 / 18), ("skip_rate", 2 / 20)]
)
def test_counts_and_rates_are_held_to_bounds_of_their_own(stat: str, value: float) -> None:
    summary = passes(8, 16, errors=2, skipped=2)
    loose: dict[str, Any] = {"max_error_rate": 0.2}

    assert judged(gate(stat=stat, min=value, max=value, **loose), summary).verdict == "pass"
    assert judged(gate(stat=stat, max=value - 0.01, **loose), summary).verdict == "fail"
    assert judged(gate(stat=stat, max=value, **loose), summary).value == pytest.approx(value)


def test_a_bound_on_errors_does_not_need_an_allowance_beside_it() -> None:
    summary = passes(8, 16, errors=2)

    assert judged(gate(stat="errors", max=2), summary).verdict == "pass"
    assert judged(gate(stat="error_rate", max=0.2), summary).verdict == "pass"
    assert judged(gate(stat="skipped", max=0), summary).verdict == "pass"


def test_an_unfinished_run_is_decided_only_where_the_rest_cannot_change_it() -> None:
    assert judged(gate(min=0.9), passes(95, 95, cancelled=5)).verdict == "pass"
    assert judged(gate(min=0.9), passes(80, 95, cancelled=5)).verdict == "fail"
    found = judged(gate(min=0.9), passes(88, 95, cancelled=5))
    assert found.verdict == "undecided"
    assert "5 records are not finished" in found.reason
    assert "anywhere from 0.88 to 0.93" in found.reason


def test_an_unfinished_number_without_a_range_and_an_interval_are_undecided() -> None:
    assert judged(gate(min=0.9), numbers(5.0, cancelled=1), ranges={}).verdict == "undecided"
    found = judged(gate(min=0.1, stat="lower"), passes(90, 95, cancelled=5))
    assert found.verdict == "undecided"
    assert found.reason == "5 records are not finished, so that the lower end of the interval is not known."


def test_counts_of_an_unfinished_run_know_what_can_still_come() -> None:
    summary = passes(8, 10, errors=1, cancelled=3)

    assert judged(gate(stat="n", min=10), summary).verdict == "pass"
    assert judged(gate(stat="n", min=12), summary).verdict == "undecided"
    assert judged(gate(stat="n", min=14), summary).verdict == "fail"
    assert judged(gate(stat="errors", max=0), summary).verdict == "fail"
    assert judged(gate(stat="error_rate", max=0.1), summary).verdict == "undecided"


@given(
    passed=st.integers(0, 30),
    failed=st.integers(0, 30),
    rest=st.lists(st.sampled_from(["passed", "failed", "skipped"]), max_size=10),
    bound=st.integers(0, 20).map(lambda twentieth: twentieth / 20),
)
def test_a_verdict_on_an_unfinished_run_is_that_of_the_finished_one(
    passed: int, failed: int, rest: list[str], bound: float
) -> None:
    early = judged(gate(min=bound, max_skip_rate=1), passes(passed, passed + failed, cancelled=len(rest)))
    all_passed, all_failed = passed + rest.count("passed"), failed + rest.count("failed")
    late = judged(gate(min=bound, max_skip_rate=1), passes(all_passed, all_passed + all_failed))

    if early.verdict != "undecided" and early.n:
        assert early.verdict == late.verdict


def test_pass_at_k_rests_on_what_its_trials_rest_on() -> None:
    name = "a.pass@2"
    of_records = numbers(1.0, 10, metric=name)

    sound = judged(gate(name, min=0.9), of_records, passes(30, 30), trials=3)
    broken = judged(gate(name, min=0.9), of_records, passes(20, 20, errors=10), trials=3)
    unfinished = judged(gate(name, min=0.9), of_records, passes(20, 20, cancelled=10), trials=3)

    assert (sound.verdict, broken.verdict, unfinished.verdict) == ("pass", "undecided", "undecided")
    assert "10 of 30 trials ended as errors" in broken.reason
    assert "10 trials are not finished" in unfinished.reason


def test_a_decision_of_early_stopping_takes_the_place_of_the_bounds_but_not_of_coverage() -> None:
    decision = Decision("pass", 312, 2000, 0.05)
    stopped = judged(gate(min=0.9), passes(300, 312, cancelled=1688), decided=[decision])
    broken = judged(gate(min=0.9), passes(300, 312, errors=1), decided=[decision])

    against = judged(gate(min=0.9), passes(275, 312, cancelled=1688), decided=[decision])
    assert against.verdict == "undecided"
    assert stopped.verdict == "pass"
    assert "decided after 312 of 2000 records, with a chance of 0.05" in stopped.reason
    assert broken.verdict == "undecided"


def test_a_gate_by_slices_holds_for_each_value_by_its_own_numbers() -> None:
    slices = {("tier", "gold"): [passes(9, 10)], ("tier", "free"): [passes(5, 10)], ("lang", "de"): [passes(0, 10)]}
    found = results(gate(min=0.8, slice="tier"), passes(14, 20), slices=slices)

    assert [(one.slice, one.verdict) for one in found] == [({"tier": "free"}, "fail"), ({"tier": "gold"}, "pass")]
    assert judged(gate(min=0.8, slice={"tier": "gold"}), passes(14, 20), slices=slices).verdict == "pass"


def test_a_slice_that_no_record_is_in_fails() -> None:
    assert judged(gate(min=0, slice={"tier": "gold"}), passes(1, 1)).reason == "No record has tier = gold."
    assert judged(gate(min=0, slice="tier"), passes(1, 1)).reason == "No record has a metadata key tier."
    thin = judged(gate(min=0, slice="tier"), passes(1, 1), slices={("tier", "x"): [passes(0, 0, skipped=4)]})
    assert (thin.verdict, thin.reason) == ("fail", "No record was scored: 0 errors, 4 skipped, 0 not finished.")


def test_a_gate_whose_condition_is_false_is_no_part_of_the_verdict() -> None:
    spec = gate(min=0.9, when="x")
    found = judged(spec, passes(0, 20), when=Condition(False))

    assert (found.verdict, found.reason) == ("not applicable", "It does not apply: `x` is false.")
    assert run_verdict([found]) is None
    assert run_verdict([found, judged(gate(min=0), passes(1, 1))]) == "pass"
    assert judged(spec, passes(0, 20), when=Condition(True)).verdict == "fail"


def test_a_condition_that_cannot_be_told_makes_a_gate_undecided() -> None:
    found = judged(gate(min=0, when="x"), passes(1, 1), when=Condition("The key is missing."))

    assert found.verdict == "undecided"
    assert found.reason == "Whether `x` is true cannot be told: The key is missing."


def test_the_gates_that_apply_keep_their_places() -> None:
    gates = (gate(min=0, when="x"), gate(min=1), gate(min=0, when="x"))
    plan = GatePlan(gates, (Condition(False), None, Condition("no")))

    assert applying(plan, {}) == [None, gates[1], gates[2]]


def one(verdict: Any, undecided: Literal["fail", "pass"] | None = None) -> GateResult:
    return judged(gate(min=0, undecided=undecided), passes(1, 1))._replace(verdict=verdict)


def test_the_verdict_of_a_run_is_the_worst_of_its_gates() -> None:
    assert run_verdict([]) is None
    assert run_verdict([one("pass"), one("undecided"), one("fail")]) == "fail"
    assert run_verdict([one("pass"), one("undecided")]) == "undecided"
    assert run_verdict([one("pass"), one("undecided")], "pass") == "pass"
    assert run_verdict([one("undecided", "fail")], "pass") == "undecided"
    assert run_verdict([one("undecided", "pass")], "fail") == "pass"
    assert run_verdict([one("undecided")], "pass") == "pass"


def test_a_result_is_json_in_the_form_of_the_results_file() -> None:
    form = judged(gate(min=0.5, undecided="pass"), passes(1, 2)).to_dict()

    assert list(form) == [
        "metric", "stat", "min", "max", "slice", "baseline", "max_drop", "significant",
        "verdict", "value", "low", "high", "n", "errors", "skipped", "reason", "passed",
    ]  # fmt: skip
    assert [form[key] for key in ("max", "slice", "baseline", "max_drop", "significant")] == [None] * 5


def test_a_gate_passed_or_not_and_one_that_does_not_apply_did_neither() -> None:
    told = {verdict: one(verdict).to_dict()["passed"] for verdict in ("pass", "fail", "undecided", "not applicable")}

    assert told == {"pass": True, "fail": False, "undecided": False, "not applicable": None}
    assert one("undecided", "pass").to_dict()["passed"] is False


def test_a_baseline_is_looked_at_only_when_the_bounds_are_kept() -> None:
    base = side({"a": (0.8, 10)})
    spec = gate(min=0.9, baseline="main.json", max_drop=0.1)

    kept = judged(spec, passes(9, 10), base=base, this_run=side())
    broken = judged(spec, passes(8, 10), base=base, this_run=side())

    assert verdicts([kept, broken]) == ["pass", "fail"]
    assert kept.reason == (
        "The mean is 0.9 and must be at least 0.9. "
        "The mean is 0.9, 0.1 better than 0.8 in main.json, and may be 0.1 worse."
    )
    assert broken.reason == "The mean is 0.8 and must be at least 0.9."
    assert kept.significant is False


@given(
    counts=st.tuples(*[st.integers(0, 20)] * 5),
    stat=st.sampled_from(["mean", "lower", "upper", "n", "errors", "skipped", "error_rate", "skip_rate"]),
    least=st.floats(0, 1),
    allowed=st.floats(0, 0.9),
)
def test_every_gate_has_a_verdict_and_a_sentence_and_never_passes_on_nothing(
    counts: tuple[int, ...], stat: str, least: float, allowed: float
) -> None:
    n, passed, errors, skipped, cancelled = counts
    summary = passes(min(passed, n), n, errors=errors, skipped=skipped, cancelled=cancelled)
    found = judged(gate(stat=stat, min=least, max_error_rate=allowed), summary)

    assert found.reason.endswith(".")
    assert found.verdict in ("pass", "fail", "undecided")
    if n == 0 and (stat in ("mean", "lower", "upper") or not errors + skipped + cancelled):
        assert found.verdict == "fail"
    if found.verdict == "pass" and stat in ("mean", "lower", "upper"):
        assert errors <= allowed * (n + errors)
        assert found.value is not None


# In floats the mean of 0.7 and 0.9 may be less than 0.8, and 3 * 0.1 is more than 0.3.
@pytest.mark.parametrize(
    ("keys", "mean"),
    [({"min": 0.8}, 0.7999999999999999), ({"max": 0.3}, 0.30000000000000004), ({"min": 1e9}, 1e9 - 1e-7)],
)
def test_a_mean_that_meets_its_bound_but_for_rounding_keeps_it_and_reads_like_it(keys: Any, mean: float) -> None:
    found = judged(gate(**keys), numbers(mean))

    assert found.verdict == "pass"
    assert len(found.reason) < 60
    assert judged(gate(min=0.8), numbers(0.79999999999)).verdict == "fail"


@pytest.mark.parametrize(
    ("keys", "counts", "verdict"),
    [
        ({"stat": "errors", "max": 5}, {"errors": 5}, "pass"),
        ({"stat": "errors", "max": 4}, {"errors": 5}, "fail"),
        ({"stat": "error_rate", "max": 1}, {"errors": 5}, "pass"),
        ({"stat": "error_rate", "max": 0.5}, {"errors": 5}, "fail"),
        ({"stat": "skipped", "max": 0}, {"errors": 5}, "pass"),
        ({"stat": "skipped", "max": 0}, {"errors": 5, "skipped": 1}, "fail"),
        ({"stat": "skip_rate", "max": 0.5}, {"skipped": 5}, "fail"),
        ({"stat": "errors", "max": 0}, {"skipped": 5}, "pass"),
        ({"stat": "n", "min": 1}, {"errors": 5}, "fail"),
        ({"stat": "n", "max": 0}, {"errors": 5}, "pass"),
        ({"stat": "errors", "max": 5}, {"errors": 5, "cancelled": 2}, "undecided"),
        ({"stat": "errors", "max": 5}, {}, "fail"),
    ],
)
def test_g3_a_count_is_decided_though_nothing_was_scored(keys: Any, counts: Any, verdict: str) -> None:
    assert judged(gate(**keys), passes(0, 0, **counts)).verdict == verdict


def test_g3_counts_do_not_rest_on_the_coverage_of_the_mean() -> None:
    summary = passes(8, 10, errors=20, skipped=40)

    assert judged(gate(stat="errors", max=20), summary).verdict == "pass"
    assert judged(gate(stat="skipped", max=39), summary).verdict == "fail"
    assert judged(gate(min=0.1), summary).verdict == "undecided"


@pytest.mark.parametrize(
    ("keys", "counts", "verdict"),
    [
        ({"stat": "truncated", "max": 0}, {"truncated": 0}, "pass"),
        ({"stat": "truncated", "max": 0}, {"truncated": 1}, "fail"),
        ({"stat": "filtered", "max": 1}, {"filtered": 1, "errors": 4}, "pass"),
        ({"stat": "truncated", "max": 2}, {"truncated": 2, "cancelled": 1}, "undecided"),
        ({"stat": "truncated", "max": 1}, {"truncated": 2, "cancelled": 1}, "fail"),
        ({"stat": "truncated", "max": 0}, {}, "undecided"),
    ],
)
def test_g1_incomplete_replies_are_gated_as_counts(keys: dict[str, Any], counts: dict[str, Any], verdict: str) -> None:
    assert judged(gate(**keys), passes(3, 5, **counts)).verdict == verdict
    summary = Summary("a", "a", "pass", errors=5)._replace(**counts)
    assert judged(gate(**keys), summary).verdict == verdict


def test_g1_a_metric_of_the_whole_data_does_not_hide_replies_that_are_still_to_come() -> None:
    of_records = passes(2, 3, metric="b", truncated=0, cancelled=3)
    found = judged(gate(stat="truncated", max=2), passes(1, 1, truncated=0), of_records)
    assert found.verdict == "undecided"
