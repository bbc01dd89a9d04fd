"""`evalsi calibrate` as a user runs it: a judge over HTTP, labels in a file, a report, and a record of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evalsi_calibration.calibration_file import read_calibration
from evalsi_calibration.uncalibrated import why_uncalibrated
from tests.calibration.judging import FAILS, PASSES, WRONGLY_PASSES, answers, calibrate, words
from tests.cli.running import evalsi, write_jsonl
from tests.providers import MODEL, Provider, Request, faults, fixed

LLM_JUDGE = ("--evaluator", "llm-judge")


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    return answers(
        tmp_path,
        (PASSES, True),
        (PASSES, "pass"),
        (PASSES, 1),
        (FAILS, False),
        (FAILS, True),
        (FAILS, None),
        (WRONGLY_PASSES, "fail"),
        (PASSES, True),
    )


def record(out: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(out)
    return found


# -- pass and fail -------------------------------------------------------------------------------------------------


def test_the_report_says_how_far_the_judge_agrees_with_people_and_where_it_does_not(labelled: Path) -> None:
    with Provider(words) as provider:
        done = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    # Nothing is kept here, so equal questions share a call only while it is in flight: three at least are made.
    said = re.fullmatch(
        r"llm-judge against human · judge my-judge \((\d) calls, (\d) cached, cost unknown\) · "
        r"8 records: 7 compared, 1 without a label",
        lines[0],
    )
    assert said is not None
    assert int(said[1]) >= 3
    assert int(said[1]) + int(said[2]) == 7
    cells = [" ".join(line.split()) for line in lines]
    assert "agreement 0.714 [0.359, 0.918] 5 of 7 in the same category" in cells
    assert "false positives 0.500 [0.095, 0.905] 1 of 2 it passes, of what people fail" in cells
    assert "people \\ llm-judge  pass  fail" in lines
    assert "fail                   1     1" in lines
    assert lines[-4:] == [
        "",
        "record  people  llm-judge    explanation",
        "r5      pass    fail (0)     It says: It is soon.",
        "r7      fail    pass (0.75)  It says: It is surely soon.",
    ]


def test_the_judges_own_threshold_does_as_well(labelled: Path) -> None:
    with Provider(words) as provider:
        own = calibrate(
            provider, "--data", labelled, *LLM_JUDGE, "--param", "llm-judge.threshold=0.5", "--format", "json"
        )
        cut = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--format", "json")
    ours, theirs = record(cut.out), record(own.out)
    assert (theirs["evaluator"]["metric"], ours["evaluator"]["threshold"]) == ("llm-judge-passed", 0.5)
    assert ours["confusion"] == theirs["confusion"]
    assert [one["record_id"] for one in ours["disagreements"]] == [one["record_id"] for one in theirs["disagreements"]]


def test_markdown_has_the_same_tables(labelled: Path) -> None:
    with Provider(words) as provider:
        done = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--format", "markdown")
    assert "| agreement | 0.714 | \\[0.359, 0.918\\] | 5 of 7 | in the same category |" in done.out.splitlines()


def test_the_record_knows_judge_evaluator_params_prompt_and_data(labelled: Path, tmp_path: Path) -> None:
    output = tmp_path / "calibration.json"
    words_of = ("--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--output", output, "--format", "json")
    with Provider(words) as provider:
        done = calibrate(provider, *words_of, "--judge-effort", "low")
    found = read_calibration(output)
    assert found == record(done.out)
    assert (found["judge"]["provider"], found["judge"]["model"], found["judge"]["effort"]) == (
        "openai-compatible", MODEL, "low"
    )  # fmt: skip
    assert found["evaluator"]["ref"] == "judge/llm-judge@3"
    assert found["evaluator"]["params"] == {"rubric": "correctness", "scale": [1, 5]}
    assert [len(prompt) for prompt in found["prompts"]] == [64]
    assert (found["n"], found["left_out"]["no_label"], len(found["dataset"]["sha256"])) == (7, 1, 64)
    assert found["kappa"]["ci"]["method"] == "fleiss-cohen-everitt"
    # Answers that are the same word for word are one question.
    assert (found["bill"]["calls"], found["bill"]["cached"]) == (3, 4)


def test_a_run_with_the_same_judge_is_calibrated_and_one_with_another_rubric_is_not(
    labelled: Path, tmp_path: Path
) -> None:
    calibration, results = tmp_path / "calibration.json", tmp_path / "results.json"
    with Provider(words) as provider:
        calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--output", calibration)
        judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
        manifests = []
        for param in ((), ("--param", "llm-judge.rubric=helpfulness")):
            evalsi("eval", "--data", labelled, "--evaluators", "llm-judge", *param, *judge, "--no-cache",
                   "--output", results, variables={"JUDGE_KEY": "test-key"})  # fmt: skip
            run = json.loads(results.read_text("utf-8"))
            prompts = {
                score["metadata"]["prompt_sha256"]
                for result in run["results"]
                for score in result.get("scores", ())
                if "prompt_sha256" in score.get("metadata", {})
            }
            manifests.append((run["manifest"], prompts))
    found = read_calibration(calibration)
    assert why_uncalibrated(manifests[0][0], found, prompts=manifests[0][1]) is None
    assert "rubric = correctness, and ran with helpfulness" in (why_uncalibrated(manifests[1][0], found) or "")


def test_no_evaluator_sees_a_label(tmp_path: Path) -> None:
    seen: list[str] = []

    def listening(request: Request) -> Any:
        seen.append(request.prompt)
        return words(request)

    (tmp_path / "nosy.py").write_text(
        "from evalsi import evaluator\n\n\n@evaluator(version=1)\ndef nosy(record) -> bool:\n"
        "    return not record.has('metadata')\n"
    )
    data = answers(tmp_path, (PASSES, "label-of-people"), (FAILS, "another-label"), key="verdict")
    data.write_text(data.read_text().replace("label-of-people", "pass").replace("another-label", "fail"))
    done = evalsi("calibrate", "--data", data, "--evaluator", "./nosy.py", "--label", "verdict", "--format", "json",
                  cwd=tmp_path)  # fmt: skip
    assert record(done.out)["confusion"]["counts"] == [[1, 0], [1, 0]]
    with Provider(listening) as provider:
        calibrate(provider, "--data", data, *LLM_JUDGE, "--label", "verdict", "--threshold", "0.5")
    assert len(seen) == 2
    assert not [prompt for prompt in seen if "verdict" in prompt.rpartition("Code:")[2]]


# -- other labels --------------------------------------------------------------------------------------------------


def test_grades_of_people_are_compared_step_by_step(tmp_path: Path) -> None:
    grades = [(PASSES, 5), (PASSES, 4), (FAILS, 1), (FAILS, 2), (WRONGLY_PASSES, 1), (PASSES, 5)]
    data = answers(tmp_path, *[(output, {"grade": grade}) for output, grade in grades], key="review")
    with Provider(words) as provider:
        done = calibrate(
            provider, "--data", data, *LLM_JUDGE, "--label", "review.grade", "--label-scale", "1-5", "--format", "json"
        )
    found = record(done.out)
    assert found["label"] == {"name": "review.grade", "compared_as": "steps", "scale": [1.0, 5.0]}
    assert (found["agreement"]["part"], found["agreement"]["whole"]) == (3, 6)
    assert found["bias"]["mean"] == pytest.approx((0.25 - 0.25 + 0.75) / 6)
    assert [(one["human"], one["n"]) for one in found["bias_per_score"]] == [("1", 2), ("2", 1), ("4", 1), ("5", 2)]
    assert found["disagreements"][0]["record_id"] == "r5"
    assert (found["disagreements"][0]["human"], found["disagreements"][0]["judge"]) == ("1", "4")


def test_verdicts_on_two_outputs_have_position_and_length_bias(tmp_path: Path) -> None:
    rows = [
        {"id": "sure", "input": "When?", "output": WRONGLY_PASSES, "baseline": PASSES, "human": "loss"},
        {"id": "place", "input": "When?", "output": PASSES, "baseline": FAILS, "human": "win"},
        {"id": "less", "input": "When?", "output": FAILS, "baseline": WRONGLY_PASSES, "human": "loss"},
    ]
    data = write_jsonl(tmp_path / "pairs.jsonl", rows)
    with Provider(words) as provider:
        done = calibrate(provider, "--data", data, "--evaluator", "pairwise", "--format", "json")
    found = record(done.out)
    assert found["confusion"] == {"categories": ["win", "tie", "loss"], "counts": [[0, 1, 0], [0, 0, 0], [1, 0, 1]]}
    assert (found["position_bias"]["changed"]["part"], found["position_bias"]["changed"]["whole"]) == (1, 3)
    assert found["position_bias"]["toward_first"]["value"] == 1.0
    assert (
        found["length_bias"]["judge"]["for_longer"]["part"],
        found["length_bias"]["judge"]["for_longer"]["whole"],
    ) == (2, 2)
    assert (
        found["length_bias"]["human"]["for_longer"]["part"],
        found["length_bias"]["human"]["for_longer"]["whole"],
    ) == (2, 3)
    assert [one["record_id"] for one in found["disagreements"]] == ["sure", "place"]


def test_an_evaluator_that_asks_no_judge_is_compared_all_the_same(labelled: Path) -> None:
    done = evalsi("calibrate", "--data", labelled, "--evaluator", "contains", "--format", "json")
    found = record(done.out)
    assert (done.code, found["judge"], found["bill"], found["prompts"]) == (0, None, None, [])
    assert found["confusion"]["counts"] == [[4, 1], [0, 2]]


# -- what was not scored -------------------------------------------------------------------------------------------


def test_a_judge_that_fails_on_some_is_told_and_counts_neither_as_agreement_nor_against_it(labelled: Path) -> None:
    def failing(request: Request) -> Any:
        return faults.refusal() if "surely" in request.prompt else words(request)

    with Provider(failing) as provider:
        done = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5")
    assert done.code == 0
    assert "8 records: 6 compared, 1 without a label, 1 failed" in done.out
    assert "5 of 6  in the same category" in done.out
    assert "llm-judge failed on 1 of 7 records" in done.err


def test_where_every_record_fails_there_is_no_figure_but_the_reason_with_its_hint(
    labelled: Path, tmp_path: Path
) -> None:
    output = tmp_path / "calibration.json"
    with Provider(fixed(faults.refusal())) as provider:
        done = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--output", output)
    assert (done.code, done.out) == (1, "")
    assert "error: No record could be compared with llm-judge: 7 failed: " in done.err
    assert not output.exists()


def test_where_every_record_is_skipped_the_reason_is_told(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "labelled.jsonl", [{"output": "a", "human": True}, {"output": "b", "human": False}])
    done = evalsi("calibrate", "--data", data, "--evaluator", "exact-match")
    assert (done.code, done.out) == (1, "")
    assert "No record could be compared with exact-match: 2 skipped: record has no reference." in done.err


# -- nothing is paid for what cannot be compared -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "flags", "code", "told"),
    [
        ([{"output": "a", "hunan": 1}], (), 1, "there is no label 'human'. | Did you mean \"hunan\"? The columns are:"),
        ([{"output": "a", "human": True}, {"output": "b", "human": 4}], (), 1, "The labels are of mixed kinds"),
        ([{"output": "a", "human": 1}, {"output": "b", "human": True}], ("--threshold", "1"), 1, "2 labels are pass"),
        ([], (), 1, "labelled.jsonl has no records."),
        ([{"output": "a", "human": 1}, {"output": "b", "human": 0}], (), 2, "Say from where on it passes: --threshold"),
        ([{"output": "a", "human": 1}, {"output": "b", "human": 5}], (), 1, "the label 5 lies outside of 0 to 1."),
        ([{"output": "a", "human": 1}], ("--label-scale", "five"), 2, "--label-scale is 'five', which is no scale."),
        ([{"output": "a", "human": 1}], ("--label", ""), 2, "--label is empty."),
        ([{"output": "a", "human": 1}], ("--confidence", "95"), 2, "confidence is 95; it must be between 0 and 1."),
        ([{"output": "a", "human": 1}], ("--map", "output=reply"), 1, "no record has the column 'reply'"),
        ([{"output": "a", "human": 1}], ("--output", "absent/x.json"), 1, "No such folder"),
        ([{"output": "a", "human": 1}], ("--output", "labelled.jsonl"), 2, "labelled.jsonl is an input of this"),
        ([{"output": "a", "human": 1}], ("--dataa", "x"), 2, "Did you mean --data?"),
    ],
    ids=range(13),
)  # fmt: skip
def test_what_cannot_be_compared_is_told_before_the_judge_is_asked(
    tmp_path: Path, rows: list[Any], flags: tuple[str, ...], code: int, told: str
) -> None:
    write_jsonl(tmp_path / "labelled.jsonl", rows)
    with Provider(words) as provider:
        judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
        given = ("--data", "labelled.jsonl", *LLM_JUDGE, *judge, *flags)
        done = evalsi("calibrate", *given, cwd=tmp_path, variables={"JUDGE_KEY": "test-key"})
        assert provider.calls == 0
    assert (done.code, done.out) == (code, "")
    assert told.replace(" | ", "\n  ") in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("evaluator", "code", "told"),
    [
        ("exact-mach", 1, 'Did you mean "exact-match"?'),
        ("exact-match,contains", 2, "--evaluator names 2 evaluators. | Name one"),
        ("corpus-bleu", 1, "corpus-bleu gives one score for all records."),
        ("./two.py", 2, "--evaluator names 2 evaluators: one, two."),
        ("llm-judge", 1, "llm-judge needs a judge, but none is configured."),
    ],
)
def test_an_evaluator_that_cannot_be_calibrated_is_told(
    labelled: Path, tmp_path: Path, evaluator: str, code: int, told: str
) -> None:
    (tmp_path / "two.py").write_text(
        "from evalsi import evaluator\n\n\n@evaluator(version=1)\ndef one(record) -> bool:\n    return True\n\n\n"
        "@evaluator(version=1)\ndef two(record) -> bool:\n    return True\n"
    )
    done = evalsi("calibrate", "--data", labelled, "--evaluator", evaluator, cwd=tmp_path)
    assert (done.code, done.out) == (code, "")
    assert told.replace(" | ", "\n  ") in done.err


def test_a_dry_run_foresees_the_calls_and_makes_none(labelled: Path, tmp_path: Path) -> None:
    output = tmp_path / "calibration.json"
    with Provider(words) as provider:
        done = calibrate(
            provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--dry-run", "--output", output
        )
        assert provider.calls == 0
    assert done.code == 0
    assert done.out.startswith("3 calls would be made, 0 answered by the cache;")
    assert not output.exists()


def test_quiet_says_nothing_beside_the_report(labelled: Path) -> None:
    with Provider(words) as provider:
        done = calibrate(provider, "--data", labelled, *LLM_JUDGE, "--threshold", "0.5", "--quiet")
    assert done.err == ""


def test_labels_come_in_on_standard_input_too(labelled: Path) -> None:
    done = evalsi("calibrate", "--data", "-", "--evaluator", "contains", "--limit", "7", stdin=labelled.read_bytes())
    assert "7 records: 6 compared, 1 without a label" in done.out
