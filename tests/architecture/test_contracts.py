"""Every distribution stands under the import contracts and the type checker; none is forgotten when one is added."""

import re
from typing import Any

import pytest

from tests.architecture.distributions import ROOT, Distribution, bridges, distributions, packs, read_toml

TOOLS: dict[str, Any] = read_toml(ROOT / "pyproject.toml")["tool"]
CONTRACTS: dict[str, dict[str, Any]] = {one["id"]: one for one in TOOLS["importlinter"]["contracts"]}
PACKAGES = {one.package for one in distributions()}


def test_every_distribution_is_a_root_package_of_the_import_contracts() -> None:
    assert set(TOOLS["importlinter"]["root_packages"]) == PACKAGES


def test_the_layers_name_every_distribution_exactly_once() -> None:
    named = [name.strip() for layer in CONTRACTS["layers"]["layers"] for name in re.split(r"[|:]", layer)]
    assert sorted(named) == sorted(PACKAGES)


def test_packs_and_extensions_stand_in_the_top_layer_and_do_not_know_one_another() -> None:
    top = CONTRACTS["layers"]["layers"][0]
    assert ":" not in top, "a colon would let siblings of a layer import one another"
    middle_and_below = {"evalsi_kernel", "evalsi", "evalsi_conformance", "evalsi_protocol"}
    assert {name.strip() for name in top.split("|")} == PACKAGES - middle_and_below


def test_every_pack_and_bridge_is_kept_from_the_protocol_the_kernel_and_the_hosts() -> None:
    contract = CONTRACTS["packs"]
    kept = {one.package for one in [*packs(), *bridges()]}
    assert set(contract["source_modules"]) == kept
    assert set(contract["forbidden_modules"]) == PACKAGES - kept - {"evalsi"}


def test_the_command_and_every_extension_are_kept_from_the_sdk() -> None:
    hosts = {
        one.package for one in distributions() if one.folder == "cli" or one.folder.startswith("plugins/extensions/")
    }
    assert set(CONTRACTS["hosts"]["source_modules"]) == hosts
    assert CONTRACTS["hosts"]["forbidden_modules"] == ["evalsi"]


def test_no_distribution_may_have_an_import_cycle() -> None:
    assert set(CONTRACTS["cycles"]["ancestors"]) == PACKAGES


@pytest.mark.parametrize("distribution", distributions(), ids=lambda one: one.folder)
def test_the_type_checker_sees_the_source_of_every_distribution(distribution: Distribution) -> None:
    assert f"$MYPY_CONFIG_FILE_DIR/{distribution.folder}/src" in TOOLS["mypy"]["mypy_path"]
    assert any((ROOT / distribution.folder / "src") in ROOT.glob(pattern) for pattern in TOOLS["mypy"]["files"])


def test_every_workspace_member_is_taken_from_the_workspace_and_never_from_an_index() -> None:
    members = {one.project["name"] for one in distributions() if one.is_member}
    sources = TOOLS["uv"]["sources"]
    assert {name for name, source in sources.items() if source == {"workspace": True}} == members
