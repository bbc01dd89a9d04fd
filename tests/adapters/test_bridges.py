"""T2: a bridge is installed into a project that is on a version of the framework between the tested ends."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import uv

from tests.architecture.distributions import ROOT, Distribution, bridges
from tests.providers import KEY, MODEL, Provider, fixed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

UV = uv.find_uv_bin()
BETWEEN = {"evalsi-inspect-bridge": "inspect-ai==0.3.250", "evalsi-lm-eval-bridge": "lm-eval==0.4.11"}
SCORED = """
import json
from importlib.metadata import version
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from evalsi_inspect_bridge import evalsi_scorer

def answer(text):
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output

samples = [Sample("France?", target="Paris"), Sample("Italy?", target="Rome"), Sample("Without a target")]
model = get_model("mockllm/model", custom_outputs=[answer("Paris") for _ in samples])
(log,) = eval(Task(samples, scorer=evalsi_scorer("exact-match")), model=model, display="none", log_dir="logs")
print(log.status, log.error and log.error.message)
print(version("inspect-ai"), log.results.scores[0].metrics["mean"].value)
"""
TASK = """
task: sums
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"]}
metric_list: [{metric: exact_match}]
"""


def run(*command: str | Path, folder: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**os.environ, "UV_PYTHON_DOWNLOADS": "never", "EVALSI_CACHE_DIR": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels of a release, those of the bridges in `packs/`."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    run(UV, "build", "--quiet", "--all-packages", "--wheel", "--out-dir", folder, folder=ROOT)
    for bridge in bridges():
        run(UV, "build", "--quiet", "--wheel", "--out-dir", folder / "packs", bridge.path, folder=ROOT)
    return folder


def installed(name: str, dist: Path, folder: Path) -> Path:
    """Install a framework, then Evals.si and a bridge from wheels beside it; returns the environment's programs."""
    programs = folder / "environment" / "bin"
    run(UV, "venv", "--quiet", "--python", sys.executable, programs.parent, folder=folder)
    install: list[str | Path] = [UV, "pip", "install", "--quiet", "--python", programs / "python"]
    run(*install, BETWEEN[name], folder=folder)
    before = run(UV, "pip", "freeze", "--python", programs / "python", folder=folder)
    wheels = [*dist.glob("*.whl"), *(dist / "packs").glob(f"{name.replace('-', '_')}-*.whl")]
    run(*install, *wheels, folder=folder)
    after = run(UV, "pip", "freeze", "--python", programs / "python", folder=folder)
    assert set(before.splitlines()) - set(after.splitlines()) == set(), "a package of the project was replaced"
    return programs


def test_t2_a_project_on_another_inspect_scores_with_an_evaluator_and_keeps_its_version(
    dist: Path, tmp_path: Path
) -> None:
    programs = installed("evalsi-inspect-bridge", dist, tmp_path)
    said = run(programs / "python", "-c", SCORED, folder=tmp_path)
    # The sample without a target is skipped, so it is not in the mean.
    assert said.splitlines()[-2:] == ["success None", "0.3.250 0.5"]


def test_t2_a_project_on_another_harness_runs_a_task_with_a_model_and_keeps_its_version(
    dist: Path, tmp_path: Path
) -> None:
    programs = installed("evalsi-lm-eval-bridge", dist, tmp_path)
    (tmp_path / "sums.yaml").write_text(TASK, "utf-8")
    (tmp_path / "sums.jsonl").write_text('{"q": "2 + 2?", "a": "4"}\n{"q": "2 + 3?", "a": "5"}\n', "utf-8")
    with Provider(fixed("4")) as provider:
        model = f"model={MODEL},base_url={provider.base_url},api_key_env=MODEL_KEY"
        words = ["run", "--model", "evalsi", "--model_args", model, "--include_path", ".", "--tasks", "sums"]
        said = run(programs / "evalsi-lm-eval", *words, folder=tmp_path, MODEL_KEY=KEY)
        assert provider.calls == 2
    assert "|exact_match|↑  |  0.5|" in said


@pytest.mark.parametrize("bridge", bridges(), ids=lambda one: one.folder)
def test_t2_a_project_adds_a_bridge_from_a_checkout(bridge: Distribution, tmp_path: Path) -> None:
    name = bridge.project["name"]
    run(UV, "init", "--quiet", "--bare", "--name", "project", "--python", sys.executable, folder=tmp_path)
    run(UV, "add", "--quiet", "--no-sync", BETWEEN[name], ROOT, bridge.path, folder=tmp_path)
    framework, _, version = BETWEEN[name].partition("==")
    assert f'name = "{framework}"\nversion = "{version}"' in (tmp_path / "uv.lock").read_text("utf-8")
