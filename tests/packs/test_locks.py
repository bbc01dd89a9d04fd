"""Every package that a pack's lock names can be installed without building it: environments take wheels alone."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted([*ROOT.glob("plugins/packs/*/uv.lock"), *ROOT.glob("adapters/*/uv.lock")])


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.parent.name)
def test_every_package_of_a_lock_has_a_wheel(lock: Path) -> None:
    packages = tomllib.loads(lock.read_text("utf-8"))["package"]
    fetched = [package for package in packages if "registry" in package["source"]]
    assert fetched != []
    assert [package["name"] for package in fetched if not package.get("wheels")] == []
