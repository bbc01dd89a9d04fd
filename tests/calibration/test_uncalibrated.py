"""Whether a calibration holds for a run, and `calibration.json` on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_calibration.calibration_file import read_calibration, write_calibration
from evalsi_calibration.uncalibrated import why_uncalibrated
from evalsi_kernel.errors import ConfigError, OutputError

JUDGE = {"provider": "openai-compatible", "model": "my-judge", "base_url": "http://a/v1", "effort": None}
PARAMS = {"rubric": "correctness", "scale": [1, 5]}


def manifest(*, ref: str = "judge/llm-judge@1", params: Any = PARAMS, **judge: Any) -> dict[str, Any]:
    evaluator = {"name": "grade", "ref": ref, "params": params, "scope": "record"}
    other = {"name": "exact-match", "ref": "core/exact-match@1", "params": {}, "scope": "record"}
    return {"evaluators": [other, evaluator], "judge": {"roles": {"primary": {**JUDGE, **judge}}}}


def calibration(**parts: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "date": "2026-01-02T03:04:05.678+00:00",
        "status": "complete",
        "evaluator": {"name": "llm-judge", "ref": "judge/llm-judge@1", "params": PARAMS},
        "judge": JUDGE,
        "prompts": ["aa"],
        "n": 40,
        "kappa": {"value": 0.7},
        "rank_correlation": None,
        **parts,
    }


# -- whether it holds ----------------------------------------------------------------------------------------------


def test_a_calibration_of_the_same_judge_evaluator_and_params_holds() -> None:
    assert why_uncalibrated(manifest(), calibration()) is None
    assert why_uncalibrated(manifest(), calibration(), evaluator="grade", prompts={"aa"}) is None


def test_another_place_of_the_same_model_changes_nothing() -> None:
    assert why_uncalibrated(manifest(base_url="http://b/v1"), calibration()) is None


def test_a_run_without_a_judge_needs_no_calibration() -> None:
    assert why_uncalibrated({**manifest(), "judge": None}, None) is None
    embedding = {"roles": {"embed": {"model": "e"}}}
    assert why_uncalibrated({**manifest(), "judge": embedding}, None) is None


@pytest.mark.parametrize(
    ("ran", "calibrated", "why"),
    [
        (manifest(), None, "The judge was not calibrated against people."),
        (manifest(model="other"), calibration(), "calibrated with the model my-judge, and other judged."),
        (manifest(provider="anthropic"), calibration(), "the provider openai-compatible, and anthropic judged."),
        (manifest(effort="low"), calibration(), "calibrated with the effort None, and low judged."),
        (manifest(ref="judge/llm-judge@2"), calibration(), "is of judge/llm-judge@1, and judge/llm-judge@2 ran."),
        (manifest(ref="judge/criteria@1"), calibration(), "of judge/llm-judge@1, and this run has no such evaluator."),
        (
            manifest(params={**PARAMS, "rubric": "helpfulness"}),
            calibration(),
            "The judge was calibrated with rubric = correctness, and ran with helpfulness.",
        ),
        (manifest(params={**PARAMS, "threshold": 0.5}), calibration(), "threshold = None, and ran with 0.5."),
        (manifest(), calibration(judge=None), "The calibration asked no judge, and this run did."),
        (manifest(), calibration(status="partial"), "The calibration was stopped before its end."),
        (manifest(), calibration(kappa=None), "The calibration could not tell agreement from chance."),
    ],
    ids=range(11),
)
def test_whatever_differs_is_told_in_a_sentence(ran: Any, calibrated: Any, why: str) -> None:
    found = why_uncalibrated(ran, calibrated)
    assert found is not None
    assert found.endswith(why)


def test_another_prompt_is_told_where_the_hashes_of_the_run_are_at_hand() -> None:
    assert why_uncalibrated(manifest(), calibration(), prompts=["aa", "bb"]) == (
        "The judge was calibrated with another prompt."
    )


def test_an_evaluator_that_is_named_is_the_one_in_question() -> None:
    found = why_uncalibrated(manifest(), calibration(), evaluator="exact-match")
    assert found == "The calibration is of judge/llm-judge@1, and core/exact-match@1 ran."
    assert "no such evaluator" in (why_uncalibrated(manifest(), calibration(), evaluator="absent") or "")


def test_numbers_without_kappa_are_calibrated_by_their_order() -> None:
    assert why_uncalibrated(manifest(), calibration(kappa=None, rank_correlation=0.8)) is None


# -- the file ------------------------------------------------------------------------------------------------------


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text("before")
    write_calibration(path, calibration(prompts=["é"]))
    assert read_calibration(path) == calibration(prompts=["é"])
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.json"]


def test_a_file_that_cannot_be_written_leaves_what_stood_there(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text("before")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_calibration(path, calibration(n=float("nan")))
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["calibration.json"]
    with pytest.raises(OutputError, match="No such folder"):
        write_calibration(tmp_path / "absent" / "calibration.json", calibration())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[]", "is no record of a calibration"),
        ('{"schema_version": 1, "manifest": {}}', "is no record of a calibration"),
        (json.dumps(calibration(evaluator="llm-judge")), "is no record of a calibration"),
        (json.dumps(calibration(schema_version=2)), "is a calibration of version 2, and 1 is the newest"),
        ("[" * 100_000, "is not JSON"),
    ],
    ids=range(6),
)
def test_a_file_that_is_no_calibration_is_an_error(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=told) as caught:
        read_calibration(path)
    assert caught.value.hint


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.json cannot be read: No such file"):
        read_calibration(tmp_path / "absent.json")
