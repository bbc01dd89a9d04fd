"""Baselines read from results files, of any layout and size, and compared only where the comparison is sound."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.baseline import Mean, RecordValues, measured, read_baseline
from evalsi_kernel.gates.results_members import members
from tests.kernel.gates.gate_parts import gate, judged, numbers, passes, side

MANIFEST = {
    "dataset": {"source": "qa.jsonl", "records": 3, "sha256": "00"},
    "evaluators": [{"name": "a", "ref": "core/a@1", "params": {"x": 1}, "scope": "record"}],
    "judge": {"roles": {"primary": {"model": "m"}}, "calls": 3},
    "summary": {"confidence_level": 0.9},
}
SUMMARY = numbers(0.5, 3, errors=1, skipped=2).to_dict()


def result(record_id: str, trial: int, **score: Any) -> dict[str, Any]:
    scores = [{"name": "a", **score}, {"name": "b", "value": 7.0}]
    return {"record_id": record_id, "evaluator": "a", "outcome": "scored", "trial": trial, "scores": scores}


def file_of(folder: Path, *, indent: int | None = None, sort: bool = False, **members: Any) -> Path:
    whole: dict[str, Any] = {
        "schema_version": 1,
        "manifest": MANIFEST,
        "summaries": [SUMMARY],
        "slices": [{"by": "tier", "value": "gold", "summaries": [{**SUMMARY, "mean": 0.25}]}],
        "results": [
            result("r1", 1, passed=True),
            result("r1", 2, passed=False),
            result("r2", 1, value=0.25),
            {"record_id": "r3", "evaluator": "a", "outcome": "skipped", "trial": 1, "reason": "no reference"},
        ],
        "records": [{"id": "r1", "output": "]}, {["}],
        **members,
    }
    path = folder / "main.json"
    kept = {key: value for key, value in whole.items() if value is not None}
    path.write_text(json.dumps(kept, indent=indent, sort_keys=sort), "utf-8")
    return path


@pytest.mark.parametrize(("indent", "sort"), [(None, False), (2, False), (None, True), (1, True)])
def test_a_results_file_in_any_layout_reads_the_same(tmp_path: Path, indent: int | None, sort: bool) -> None:
    base = read_baseline(file_of(tmp_path, indent=indent, sort=sort), "main.json", ["a"])

    assert base.name == "main.json"
    assert base.means == {"a": Mean(0.5, 3, 1, 2, "a")}
    assert base.slices == {("tier", "gold"): {"a": Mean(0.25, 3, 1, 2, "a")}}
    assert base.values["a"].means() == {"r1": 0.5, "r2": 0.25}
    assert base.dataset == ("00", 3)
    assert base.evaluators == {"a": ("core/a@1", {"x": 1})}
    assert (base.judge, base.level) == ({"primary": {"model": "m"}}, 0.9)


@pytest.mark.parametrize("paired", [[], ["a"]])
def test_what_is_not_needed_is_not_read(tmp_path: Path, paired: list[str]) -> None:
    path = file_of(tmp_path)
    whole = path.read_text("utf-8")
    # A fault in what is left would show that somebody looks at it.
    path.write_text(whole[: whole.rindex('"records"') + 12] + '{"id": "r1"}, ?', "utf-8")

    assert read_baseline(path, "main.json", paired).means["a"].mean == 0.5


def test_the_runs_own_side_is_made_of_the_same_manifest(tmp_path: Path) -> None:
    base = read_baseline(file_of(tmp_path), "main.json")
    own = measured(MANIFEST, [numbers(0.5, 3, errors=1, skipped=2)], {})

    assert own._replace(name="", slices={}) == base._replace(name="", slices={})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is cut off"),
        ("[]", "it has '[' where { should be"),
        ('{"schema_version":1}', "it has no 'manifest'"),
        ('{"schema_version":2,"manifest":{},"summaries":[]}', "its form is 2, and 1 is known here"),
        ('{"schema_version":1,"manifest":{},"summaries":[]}', "it has no 'dataset'"),
        ('{"schema_version":1,"manifest":[],"summaries":[]}', "a part of it is not of the form of one"),
        ('{"schema_version":1,"results":[{"record', "it is cut off, or no JSON"),
        ('{"schema_version":1,"results":{}}', "it has '{' where [ should be"),
        ('{"schema_version":1,}', "it has '}' after a comma"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("id,output\n1,2\n", "it has 'i' where { should be"),
    ],
)
def test_what_is_no_results_file_is_refused_with_its_fault(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "main.json"
    path.write_text(text, "utf-8")

    with pytest.raises(ConfigError) as caught:
        read_baseline(path, "main.json", ["a"])

    assert caught.value.code == "config.baseline"
    assert caught.value.message.startswith("The baseline main.json ")
    assert why in caught.value.message


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: No such file"):
        read_baseline(tmp_path / "no.json", "no.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no results file"):
        read_baseline(tmp_path / "bytes.json", "bytes.json")


def test_a_large_file_is_read_in_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    path = file_of(tmp_path, records=[{"id": f"r{number}", "output": "x" * 1000} for number in range(12_000)])
    assert path.stat().st_size > 12_000_000
    tracemalloc.start()
    try:
        read_baseline(path, "main.json", ["a"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 10_000_000


@given(
    value=st.dictionaries(
        st.text(max_size=5), st.lists(st.floats(allow_nan=False) | st.integers() | st.text(max_size=9)), max_size=4
    ),
    indent=st.none() | st.integers(0, 3),
)
def test_members_are_those_that_json_reads(value: dict[str, Any], indent: int | None, tmp_path_factory: Any) -> None:
    path: Path = tmp_path_factory.getbasetemp() / "members.json"
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False).replace("\ud800", "?"), "utf-8")
    listed = list(value)[::2]

    read: dict[str, Any] = {name: [] for name in listed}
    for name, found in members(path, listed):
        if name in listed:
            read[name].append(found)
        else:
            read[name] = found
    assert read == json.loads(path.read_text("utf-8"))


def test_trials_of_a_record_are_one_value_wherever_they_come() -> None:
    values = RecordValues()
    values.add("r1", 1.0)
    assert values.is_binary
    values.add("r2", 0.0)
    values.add("r1", 0.0)

    assert values.means() == {"r1": 0.5, "r2": 0.0}
    assert (len(values), values.is_binary) == (2, False)


# -- judged -----------------------------------------------------------------------------------------------------------


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
        ({"dataset": ("11", 10)}, {}, "on other data (10 records, here 10)"),
        ({"dataset": ("00", 9)}, {}, "on other data (9 records, here 10)"),
        ({"ref": "core/a@2"}, {}, "by core/a@2, and this run by core/a@1"),
        ({"params": {"x": 1}}, {"params": {"x": 2}}, "with other params"),
        ({"errors": 1}, {}, "scored with 1 errors"),
        ({"skipped": 11}, {}, "skipped 11"),
    ],
)
def test_an_unsound_comparison_is_undecided_and_says_why(base: dict[str, Any], here: dict[str, Any], why: str) -> None:
    spec = gate(baseline="main.json", max_drop=0.5)
    found = judged(spec, numbers(0.9), base=side({"a": (0.9, 10)}, **base), this_run=side(**here))

    assert found.verdict == "undecided"
    assert why in found.reason


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
    assert (found.verdict, "another judge" in found.reason) == ("undecided", True)


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


def paired(cand: dict[str, float], base: dict[str, float], max_drop: float = 0.02) -> Any:
    means = sum(base.values()) / len(base), sum(cand.values()) / len(cand)
    spec = gate(baseline="main.json", max_drop=max_drop, significant=True)
    return judged(
        spec,
        numbers(means[1], len(cand)),
        base=side({"a": (means[0], len(base))}, values=base),
        this_run=side(values=cand),
    )


def test_a_drop_that_may_be_chance_passes_and_says_so() -> None:
    base = {f"r{number}": 1.0 for number in range(20)}
    found = paired({**base, "r0": 0.0}, base)

    assert found.verdict == "pass"
    assert "0.05 worse than 1 in main.json" in found.reason
    assert "Over 20 pairs the difference may be chance (p = 0.5 by McNemar's test)." in found.reason


def test_a_drop_that_is_no_chance_fails_with_the_interval_of_the_difference() -> None:
    base = {f"r{number}": 1.0 for number in range(20)}
    found = paired({**base, **{f"r{number}": 0.0 for number in range(8)}}, base)

    assert found.verdict == "fail"
    assert "is no chance (p = 0.00391 by McNemar's test)" in found.reason
    assert (found.low, found.high) == pytest.approx((-0.635, -0.165), abs=1e-3)


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
    assert paired({"x": 0.0}, {"y": 1.0}).verdict == "undecided"


def test_passes_of_a_run_are_compared_like_numbers() -> None:
    spec = gate(baseline="main.json", max_drop=0.1)

    assert judged(spec, passes(9, 10), base=side({"a": (0.9, 10)}), this_run=side()).verdict == "pass"
