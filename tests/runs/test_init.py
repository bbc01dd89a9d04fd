"""`evalsi init` as a user meets it: what it writes runs at once, offline, and shows what a run can do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalsi_runs.init_command import TEMPLATES
from tests.cli.running import evalsi
from tests.runs.running import results


@pytest.mark.parametrize("template", sorted(TEMPLATES))
def test_what_each_template_writes_runs_offline_and_passes_its_gates(tmp_path: Path, template: str) -> None:
    assert evalsi("init", "--template", template, cwd=tmp_path).code == 0
    assert sorted(path.name for path in (tmp_path / "evals").iterdir()) == sorted(TEMPLATES[template])
    done = evalsi("run", "-f", "evals/run.yaml", "--format", "json", cwd=tmp_path)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["state"], told["verdict"]) == ("succeeded", "pass")
    assert all(one["errors"] == one["skipped"] == 0 for one in told["summaries"])


def test_the_agent_of_the_template_tells_its_steps_and_does_not_answer_alike_each_time(tmp_path: Path) -> None:
    evalsi("init", "--template", "agent", cwd=tmp_path)
    evalsi("run", "-f", "evals/run.yaml", cwd=tmp_path)
    found = results(tmp_path, "agent-1")
    assert all(record["trajectory"]["steps"] for record in found["records"])
    by_metric = {one["metric"]: one["mean"] for one in found["summaries"]}
    assert by_metric["exact-match.pass^3"] < by_metric["exact-match"] < by_metric["exact-match.pass@3"] == 1.0


def test_without_a_template_recorded_answers_are_replayed(tmp_path: Path) -> None:
    evalsi("init", "here", cwd=tmp_path)
    assert "connector: replay" in (tmp_path / "here" / "run.yaml").read_text()


def test_files_that_are_there_are_kept_unless_it_is_forced(tmp_path: Path) -> None:
    (tmp_path / "evals").mkdir()
    mine = tmp_path / "evals" / "agent.py"
    mine.write_text("mine")
    refused = evalsi("init", "--template", "agent", cwd=tmp_path)
    assert (refused.code, mine.read_text()) == (2, "mine")
    assert "evals has agent.py already.\n  Name another folder, or write over them with --force." in refused.err
    assert evalsi("init", "--template", "agent", "--force", cwd=tmp_path).code == 0
    assert mine.read_text() != "mine"


def test_an_unknown_template_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    done = evalsi("init", "--template", "server", cwd=tmp_path)
    assert done.code == 2
    assert "recorded" in done.err
    assert "agent" in done.err
