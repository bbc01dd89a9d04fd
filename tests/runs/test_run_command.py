"""`evalsi run` from end to end: a target asked, answers scored, gates judged, and an exit code to trust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from evalsi_kernel.scores.summaries import Summary
from evalsi_runs.slice_tables import MAX_VALUES, slice_tables
from tests.cli.running import evalsi
from tests.providers import Provider, faults, fixed
from tests.runs.running import executed, model_of, records, results, run, write_spec

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def vendor() -> Any:
    with Provider(fixed("Lisbon")) as provider:
        yield provider


def test_a_run_asks_its_target_once_an_item_scores_every_answer_and_judges_its_gates(
    tmp_path: Path, vendor: Provider
) -> None:
    gates = [
        {"metric": "exact-match", "min": 0.4},
        {"metric": "exact-match.pass^2", "stat": "GATE_STAT_MEAN", "min": 0.4},
    ]
    write_spec(tmp_path, model_of(vendor, system_prompt="Name the city."), records(6), trials=2, gates=gates)
    done = run(tmp_path, "--output", "results.json")
    assert (done.code, vendor.calls) == (0, 12)
    assert "run-1: succeeded, all gates pass; 12 done" in done.out
    value = json.loads((tmp_path / "results.json").read_text())
    assert value == results(tmp_path)
    assert value["verdict"] == "pass"
    assert [gate["verdict"] for gate in value["gates"]] == ["pass", "pass"]
    assert value["manifest"]["target"]["system_prompt"] == "Name the city."
    assert value["manifest"]["target_usage"]["calls"] == 12
    by_metric = {one["metric"]: one for one in value["summaries"]}
    assert by_metric["exact-match"]["n"] == 12
    assert by_metric["exact-match.pass@2"]["mean"] == 0.5
    assert [(one["record_id"], one["trial"]) for one in value["results"][:3]] == [("r0", 1), ("r0", 2), ("r1", 1)]
    assert value["records"][1]["provenance"]["run"]["trial"] == 2
    assert "Name the city." in vendor.requests[0].prompt


def test_a_failed_gate_is_exit_code_three_and_says_why(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor), gates=[{"metric": "exact-match", "min": 0.9}])
    done = run(tmp_path)
    assert done.code == 3
    assert "The mean is 0.5 and must be at least 0.9." in done.out
    assert results(tmp_path)["verdict"] == "fail"


def test_results_are_not_written_over_the_spec_or_its_data(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor))
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(before) == 2
    for path in before:
        done = run(tmp_path, "--output", path.name)
        assert (done.code, vendor.calls) == (2, 0)
        assert f"{path.name} exists and is not a results file." in done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_misspelt_metric_is_found_before_anything_is_asked(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor), gates=[{"metric": "exact-mach", "min": 0.9}])
    done = run(tmp_path)
    assert (done.code, vendor.calls) == (1, 0)
    assert 'Did you mean "exact-match"?' in done.err
    assert not (tmp_path / ".evalsi" / "runs" / "run-1").exists()


def test_a_users_own_file_is_told_by_the_path_that_leads_to_it(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor), evaluators=[{"ref": "./own.py:f"}])
    (tmp_path / "own.py").write_text("import no_such_module\n")
    done = run(tmp_path)
    assert (done.code, vendor.calls) == (1, 0)
    assert "The pack ./own.py:f refused to start" in done.err


def test_a_target_that_fails_on_a_record_is_an_error_there_and_never_an_empty_output(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=lambda call: faults.bad_request() if call == 2 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), gates=[{"metric": "exact-match", "min": 0.1}])
        done = run(tmp_path)
    value = results(tmp_path)
    assert [one["outcome"] for one in value["results"]] == ["scored", "error", "scored", "scored"]
    assert "output" not in value["records"][1]
    # 1 of 4 failed, and nothing allows for that.
    assert (done.code, value["verdict"]) == (3, "undecided")


def test_errors_alone_are_tried_again(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=lambda call: faults.bad_request() if call == 2 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=1))
        run(tmp_path)
        assert vendor.calls == 4
        again = run(tmp_path, "--retry-errors")
        assert vendor.calls == 5
    assert again.code == 0
    assert "1 of them once more" in again.err
    assert [one["outcome"] for one in results(tmp_path)["results"]] == ["scored"] * 4


def test_there_must_be_a_run_to_try_the_errors_of(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor))
    done = run(tmp_path, "--retry-errors")
    assert (done.code, vendor.calls) == (2, 0)
    assert "There is no run 'run' whose errors could be tried again." in done.err


def test_a_finished_run_is_left_alone_and_the_same_command_begins_another(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor))
    assert executed(tmp_path).run_id == "run-1"
    assert executed(tmp_path).run_id == "run-2"
    assert sorted(path.name for path in (tmp_path / ".evalsi" / "runs").iterdir()) == ["run-1", "run-2"]


def test_a_key_that_is_refused_stops_all_calls_with_one_sentence_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=2), records(50))
        refused = run(tmp_path, variables={"TARGET_KEY": "wrong"})
        assert refused.code == 1
        assert vendor.calls <= 2
        assert refused.err.count("error:") == 1
        assert (tmp_path / ".evalsi" / "runs" / "run-1" / "results.json").exists()
        assert run(tmp_path).code == 0
        assert results(tmp_path)["manifest"]["status"] == "complete"


def test_a_budget_that_is_spent_keeps_what_was_done_and_a_higher_one_goes_on(tmp_path: Path, vendor: Provider) -> None:
    path = write_spec(tmp_path, model_of(vendor, max_concurrency=1), records(100), budget={"max_target_tokens": 700})
    spent = run(tmp_path, "--output", "results.json")
    assert spent.code == 1
    assert json.loads((tmp_path / "results.json").read_text()) == results(tmp_path)
    assert "The budget of 700 tokens does not cover a call" in spent.err
    value = results(tmp_path)
    scored = [one for one in value["results"] if one["outcome"] == "scored"]
    assert 0 < len(scored) < 100
    assert value["manifest"]["status"] == "failed"
    usage = value["manifest"]["target_usage"]
    assert usage["input_tokens"] + usage["output_tokens"] <= 700
    path.write_text(path.read_text().replace("700}", "70000}"))
    assert run(tmp_path).code == 0
    assert vendor.calls == 100


def test_a_dry_run_checks_all_and_asks_nothing(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor), trials=3)
    done = run(tmp_path, "--dry-run")
    assert (done.code, vendor.calls) == (0, 0)
    assert done.out.startswith("12 calls to the target for 4 records: at most ")
    assert not (tmp_path / ".evalsi" / "runs" / "run-1").exists()


def test_an_evaluator_with_a_condition_skips_where_it_does_not_hold(tmp_path: Path, vendor: Provider) -> None:
    evaluators = [
        {"ref": "exact-match"},
        {"ref": "length", "when": 'scores["exact-match"] == 1.0'},
    ]
    write_spec(tmp_path, model_of(vendor), evaluators=evaluators)
    assert executed(tmp_path).state == "succeeded"
    of_length = [one for one in results(tmp_path)["results"] if one["evaluator"] == "length"]
    assert [one["outcome"] for one in of_length] == ["skipped", "scored", "skipped", "scored"]
    assert of_length[0]["reason"] == 'when is false: scores["exact-match"] == 1.0'


def test_a_condition_without_an_answer_is_an_error_that_names_it(tmp_path: Path, vendor: Provider) -> None:
    evaluators = [{"ref": "exact-match", "when": "record.metadata.kin == 1"}]
    write_spec(tmp_path, model_of(vendor), evaluators=evaluators)
    assert executed(tmp_path).state == "error"
    error = results(tmp_path)["results"][0]["error"]
    assert error["code"] == "config.condition"
    assert "its condition `record.metadata.kin == 1` has no answer: " in error["message"]
    assert "has(record.metadata.key)" in error["hint"]


def test_slices_are_summed_up_apart_and_gated_apart(tmp_path: Path, vendor: Provider) -> None:
    rows = [{**row, "language": "pt" if number % 2 else "no"} for number, row in enumerate(records(6))]
    write_spec(tmp_path, model_of(vendor), rows, gates=[{"metric": "exact-match", "slice": "language", "min": 0.5}])
    assert executed(tmp_path).verdict == "fail"
    value = results(tmp_path)
    assert [(gate["slice"], gate["verdict"]) for gate in value["gates"]] == [
        ({"language": "no"}, "fail"),
        ({"language": "pt"}, "pass"),
    ]
    assert [(one["value"], one["summaries"][0]["mean"]) for one in value["slices"]] == [("no", 0.0), ("pt", 1.0)]


def test_g8_slices_are_printed(tmp_path: Path, vendor: Provider) -> None:
    rows = [{**row, "language": "pt" if number % 2 else "no"} for number, row in enumerate(records(6))]
    write_spec(tmp_path, model_of(vendor), rows, summary={"slice_by": ["language"]})
    done = run(tmp_path)
    assert done.code == 0, done.err
    [*_, title, header, first, second, _, _] = done.out.splitlines()
    assert (title, header.split()) == (
        "by language",
        ["language", "metric", "n", "mean", "95%", "CI", "skipped", "errors"],
    )
    assert (first.split()[:4], second.split()[:4]) == (
        ["no", "exact-match", "3", "0.000"],
        ["pt", "exact-match", "3", "1.000"],
    )
    for form in (run(tmp_path, "--format", "json"), evalsi("runs", "show", "run-1", "--format", "json", cwd=tmp_path)):
        told = json.loads(form.out)["slices"]
        assert [(one["by"], one["value"], one["summaries"][0]["n"]) for one in told] == [
            ("language", "no", 3),
            ("language", "pt", 3),
        ]
    markdown = run(tmp_path, "--format", "markdown").out
    assert "| pt | exact-match | 3 | 1.000 |" in markdown


def test_g8_of_very_many_slices_the_first_are_printed_and_the_others_counted() -> None:
    summary = Summary("m", "m", "number").to_dict()
    [(title, grid)] = slice_tables([{"by": "k", "value": f"v{number}", "summaries": [summary]} for number in range(50)])
    assert len(grid.rows) == MAX_VALUES
    assert "50" in title


def test_two_records_of_three_passing_trials_are_no_certainty(tmp_path: Path, vendor: Provider) -> None:
    rows = [{"id": f"r{number}", "question": "?", "answer": "Lisbon"} for number in range(2)]
    write_spec(
        tmp_path, model_of(vendor), rows, trials=3, gates=[{"metric": "exact-match", "stat": "lower", "min": 0.9}]
    )
    assert executed(tmp_path).verdict == "fail"
    for summary in results(tmp_path)["summaries"]:
        assert summary["mean"] == 1.0
        assert summary["ci"] is None or summary["ci"]["low"] < 0.5


SLOW = """
import time
from evalsi import Output, evaluator

