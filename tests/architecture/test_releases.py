"""Releases and CI: the version comes from one place, the workflow has its form, and each verb that it runs exists."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.architecture.distributions import ROOT

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"ci_{name}", ROOT / ".ci" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_setting_the_version_leaves_the_old_one_nowhere() -> None:
    version = script("version")
    old = version.current()
    places = version.places()
    assert len(places) > 30
    for place in places:
        left = version.replaced(place.read_text("utf-8"), old, "99.0.0")
        assert re.findall(rf"evalsi[a-z-]*(?:\[[a-z,]+\])?=={re.escape(old)}", left) == []
        assert f'version = "{old}"' not in left


@pytest.mark.parametrize("word", ["0.5", "v0.5.0", "0.5.0-rc1", ""])
def test_a_version_in_another_form_is_refused_and_nothing_is_written(word: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / ".ci" / "version.py", word], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert script("version").current() != word


def test_the_workflow_has_the_form_that_its_system_reads() -> None:
    check = Path(sys.executable).with_name("check-jsonschema")
    done = subprocess.run(
        [check, "--builtin-schema", "vendor.github-workflows", str(WORKFLOW)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_each_verb_that_the_workflow_runs_exists() -> None:
    workflow = WORKFLOW.read_text("utf-8")
    verbs = set(re.findall(r"just ([a-z-]+)", workflow))
    for line in re.findall(r"verb: \[([^\]]+)\]", workflow):
        verbs |= {verb.strip() for verb in line.split(",")}
    recipes = set(re.findall(r"^([a-z-]+)(?: [^:=]*)?:", (ROOT / "justfile").read_text("utf-8"), re.MULTILINE))
    assert verbs - recipes == set()
    assert verbs >= {"check", "site", "coverage", "test-packs", "test-wheels", "test-walks", "test-adapters"}
