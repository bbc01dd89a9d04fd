"""T2: a bridge joins projects on a range of its framework's versions, and its tests run at both ends of that range."""

from __future__ import annotations

import re
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from tests.architecture.distributions import ROOT, Distribution, bridges, read_toml

EACH = pytest.mark.parametrize("bridge", bridges(), ids=lambda one: one.folder)


def framework(bridge: Distribution) -> Requirement:
    """The framework as the adapter requires it, in one exact version."""
    requirements = map(Requirement, read_toml(bridge.path.parent / "pyproject.toml")["project"]["dependencies"])
    names = {Requirement(line).name for line in bridge.project["dependencies"]} - {"anyio"}
    (found,) = [one for one in requirements if one.name in names and not one.name.startswith("evalsi")]
    return found


def only_version(requirement: Requirement) -> Version:
    (specifier,) = requirement.specifier
    assert specifier.operator == "=="
    return Version(specifier.version)


def version_at(bridge: Distribution, end: str) -> Version:
    """The version of the framework that the tests use at one end of the range."""
    groups: dict[str, Any] = read_toml(bridge.path / "pyproject.toml")["dependency-groups"]
    (line,) = groups[end]
    return only_version(Requirement(line))


def test_t2_both_frameworks_that_call_evalsi_have_a_bridge() -> None:
    assert [one.folder for one in bridges()] == ["adapters/inspect/bridge", "adapters/lm_eval/bridge"]


@EACH
def test_t2_the_range_begins_at_the_lowest_tested_version_and_is_open_to_newer_ones(bridge: Distribution) -> None:
    name = framework(bridge).name
    (declared,) = [one for one in map(Requirement, bridge.project["dependencies"]) if one.name == name]
    assert {one.operator for one in declared.specifier} == {">=", "<"}
    (lowest,) = [Version(one.version) for one in declared.specifier if one.operator == ">="]
    assert version_at(bridge, "lowest") == lowest
    newest = version_at(bridge, "newest")
    assert f"{newest.major}.{newest.minor}.{newest.micro + 1000}" in declared.specifier


@EACH
def test_t2_the_newest_tested_version_is_the_one_that_the_adapter_has(bridge: Distribution) -> None:
    assert version_at(bridge, "newest") == only_version(framework(bridge))
    assert version_at(bridge, "lowest") < version_at(bridge, "newest")


@EACH
def test_t2_the_lock_of_a_bridge_holds_both_ends(bridge: Distribution) -> None:
    name = framework(bridge).name
    locked = {Version(one["version"]) for one in read_toml(bridge.path / "uv.lock")["package"] if one["name"] == name}
    assert locked >= {version_at(bridge, "lowest"), version_at(bridge, "newest")}


@EACH
def test_t2_an_adapter_no_longer_holds_what_its_bridge_does(bridge: Distribution) -> None:
    imports = re.compile(r"evalsi\.(evaluate|complete)\b|\bbridge\b")
    sources = [path for path in (bridge.path.parent / "src").rglob("*.py") if imports.search(path.read_text("utf-8"))]
    assert sources == []


@EACH
def test_t2_the_pages_name_the_range(bridge: Distribution) -> None:
    lowest = str(version_at(bridge, "lowest"))
    pages = [bridge.path / "README.md", ROOT / "docs" / "how-to" / "use-evaluators-in-inspect-and-lm-eval.md"]
    assert [page for page in pages if lowest not in page.read_text("utf-8")] == []
    assert str(version_at(bridge, "newest")) in pages[0].read_text("utf-8")


@EACH
@pytest.mark.parametrize("part", ["pyproject.toml", "uv.lock", "README.md", "src", "tests"])
def test_a_bridge_has_a_lock_a_readme_and_tests_and_is_no_pack(bridge: Distribution, part: str) -> None:
    assert (bridge.path / part).exists()
    assert not (bridge.path / "plugin.toml").exists()
