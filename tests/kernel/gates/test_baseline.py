"""A baseline is compared with only where the comparison is sound."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_comparison.score_interval import score_interval
from evalsi_kernel.gates.baseline import Mean, mark_of
from tests.kernel.gates.gate_parts import gate, judged, numbers, passes, side


def dropped(mean: float, base_mean: float, max_drop: float = 0.02, **keys: Any) -> Any:
    base = side({"a": (base_mean, 10)})
    spec = gate(baseline="main.json", max_drop=max_drop)
    return judged(spec, numbers(mean, **keys), base=base, this_run=side())


def test_a_drop_beyond_what_is_allowed_fails() -> None:
    found = dropped(0.85, 0.9)

    assert found.verdict == "fail"
    assert found.reason == "The mean is 0.85, 0.05 worse than 0.9 in main.json, and may be 0.02 worse."
    assert (found.value, found.baseline, found.max_drop, found.significant) == (0.85, "main.json", 0.02, False)


def test_a_drop_of_just_what_is_allowed_passes_whatever_floats_make_of_it() -> None:
    assert dropped(0.9, 0.92).verdict == "pass"
    assert dropped(0.9, 0.92, 0.0199).verdict == "fail"
    assert dropped(0.9, 0.9, 0).reason == "The mean is 0.9, as in main.json."


def test_where_less_is_better_a_rise_is_the_drop() -> None:
    assert dropped(0.95, 0.9, higher_is_better=False).verdict == "fail"
    assert dropped(0.5, 0.9, higher_is_better=False).verdict == "pass"
    assert dropped(0.95, 0.9, higher_is_better=True).verdict == "pass"


@pytest.mark.parametrize(
    ("base", "here", "why"),
    [
        ({"dataset": ("11", 10), "asked": 2}, {}, "on other data (10 records, and so here, but their texts differ)"),
        ({"dataset": ("11", 10), "asked": None}, {"asked": None}, "on other data (10 records, and so here, but"),
        ({"dataset": ("00", 9)}, {}, "on other data (9 records, here 10)"),
        ({"ref": "core/a@2"}, {}, "the evaluator changed from core/a@2 to core/a@1"),
        ({"params": {"x": 1}}, {"params": {"x": 2}}, "the params of the evaluator changed"),
        (
            {"entry": {"prompts": ["p", "q"]}},
            {"entry": {"prompts": ["p", "r"]}},
            "the prompts of the evaluator changed",
        ),
        ({"entry": {"sha256": "aa"}}, {"entry": {"sha256": "bb"}}, "the file of the evaluator changed"),
        ({"errors": 1}, {}, "scored with 1 errors"),
        ({"skipped": 11}, {}, "skipped 11"),
    ],
)
def test_j6_an_unsound_comparison_is_undecided_and_says_why(
    base: dict[str, Any], here: dict[str, Any], why: str
) -> None:
    spec = gate(baseline="main.json", max_drop=0.5)
    found = judged(spec, numbers(0.9), base=side({"a": (0.9, 10)}, **base), this_run=side(**here))

    assert found.verdict == "undecided"
    assert why in found.reason


@pytest.mark.parametrize(
    ("base", "here"),
    [
        ({"prompts": ["p"]}, {"prompts": ["p", "q"]}),
        ({"prompts": []}, {"prompts": ["p"]}),
        ({}, {"prompts": ["p"], "sha256": "aa"}),
        ({"sha256": "aa"}, {"sha256": "aa"}),
    ],
)
def test_j6_what_may_be_the_same_measure_is_compared(base: dict[str, Any], here: dict[str, Any]) -> None:
    spec = gate(baseline="main.json", max_drop=0.5)
    found = judged(spec, numbers(0.9), base=side({"a": (0.9, 10)}, entry=base), this_run=side(entry=here))

    assert found.verdict == "pass"


def test_data_that_differ_in_answers_alone_are_compared_and_the_reason_says_so() -> None:
    spec = gate(baseline="main.json", max_drop=0.02)
    found = judged(spec, numbers(0.85), base=side({"a": (0.9, 10)}, dataset=("11", 10)), this_run=side())

    assert found.verdict == "fail"
    assert "0.05 worse than 0.9 in main.json" in found.reason
    assert found.reason.endswith("The data differ, though not in ids, inputs and references.")


def test_a_record_is_marked_by_its_id_input_and_reference_whatever_the_order_of_their_keys() -> None:
    mark = mark_of("r1", {"json": {"a": 1, "b": 2}}, "x")

    assert mark == mark_of("r1", {"json": {"b": 2, "a": 1}}, "x")
    others = [("r2", {"json": {"a": 1, "b": 2}}, "x"), ("r1", "a", "x"), ("r1", {"json": {"a": 1, "b": 2}}, ["x"])]
    assert mark not in [mark_of(*other) for other in others]


def test_a_hash_that_nobody_knows_is_no_difference() -> None:
    spec = gate(baseline="main.json", max_drop=0)
    base = side({"a": (0.9, 10)}, dataset=(None, 10))

    assert judged(spec, numbers(0.9), base=base, this_run=side()).verdict == "pass"


def test_another_judge_matters_to_what_a_judge_scores_alone() -> None:
    spec = gate(baseline="main.json", max_drop=0.5)
    base, here = side({"a": (0.9, 10)}, judge={"primary": "x"}), side(judge={"primary": "y"})
    bill: Any = object()

    assert judged(spec, numbers(0.9), base=base, this_run=here).verdict == "pass"
    found = judged(spec, numbers(0.9, judge=bill), base=base, this_run=here)
    assert (found.verdict, "the judge changed" in found.reason) == ("undecided", True)


def test_a_baseline_without_a_scored_record_is_undecided() -> None:
    spec = gate(baseline="main.json", max_drop=0.5)

    assert judged(spec, numbers(0.9), base=side({"a": (None, 0)}), this_run=side()).verdict == "undecided"
    assert judged(spec, numbers(0.9), base=side(), this_run=side()).verdict == "undecided"
    assert judged(spec, numbers(0.9), base=side({"a": (0.9, 1)})).verdict == "undecided"


def test_errors_of_the_run_itself_make_the_gate_undecided_before_it_is_compared() -> None:
    spec = gate(baseline="main.json", max_drop=0.5)
    found = judged(spec, numbers(0.9, errors=1), base=side({"a": (0.9, 10)}), this_run=side())

    assert found.verdict == "undecided"
    assert found.reason.startswith("1 of 11 records ended as errors")


def test_a_slice_is_compared_with_the_same_slice() -> None:
    there = {("tier", "gold"): {"a": Mean(0.5, 5, 0, 0, "a")}}
    spec = gate(baseline="main.json", max_drop=0.1, slice={"tier": "gold"})
    slices = {("tier", "gold"): [numbers(0.45, 5)]}
    found = judged(spec, numbers(0.1), base=side({"a": (0.9, 10)}, slices=there), this_run=side(), slices=slices)

    assert found.verdict == "pass"
    assert "0.05 worse than 0.5 in main.json" in found.reason


def paired(
    cand: dict[str, float],
    base: dict[str, float],
    max_drop: float = 0.02,
    clusters: dict[str, str] | None = None,
    kind: Any = "pass",
) -> Any:
    means = sum(base.values()) / len(base), sum(cand.values()) / len(cand)
    spec = gate(baseline="main.json", max_drop=max_drop, significant=True)
    return judged(
        spec,
        numbers(means[1], len(cand))._replace(kind=kind),
        base=side({"a": (means[0], len(base))}, values=base),
        this_run=side(values=cand, clusters=clusters),
    )


def test_a_drop_that_may_be_chance_passes_and_says_so() -> None:
    base = {f"r{number}": 1.0 for number in range(20)}
    found = paired({**base, "r0": 0.0}, base)

    assert found.verdict == "pass"
    assert "0.05 worse than 1 in main.json" in found.reason
    assert "Over 20 pairs the difference is not significant (p = 0.5 by McNemar's test (mid-p)" in found.reason


def test_a_drop_that_is_no_chance_fails_with_the_interval_of_the_difference() -> None:
    base = {f"r{number}": 1.0 for number in range(20)}
    found = paired({**base, **{f"r{number}": 0.0 for number in range(8)}}, base)

    assert found.verdict == "fail"
    assert "is significant (p = 0.00391 by McNemar's test (mid-p)" in found.reason
    tango = score_interval(8, 0, 20, 0.95)
    assert (found.low, found.high) == pytest.approx((tango.low, tango.high))


# Eight records of one customer are one customer: taken one by one they failed the gate with p = 0.004.
def test_records_of_one_cluster_are_no_eight_findings() -> None:
    base = {f"r{number}": 1.0 for number in range(20)}
    cand = {**base, **{f"r{number}": 0.0 for number in range(8)}}
    customers = {f"r{number}": "big" if number < 8 else f"c{number}" for number in range(20)}
    found = paired(cand, base, clusters=customers)

    assert found.verdict == "pass"
    assert "Over 20 pairs in 13 clusters the difference is not significant" in found.reason
    assert found.low is not None
    assert found.low < -0.6


def test_a_mean_that_fell_where_the_pairs_rose_did_not_drop() -> None:
    """The baseline skipped four hard records; on what both scored the candidate is surely better."""
    base = {f"r{number}": 0.5 + number / 1000 for number in range(8)}
    cand = {record: value + 0.1 + number / 1000 for number, (record, value) in enumerate(base.items())}
    found = paired({**cand, **{f"hard{number}": 0.0 for number in range(4)}}, base)

    assert found.verdict == "pass"
    assert "worse than" in found.reason
    assert "4 records without a pair left out" in found.reason


def test_a_significant_drop_within_what_is_allowed_passes() -> None:
    base = {f"r{number}": 0.5 + number / 1000 for number in range(20)}
    cand = {record: value - 0.01 - number / 10_000 for number, (record, value) in enumerate(base.items())}

    assert paired(cand, base).verdict == "pass"
    assert paired(cand, base, 0.001).verdict == "fail"


def test_the_same_values_are_no_difference() -> None:
    base = {f"r{number}": number / 20 for number in range(10)}
    found = paired(base, base)

    assert found.verdict == "pass"
    assert found.reason == "The mean is 0.225, as in main.json. Over 10 pairs there is no difference."


def test_records_without_a_pair_are_told() -> None:
    base = {f"r{number}": number / 20 for number in range(10)}
    found = paired({**base, "r0": 0.1, "new": 0.2}, base, 1.0)

    assert "1 records without a pair left out" in found.reason


def test_no_common_record_is_undecided() -> None:
    found = paired({"x": 0.0}, {"y": 1.0})

    assert found.verdict == "undecided"
    assert found.reason.endswith(
        "No record was scored in both runs, or some value is too large, so that no pairs can be tested."
    )


def test_passes_of_a_run_are_compared_like_numbers() -> None:
    spec = gate(baseline="main.json", max_drop=0.1)

    assert judged(spec, passes(9, 10), base=side({"a": (0.9, 10)}), this_run=side()).verdict == "pass"
