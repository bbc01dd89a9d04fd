"""The workflows of examples/ci: of the form that their systems read, and their shell steps run here as written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.ci_examples.steps import CI, Ran, document, run_steps
from tests.providers import KEY, Provider, Request

KEY_NAME = "ANTHROPIC_API_KEY"
MODEL = "claude-opus-5-5"
CAPITALS = {"Portugal": "Lisbon", "Kenya": "Nairobi", "Peru": "Lima", "Norway": "Oslo"}


def answer(request: Request) -> Any:
    """The capital that is asked for; as a judge, that it is right."""
    if request.schema is not None:
        return {"reason": "It is the capital.", "score": 5}
    return next(capital for country, capital in CAPITALS.items() if country in request.prompt)


@pytest.fixture
def vendor() -> Iterator[Provider]:
    with Provider(answer, models={MODEL}) as provider:
        yield provider


def project(folder: Path, vendor: Provider, least: float = 0.9, wrong: str = "") -> Path:
    """A repository's evals."""
    evals = folder / "evals"
    evals.mkdir(parents=True)
    rows = [
        {
            "id": country,
            "question": f"What is the capital of {country}?",
            "answer": "Paris" if country == wrong else capital,
        }
        for country, capital in CAPITALS.items()
    ]
    (evals / "qa.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    spec = {
        "target": {
            "connector": "anthropic",
            "model": MODEL,
            "base_url": vendor.root_url,
            "max_tokens": 64,
            "api_key_env": KEY_NAME,
        },
        "dataset": {"path": "qa.jsonl", "mapping": {"input": "question", "reference": "answer"}},
        "evaluators": [{"ref": "exact-match"}, {"ref": "llm-judge", "params": {"rubric": "correctness"}}],
        "gates": [{"metric": "exact-match", "min": least}],
    }
    (evals / "run.yaml").write_text(json.dumps({"metadata": {"name": "evals"}, "spec": spec}))
    return folder


