"""The adapter of Inspect end to end: logs read by its own process, its scorers by the kernel, grades from a judge.

That every scorer scores as Inspect does is tested in the adapter's environment; here is what only the kernel shows.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi_cli.main import main
from tests.packs.readme_tables import with_table
from tests.providers import KEY, MODEL, Provider, Request

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "adapters/inspect"
LOGS = FOLDER / "tests/logs"


def grader(request: Request) -> str:
    """A judge that knows that the sum is 5, and says nothing of use on Rome."""
    if "Rome" in request.last_text:
        return "I was never there."
    return "It is right.\nGRADE: C"


def test_a_log_is_scored_again_and_the_scores_of_its_own_scorers_come_out_the_same() -> None:
    result = evalsi.evaluate(f"inspect://{LOGS}/agent.eval", ["inspect/match", "inspect/includes"], quiet=True)
    assert result.status == "complete"
    records = {record["id"]: record for record in result.records}
    compared = 0
    for outcome in result.results:
        foreign = records[outcome["record_id"]]["metadata"]["inspect"].get("scores", {})
        if outcome["outcome"] == "skipped":
            assert (outcome["record_id"], outcome["reason"]) == ("down", "record has no output")
            continue
        (score,) = outcome["scores"]
        assert score["metadata"]["grade"] == foreign[outcome["evaluator"]]["value"]
        compared += 1
    assert compared == 4
    assert result["match"].mean == 0.5


def test_grades_come_from_the_judge_and_a_reply_without_one_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)
    with Provider(grader) as provider:
        judge = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
        result = evalsi.evaluate(
            f"inspect://{LOGS}/agent.json", ["inspect/model-graded-fact"], judge=judge, cache=False, quiet=True
        )
        assert provider.calls == 2
    found = {outcome["record_id"]: outcome for outcome in result.results}
    (score,) = found["sum"]["scores"]
    assert (score["passed"], score["metadata"]["grade"]) == (True, "C")
    assert score["metadata"]["replies"] == [reply["ref"] for reply in result.judge_replies if "right" in str(reply)]
    assert found["7"]["outcome"] == "error"
    assert "Grade not found" in found["7"]["error"]["message"]
    assert found["down"]["outcome"] == "skipped"
    summary = result["model-graded-fact"]
    assert (summary.n, summary.mean, summary.skipped, summary.errors) == (1, 1.0, 1, 1)


def test_epochs_are_clusters_of_their_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "results.json"
    arguments = ["--data", f"{LOGS}/epochs.eval", "--evaluators", "inspect/choice", "--output", str(output)]
    assert main(["eval", *arguments, "--cluster-by", "inspect.sample_id"]) == 0, capsys.readouterr().err
    results: dict[str, Any] = json.loads(output.read_text("utf-8"))
    assert [outcome["scores"][0]["passed"] for outcome in results["results"]] == [True, False]


def test_a_broken_log_ends_with_its_name_and_a_way_to_repair_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    torn = tmp_path / "torn.eval"
    torn.write_bytes((LOGS / "agent.eval").read_bytes()[:-200])
    assert main(["eval", "--data", str(torn), "--evaluators", "inspect/match"]) == 1
    said = capsys.readouterr().err
    assert f"{torn}: torn.eval is no log of Inspect's, or is cut off" in said
    assert "inspect log recover" in said


def test_the_table_of_evaluators_in_the_readme_is_that_of_the_manifest() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    tables = tomllib.loads((FOLDER / "plugin.toml").read_text("utf-8"))
    assert with_table(readme, tables) == readme, "Run: python tests/packs/readme_tables.py --write"
