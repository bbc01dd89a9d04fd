"""A project's evalsi.lock travels with its code, and its packs do not: whoever names one is told how to get it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.running import QA, evalsi
from tests.provisioning.adding.third_party import added, recorded, write_pack
from tests.runs.running import write_spec

TOLD = "The pack acme/style is in evalsi.lock but not installed: run `evalsi plugins add --locked`"


@pytest.fixture
def clone(project: Path, tmp_path: Path) -> Path:
    """A project that has added a pack, without what its version control leaves out."""
    added(write_pack(tmp_path / "style"), project)
    shutil.rmtree(project / ".evalsi")
    return project


@pytest.mark.parametrize("name", ["acme/style/polite", "polite", "acme/polite", "polite@1", "acme/style/rude"])
def test_naming_an_evaluator_of_a_pack_that_is_only_in_the_lock_says_how_to_get_it(name: str, clone: Path) -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", name, cwd=clone)
    assert done.code == 1
    assert "Unknown evaluator" in done.err
    assert TOLD in done.err


def test_a_run_says_so_too_and_so_does_who_names_the_pack(clone: Path) -> None:
    target = {"connector": "python", "function": "./never.py:called"}
    write_spec(clone, target, evaluators=[{"ref": "acme/style/polite"}])
    for words in (["run", "-f", "run.yaml"], ["catalog", "--pack", "acme/style"], ["doctor", "acme/style"]):
        done = evalsi(*words, cwd=clone)
        assert (done.code, TOLD in done.err) == (1, True), done.err


def test_with_the_pack_fetched_it_scores(clone: Path) -> None:
    fetched = evalsi("plugins", "add", "--locked", "--no-start", cwd=clone)
    assert fetched.code == 0, fetched.err
    done = evalsi("eval", "--data", QA, "--evaluators", "acme/style/polite", cwd=clone)
    assert done.code == 0, done.err


def test_a_name_that_no_added_pack_has_is_as_unknown_as_ever(clone: Path) -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "exact-mach", cwd=clone)
    assert (done.code, "Did you mean" in done.err, TOLD in done.err) == (1, True, False)
    assert recorded(clone)
    (clone / "evalsi.lock").write_text("{", "utf-8")
    damaged = evalsi("eval", "--data", QA, "--evaluators", "acme/style/polite", cwd=clone)
    assert (damaged.code, "Unknown evaluator" in damaged.err, "Traceback" in damaged.err) == (1, True, False)
