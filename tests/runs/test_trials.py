"""Trials and gates of a whole run: faults that other tools were reported for are right here, from end to end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.scores.intervals import clustered_wilson
from tests.cli.running import write_jsonl
from tests.providers import Provider, Request, faults, fixed
from tests.runs.running import executed, model_of, records, results, run, write_spec


def of(folder: Path, metric: str) -> Any:
    """The summary of a metric."""
    (found,) = [one for one in results(folder)["summaries"] if one["metric"] == metric]
    return found


def test_trials_are_independent_draws_and_each_takes_a_seed_of_its_own(tmp_path: Path) -> None:
    said = iter(range(1, 100))
    with Provider(lambda _: f"r{next(said)}") as vendor:
        write_spec(tmp_path, model_of(vendor, temperature=0.7, seed=5), records(1), trials=3)
        executed(tmp_path)
        assert vendor.calls == 3
        assert sorted(request.body["seed"] for request in vendor.requests) == [5, 6, 7]
    outputs = {record["output"] for record in results(tmp_path)["records"]}
    assert outputs == {"r1", "r2", "r3"}


def test_a_record_is_solved_within_k_trials_as_the_unbiased_estimator_says(tmp_path: Path) -> None:
    """Of six trials of one record two pass: pass@3 is 1 - C(4,3)/C(6,3) = 0.8."""
    said = iter(["Oslo", "x", "x", "Oslo", "x", "x"])
    with Provider(lambda _: next(said)) as vendor:
        write_spec(
            tmp_path,
            model_of(vendor, max_concurrency=1),
            records(1),
            trials=6,
            gates=[{"metric": "exact-match.pass@3", "min": 0.8}, {"metric": "exact-match.pass^2", "min": 0.06}],
        )
        end = executed(tmp_path)
    assert end.verdict == "pass"
    assert of(tmp_path, "exact-match.pass@3")["mean"] == 0.8
    assert of(tmp_path, "exact-match.pass^2")["mean"] == 1 / 15


def test_trials_that_failed_for_other_reasons_never_make_a_record_solved(tmp_path: Path) -> None:
    said: Iterator[str | faults.Fault] = iter(["x", *[faults.bad_request()] * 3])
    with Provider(lambda _: next(said)) as vendor:
        write_spec(
            tmp_path,
            model_of(vendor, max_concurrency=1),
            records(1),
            trials=4,
            gates=[{"metric": "exact-match.pass@2", "min": 0.5, "max_error_rate": 1.0}],
        )
        end = executed(tmp_path)
    assert end.verdict in ("fail", "undecided")
    assert not of(tmp_path, "exact-match.pass@2")["mean"]


def half_broken(request: Request) -> str | faults.Fault:
    """Of ten records five fail, and of the five others four pass."""
    number = int(request.prompt.split()[-1].rstrip("?"))
    return faults.bad_request() if number >= 5 else "wrong" if number == 0 else "Oslo" if number % 2 == 0 else "Lisbon"


def test_half_a_run_does_not_pass_a_gate_that_the_other_half_would_pass(tmp_path: Path) -> None:
    gates = [{"metric": "exact-match", "min": 0.75}]
    with Provider(half_broken) as vendor:
        write_spec(tmp_path, model_of(vendor), records(10), gates=gates)
        done = run(tmp_path)
    assert done.code == 3
    value = results(tmp_path)
    (gate,) = value["gates"]
    assert (gate["verdict"], gate["n"], gate["errors"]) == ("undecided", 5, 5)
    assert (of(tmp_path, "exact-match")["mean"], of(tmp_path, "exact-match")["errors"]) == (0.8, 5)
    assert Counter(one["outcome"] for one in value["results"]) == {"scored": 5, "error": 5}
    assert "undecided" in done.out


def test_who_allows_for_the_errors_has_the_others_judged(tmp_path: Path) -> None:
    gates = [{"metric": "exact-match", "min": 0.75, "max_error_rate": 0.5}]
    with Provider(half_broken) as vendor:
        write_spec(tmp_path, model_of(vendor), records(10), gates=gates)
        assert executed(tmp_path).verdict == "pass"


def test_one_answer_of_twenty_never_speaks_for_the_other_nineteen(tmp_path: Path) -> None:
    def answer(request: Request) -> str | faults.Fault:
        return "Lisbon" if "Question 1?" in request.prompt else faults.bad_request()

    with Provider(answer) as vendor:
        write_spec(tmp_path, model_of(vendor), records(20), gates=[{"metric": "exact-match", "min": 0.1}])
        assert executed(tmp_path).verdict == "undecided"


def test_a_metric_of_which_every_record_is_skipped_fails_its_gate(tmp_path: Path) -> None:
    rows = [{"id": f"r{number}", "question": "?"} for number in range(3)]
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor), rows, gates=[{"metric": "exact-match", "min": 0.0}])
        assert executed(tmp_path).verdict == "fail"
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"skipped"}


BY_ID = """
from evalsi import Record, evaluator

ANSWERS = {"r0": "Oslo", "r1": "Lisbon"}


@evaluator(version=1)
def looked_up(record: Record) -> bool:
    return record.output_text == ANSWERS[record.id]


@evaluator(version=1)
def which(record: Record) -> str:
    return f"{record.id} in trial {record.provenance['run']['trial']}"
