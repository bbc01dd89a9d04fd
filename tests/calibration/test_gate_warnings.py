"""A gate on a judge that nobody held against people warns; the kernel asks without knowing who answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evalsi_kernel.extensions.hook_calls import gate_warnings
from evalsi_kernel.extensions.installed import default_extensions
from tests.calibration.test_uncalibrated import JUDGE, PARAMS, calibration
from tests.providers import MODEL, Provider, fixed
from tests.runs.running import MODEL_KEY, model_of, run, write_spec

GRADE = {"name": "grade", "ref": "judge/llm-judge@1", "params": PARAMS, "scope": "record", "asks": ["judge"]}
EXACT = {"name": "exact-match", "ref": "core/exact-match@1", "params": {}, "scope": "record", "asks": []}


def warned(folder: Path, *gated: dict[str, Any], judge: dict[str, Any] | None = JUDGE) -> list[str]:
    return gate_warnings(gated or (GRADE,), judge, folder, default_extensions())


def keep(folder: Path, name: str = "calibration.json", **parts: Any) -> None:
    (folder / name).write_text(json.dumps(calibration(**parts)))


def test_a_gate_on_a_judge_without_a_calibration_warns_and_says_what_to_run(tmp_path: Path) -> None:
    (warning,) = warned(tmp_path, GRADE, EXACT)
    assert warning.startswith("A gate rests on grade, and no calibration*.json beside the spec holds for it. ")
    assert "The judge was not calibrated against people." in warning
    assert "Run: evalsi calibrate --evaluator grade" in warning


def test_a_gate_without_a_judge_does_not_warn(tmp_path: Path) -> None:
    assert warned(tmp_path, EXACT) == []
    assert warned(tmp_path, GRADE, judge=None) == []


def test_a_calibration_that_holds_silences_it_whatever_else_lies_beside_it(tmp_path: Path) -> None:
    keep(tmp_path)
    keep(tmp_path, "calibration-low.json", judge={**JUDGE, "effort": "low"})
    assert warned(tmp_path) == []
    assert warned(tmp_path, {**GRADE, "prompts": ["aa"]}) == []


def test_one_that_does_not_hold_says_why(tmp_path: Path) -> None:
    keep(tmp_path, judge={**JUDGE, "model": "older"})
    assert "calibrated with the model older, and my-judge judged." in warned(tmp_path)[0]
    keep(tmp_path)
    assert "The judge was calibrated with another prompt." in warned(tmp_path, {**GRADE, "prompts": ["bb"]})[0]
    other = {"name": "llm-judge", "ref": "judge/criteria@1", "params": PARAMS}
    keep(tmp_path, evaluator=other)
    assert "The judge was not calibrated against people." in warned(tmp_path)[0]


def test_a_file_that_is_no_calibration_is_told_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "calibration.json").write_text("{")
    told, missing = warned(tmp_path)
    assert "calibration.json is not JSON" in told
    assert missing.startswith("A gate rests on grade")


def test_a_run_whose_gate_rests_on_a_judge_warns_until_a_calibration_of_it_lies_beside_the_spec(tmp_path: Path) -> None:
    def warned_by_a_run(number: int) -> bool:
        judge = ["--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", MODEL_KEY]
        done = run(
            tmp_path, *judge, "--output", f"{number}.json", variables={"EVALSI_CACHE_DIR": str(tmp_path / "cache")}
        )
        assert done.code == 0, done.err
        return "A gate rests on llm-judge, and no calibration*.json beside the spec holds for it." in done.err

    with Provider(fixed('{"reason": "It is right.", "score": 5}')) as provider:
        gates = [{"metric": "llm-judge", "min": 0.5}]
        write_spec(tmp_path, model_of(provider), evaluators=[{"ref": "llm-judge"}], gates=gates)
        assert warned_by_a_run(1)
        manifest = json.loads((tmp_path / "1.json").read_text())["manifest"]
        [ran] = manifest["evaluators"]
        judge = manifest["judge"]["roles"]["primary"]
        keep(tmp_path, evaluator=ran, judge=judge, prompts=ran["prompts"])
        assert not warned_by_a_run(2)
        keep(tmp_path, evaluator=ran, judge=judge, prompts=["another"])
        assert warned_by_a_run(3)
