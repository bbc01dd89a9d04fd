"""The top of the tree, the parts a pack must have, and the commands that the README, CI and the verbs share."""

import subprocess

import pytest

from tests.architecture.distributions import ROOT, Distribution, packs, read_toml

FOLDERS = {
    "protocol", "sdk", "kernel", "cli", "plugins", "adapters",
    "examples", "tests", "docs", "benchmarks", "deploy", "changelog.d", ".ci", ".github",
}  # fmt: skip
FILES = {
    "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "LICENSE",
    "pyproject.toml", "uv.lock", "justfile", ".gitignore", ".gitattributes", ".pre-commit-config.yaml",
}  # fmt: skip
RUNS_THE_TESTS = "uv run pytest"


def test_nothing_stands_at_the_top_but_what_the_design_names() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    if tracked.returncode != 0:
        pytest.skip("not a git checkout, so there is no list of what belongs to the tree")
    paths = [path for path in tracked.stdout.split("\0") if path]
    folders = {path.partition("/")[0] for path in paths if "/" in path}
    files = {path for path in paths if "/" not in path}
    assert folders - FOLDERS == set()
    assert files - FILES == set()


@pytest.mark.parametrize("pack", packs(), ids=lambda one: one.folder)
@pytest.mark.parametrize("part", ["plugin.toml", "pyproject.toml", "uv.lock", "README.md", "src", "tests"])
def test_a_pack_has_a_manifest_a_lock_of_its_own_tests_and_a_readme(pack: Distribution, part: str) -> None:
    assert (pack.path / part).exists()


@pytest.mark.parametrize("pack", packs(), ids=lambda one: one.folder)
def test_a_pack_is_no_member_of_the_workspace(pack: Distribution) -> None:
    members = read_toml(ROOT / "uv.lock")["manifest"]["members"]
    assert pack.project["name"] not in members


def test_ci_runs_the_checks_and_the_test_command_of_the_readme() -> None:
    ci = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert RUNS_THE_TESTS in (ROOT / "README.md").read_text(encoding="utf-8")
    assert RUNS_THE_TESTS in ci
    assert "just check" in ci