"""


def test_evaluators_and_conditions_know_a_record_by_its_own_id_in_every_trial(tmp_path: Path) -> None:
    (tmp_path / "by_id.py").write_text(BY_ID)
    evaluators = [
        {"ref": f"{tmp_path}/by_id.py:looked_up"},
        {"ref": f"{tmp_path}/by_id.py:which", "when": 'record.id == "r1"'},
    ]
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor), records(2), trials=2, evaluators=evaluators)
        assert executed(tmp_path).state == "succeeded"
    value = results(tmp_path)
    told = {
        (one["evaluator"], one["record_id"], one["trial"]): one["scores"][0].get(
            "passed", one["scores"][0].get("label")
        )
        for one in value["results"]
        if one["outcome"] == "scored"
    }
    assert told == {
        **{("looked_up", "r0", trial): False for trial in (1, 2)},
        **{("looked_up", "r1", trial): True for trial in (1, 2)},
        **{("which", "r1", trial): f"r1 in trial {trial}" for trial in (1, 2)},
    }
    assert [one["id"] for one in value["records"]] == ["r0", "r0", "r1", "r1"]
    assert not any("record_id" in one for one in value["records"])


NUMBER = """
from evalsi import Record

def words(record: Record) -> int:
    return len(record.output_text.split())
"""


@pytest.mark.parametrize("gated", [False, True])
def test_a_number_of_ones_own_function_has_no_pass_at_k_unless_a_gate_says_that_one_is_a_success(
    tmp_path: Path, gated: bool
) -> None:
    (tmp_path / "words.py").write_text(NUMBER)
    gates = [{"metric": "words.pass@2", "min": 0.5}] if gated else []
    with Provider(fixed("Lisbon")) as vendor:
        evaluators = [{"ref": f"{tmp_path}/words.py:words"}]
        write_spec(tmp_path, model_of(vendor), records(2), trials=2, evaluators=evaluators, gates=gates)
        assert executed(tmp_path).state == "succeeded"
    metrics = [one["metric"] for one in results(tmp_path)["summaries"]]
    assert metrics == (["words", "words.pass@2", "words.pass^2"] if gated else ["words"])


# Thirty wrong answers to one customer are one finding: taken one by one they failed the gate for certain.
def test_what_a_run_is_clustered_by_holds_for_its_gates_and_its_trials(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"r{number}",
            "question": str(number),
            "answer": "yes",
            "customer": "big" if number < 15 else f"c{number}",
        }
        for number in range(30)
    ]
    summary = {"cluster_by": "customer"}
    for name, wrong in (("base", False), ("candidate", True)):
        answers = [
            {"id": row["id"], "output": "no" if wrong and row["customer"] == "big" and trial == 1 else "yes",
             "provenance": {"run": {"trial": trial}}}
            for row in rows
            for trial in (1, 2)
        ]  # fmt: skip
        write_jsonl(tmp_path / "answers.jsonl", answers)
        compared = {"metric": "exact-match", "baseline": "base.json", "max_drop": 0.02, "significant": True}
        write_spec(
            tmp_path, {"connector": "replay", "path": "answers.jsonl"}, rows, trials=2, summary=summary,
            gates=[compared] if wrong else [],
        )  # fmt: skip
        assert run(tmp_path, "--fresh", "--output", f"{name}.json").code == 0, name

    found = json.loads((tmp_path / "candidate.json").read_text("utf-8"))
    (gate,) = found["gates"]
    assert "Over 30 pairs in 16 clusters the difference is not significant" in gate["reason"]
    (at_once,) = [one for one in found["summaries"] if one["metric"] == "exact-match.pass^2"]
    assert (at_once["n"], at_once["clusters"], at_once["ci"]["method"]) == (30, 16, "clustered-wilson")
    expected = clustered_wilson([0.0, *[1.0] * 15], [15.0, *[1.0] * 15], 0.95)
    assert expected is not None
    assert (at_once["ci"]["low"], at_once["ci"]["high"]) == pytest.approx((expected.low, expected.high))


SHARED = """
from evalsi import Record, Score, evaluator


@evaluator(version=1)
def strict(record: Record) -> Score:
    return Score(name="quality", value=0.0)


@evaluator(version=1)
def mild(record: Record) -> Score:
    return Score(name="quality", value=1.0)
"""


@pytest.mark.parametrize("sliced", [{}, {"slice": "topic"}])
def test_a_gate_on_a_metric_that_two_evaluators_give_takes_neither(tmp_path: Path, sliced: dict[str, str]) -> None:
    (tmp_path / "shared.py").write_text(SHARED)
    evaluators = [{"ref": f"{tmp_path}/shared.py:{name}"} for name in ("strict", "mild")]
    rows = [row | {"metadata": {"topic": "towns"}} for row in records(2)]
    with Provider(fixed("Lisbon")) as vendor:
        gates = [{"metric": "quality", "min": 0.5, **sliced}]
        write_spec(tmp_path, model_of(vendor), rows, evaluators=evaluators, gates=gates)
        assert executed(tmp_path).verdict == "fail"
    [found] = results(tmp_path)["gates"]
    assert "quality" in found["reason"]
    assert (found["verdict"], found["value"]) == ("fail", None)
    assert found["value"] is None