@evaluator(name="slow", version=1, needs=["output"], outputs=[Output(kind="pass")])
def slow(record):
    time.sleep(0.02)
    return True
"""


def test_a_run_that_is_decided_stops_and_says_what_it_saved(tmp_path: Path, vendor: Provider) -> None:
    rows = [{"id": f"r{number}", "question": f"Question {number}?", "answer": "Lisbon"} for number in range(400)]
    gates = [{"metric": "exact-match", "min": 0.5}]
    write_spec(tmp_path, model_of(vendor, max_concurrency=4), rows, gates=gates, stop_when_decided=True)
    done = run(tmp_path)
    assert done.code == 0
    assert "every gate is decided" in done.out
    stopped = results(tmp_path)["manifest"]["stopped_early"]
    assert stopped["of"] == 400
    assert stopped["saved"] == 400 - stopped["items"] > 0
    assert vendor.calls == stopped["items"]


def test_answers_do_not_run_far_ahead_of_slow_scores_that_may_end_the_run(tmp_path: Path, vendor: Provider) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    rows = [{"id": f"r{number}", "question": f"Question {number}?", "answer": "Lisbon"} for number in range(400)]
    gates = [{"metric": "slow", "min": 0.5}]
    write_spec(
        tmp_path,
        model_of(vendor, max_concurrency=1),
        rows,
        evaluators=[{"ref": "./slow.py:slow"}],
        gates=gates,
        stop_when_decided=True,
    )
    assert run(tmp_path).code == 0
    # All of it passes, so a dozen scores decide; as many answers wait as the evaluator may have in flight, 16.
    assert vendor.calls == results(tmp_path)["manifest"]["stopped_early"]["items"] < 50


def test_what_the_ci_says_of_the_code_is_in_the_manifest(tmp_path: Path, vendor: Provider) -> None:
    write_spec(tmp_path, model_of(vendor))
    variables = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_SHA": "abc",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_HEAD_REF": "fix",
    }
    run(tmp_path, variables=variables)
    assert results(tmp_path)["manifest"]["source"] == {
        "ci": "github",
        "commit": "abc",
        "branch": "fix",
        "pull_request": 7,
    }


def test_the_results_of_a_run_have_the_published_form(tmp_path: Path, vendor: Provider) -> None:
    rows = [{**row, "language": "pt"} for row in records(4)]
    gates = [{"metric": "exact-match", "min": 0.4}, {"metric": "exact-match", "slice": "language", "min": 0.4}]
    write_spec(tmp_path, model_of(vendor), rows, trials=2, gates=gates)
    executed(tmp_path)
    manifest = results(tmp_path)["manifest"]
    assert (manifest["state"], len(manifest["spec_sha256"])) == ("succeeded", 64)
    schema = json.loads((DOCS / "reference" / "results.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(schema).validate(results(tmp_path))


def test_a_missing_key_of_the_target_is_told_by_the_name_that_the_spec_gives_it(
    tmp_path: Path, vendor: Provider
) -> None:
    write_spec(tmp_path, model_of(vendor, api_key_env="NOT_SET"))
    done = run(tmp_path)
    assert (done.code, vendor.calls) == (1, 0)
    assert "NOT_SET" in done.err
    assert "spec.target.api_key_env" in done.err
    assert "--judge" not in done.err


def test_in_markdown_what_comes_from_the_data_means_itself(tmp_path: Path, vendor: Provider) -> None:
    rows = [{**row, "language": "<b>|*no*"} for row in records(4)]
    write_spec(tmp_path, model_of(vendor), rows, gates=[{"metric": "exact-match", "slice": "language", "min": 0.4}])
    done = run(tmp_path, "--format", "markdown")
    assert done.out.splitlines()[:5] == [
        "**run-1: succeeded, all gates pass; 4 done**",
        "",
        "| gate | verdict | why |",
        "| --- | --- | --- |",
        r"| exact-match where language = \<b\>\|\*no\* | pass | The mean is 0.5 and must be at least 0.4. |",
    ]