def variables(vendor: Provider, folder: Path) -> dict[str, str]:
    return {
        KEY_NAME: KEY,
        # At the provider's own address the key is found by itself; here a stranger plays the provider.
        "EVALSI_JUDGE_BASE_URL": vendor.root_url,
        "EVALSI_JUDGE_API_KEY_ENV": KEY_NAME,
        "RUNNER_TEMP": str(folder),
    }


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ("vendor.github-workflows", "github-embedded.yml"),
        ("vendor.github-workflows", "github-compare.yml"),
        ("vendor.github-workflows", "github-comment.yml"),
        ("vendor.github-actions", "evalsi-action/action.yml"),
        ("vendor.gitlab-ci", "gitlab-ci.yml"),
    ],
)
def test_an_example_has_the_form_that_its_system_reads(schema: str, name: str) -> None:
    words = ["--builtin-schema", schema, str(CI / name)]
    if schema == "vendor.gitlab-ci":
        words += ["--data-transform", "gitlab-ci"]
    check = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run([check, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout


def test_a_workflow_asks_for_no_more_than_it_needs_and_leaves_forks_without_secrets() -> None:
    for name, writes in (
        ("github-embedded.yml", {}),
        ("github-compare.yml", {}),
        ("github-comment.yml", {"pull-requests": "write"}),
    ):
        workflow = document(name)
        assert workflow["permissions"] == {"contents": "read", **writes}
        for job in workflow["jobs"].values():
            assert "head.repo.full_name == github.repository" in job["if"]


def test_recipe_a_passes_and_shows_its_report(tmp_path: Path, vendor: Provider) -> None:
    steps = document("github-embedded.yml")["jobs"]["evals"]["steps"]
    values = {"secrets.ANTHROPIC_API_KEY": KEY}
    ran = run_steps(steps, project(tmp_path, vendor), values, variables(vendor, tmp_path))
    assert ran.code == 0, ran.out
    assert "exact-match" in ran.summary
    for name in ("results.json", "report.md", "report.html"):
        assert (tmp_path / name).stat().st_size > 0


def test_recipe_a_fails_on_a_failed_gate_and_still_shows_its_report(tmp_path: Path, vendor: Provider) -> None:
    steps = document("github-embedded.yml")["jobs"]["evals"]["steps"]
    folder = project(tmp_path, vendor, wrong="Peru")
    ran = run_steps(steps, folder, {"secrets.ANTHROPIC_API_KEY": KEY}, variables(vendor, tmp_path))
    assert ran.code == 3
    assert "must be at least 0.9" in ran.summary


def stand_in_for_gh(folder: Path) -> str:
    """A path that begins with a `gh` which notes its words and the file that it is given; returns the path."""
    gh = folder / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(
        '#!/bin/sh\nset -e\necho "$GH_TOKEN: $*" > said.txt\n'
        'while [ "$1" != --body-file ]; do shift; done\ncp "$2" comment.md\n'
    )
    gh.chmod(0o755)
    return f"{gh.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize(("wrong", "code"), [("", 0), ("Peru", 3)])
def test_the_report_becomes_the_comment_of_a_pull_request_also_where_a_gate_fails(
    tmp_path: Path, vendor: Provider, wrong: str, code: int
) -> None:
    ran = commented(project(tmp_path / "here", vendor, wrong=wrong), vendor, tmp_path)
    assert ran.code == code, ran.out
    comment = (tmp_path / "here" / "comment.md").read_text("utf-8")
    assert comment == (tmp_path / "here" / "report.md").read_text("utf-8")
    assert ("must be at least 0.9" in comment) == bool(wrong)
    said = (tmp_path / "here" / "said.txt").read_text()
    assert said == "a-token: pr comment 17 --edit-last --create-if-none --body-file report.md\n"


def test_a_comment_says_so_where_there_is_no_report(tmp_path: Path, vendor: Provider) -> None:
    folder = project(tmp_path / "here", vendor)
    (folder / "evals" / "run.yaml").write_text("spec: {}")
    assert commented(folder, vendor, tmp_path).code == 1
    assert "No report was produced" in (folder / "comment.md").read_text()


def commented(folder: Path, vendor: Provider, beside: Path) -> Ran:
    """The job of github-comment.yml, run in a folder."""
    steps = document("github-comment.yml")["jobs"]["evals"]["steps"]
    values = {
        "secrets.ANTHROPIC_API_KEY": KEY,
        "github.token": "a-token",
        "github.event.pull_request.number": "17",
    }
    return run_steps(steps, folder, values, variables(vendor, beside) | {"PATH": stand_in_for_gh(beside)})


def test_a_pull_request_is_compared_with_its_base_without_a_server(tmp_path: Path, vendor: Provider) -> None:
    folder = project(tmp_path / "here", vendor)
    spec = folder / "evals" / "run.yaml"
    spec.write_text(spec.read_text().replace(', {"ref": "llm-judge", "params": {"rubric": "correctness"}}', ""))
    base = commit(folder)
    spec.write_text(spec.read_text().replace('"max_tokens": 64', '"max_tokens": 65'))
    commit(folder)
    steps = document("github-compare.yml")["jobs"]["compare"]["steps"]
    ran = run_steps(
        steps,
        folder,
        {"github.event.pull_request.base.sha": base, "runner.temp": str(tmp_path)},
        variables(vendor, tmp_path),
    )
    assert ran.code == 0, ran.out
    assert "exact-match" in ran.summary
    assert "max_tokens" in ran.summary


def test_the_action_gives_its_verdict_and_fails_on_a_regression(tmp_path: Path, vendor: Provider) -> None:
    action = document("evalsi-action/action.yml")
    inputs = {f"inputs.{name}": str(one.get("default", "")) for name, one in action["inputs"].items()}
    inputs |= {
        "inputs.spec": "evals/run.yaml",
        "inputs.args": f"--judge-provider anthropic --judge-model {MODEL}",
        "inputs.install": "",
    }
    folder = project(tmp_path, vendor, wrong="Peru")
    ran = run_steps(action["runs"]["steps"], folder, inputs, variables(vendor, tmp_path))
    assert ran.code == 3
    assert ran.outputs["steps.run.outputs.verdict"] == "fail"
    results = folder / ran.outputs["steps.run.outputs.results"]
    assert json.loads(results.read_text())["verdict"] == "fail"
    inputs["inputs.baseline"] = str(shutil.copy(results, tmp_path / "base.json"))
    again = run_steps(action["runs"]["steps"], folder, inputs, variables(vendor, tmp_path))
    assert again.code == 3
    assert (folder / "eval-report" / "compare.md").stat().st_size > 0


def test_the_job_for_gitlab_gates_and_leaves_a_report_that_it_shows(tmp_path: Path, vendor: Provider) -> None:
    job = document("gitlab-ci.yml")["evals"]
    scripts = [{"run": line} for line in job["script"]]
    afterwards = [{"run": line, "if": "always()"} for line in job["after_script"]]
    ran = run_steps([*scripts, *afterwards], project(tmp_path, vendor, wrong="Peru"), {}, variables(vendor, tmp_path))
    assert ran.code == 3
    assert ElementTree.parse(tmp_path / "report.junit.xml").getroot().tag in ("testsuites", "testsuite")


def commit(folder: Path) -> str:
    """Commit all; returns the commit."""

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        return done.stdout.strip()

    if not (folder / ".git").exists():
        git("init", "-q")
    git("add", "evals")
    git("commit", "-qm", "evals")
    return git("rev-parse", "HEAD")
