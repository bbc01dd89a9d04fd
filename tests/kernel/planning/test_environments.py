"""An environment that is there is found from files alone; one that is not is asked of an extension, or is an error."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.packs.environment_plan import STAMP, plan_environment
from evalsi_kernel.planning.environments import ensure_environment, environment_state
from tests.kernel.extension_site import Site

BUILDER = """
import json
from evalsi_kernel.packs.environment_plan import STAMP, read_stamp
from evalsi_kernel.hooks import hookimpl


class Builder:
    def build(self, plan, *, unwanted, on_progress, offline):
        on_progress(f"makes {plan.pack}, unwanted: {unwanted is not None}, offline: {offline}")
        plan.python.parent.mkdir(parents=True, exist_ok=True)
        plan.python.write_text("#!/bin/sh")
        plan.python.chmod(0o755)
        (plan.folder / plan.agreement).touch()
        fields = {"lock_sha256": plan.lock_sha256, "uses_host_sdk": False}
        (plan.folder / STAMP).write_text(json.dumps(fields))
        return read_stamp(plan)

    def about(self):
        return "made by hand"


@hookimpl
def evalsi_environment_builder():
    return Builder()
"""
FIND = """
import sys
from pathlib import Path
from evalsi_kernel.planning.environments import ensure_environment
print(ensure_environment(Path(sys.argv[1]), "tiny").key)
print([name for name in sys.modules if name.startswith("evalsi_kernel.extension") or name in ("pluggy", "tomllib")])
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A host with no extension but those that a test installs, and a cache of its own."""
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    return site


@pytest.fixture
def pack(tmp_path: Path, site: Site) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "uv.lock").write_text("version = 1")
    (folder / "pyproject.toml").write_text("[project]")
    return folder


def build_by_hand(pack: Path) -> None:
    """Leave what a builder leaves."""
    plan = plan_environment(pack, "tiny")
    plan.python.parent.mkdir(parents=True)
    plan.python.symlink_to(sys.executable)
    assert plan.agreement is not None
    (plan.folder / plan.agreement).touch()
    (plan.folder / STAMP).write_text(json.dumps({"lock_sha256": plan.lock_sha256, "uses_host_sdk": True}))


def test_an_environment_that_is_there_is_found_without_any_extension(pack: Path) -> None:
    build_by_hand(pack)
    assert environment_state(pack) == "ready"
    found = ensure_environment(pack, "tiny")
    assert found.uses_host_sdk
    assert found.python == plan_environment(pack, "tiny").python


def test_what_finds_an_environment_loads_nothing_of_extensions(pack: Path) -> None:
    build_by_hand(pack)
    done = subprocess.run(
        [sys.executable, "-c", FIND, str(pack)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [plan_environment(pack, "tiny").key, "[]"]


@pytest.mark.parametrize("rebuild", [False, True])
def test_one_that_is_not_there_is_an_error_where_nothing_builds_any(pack: Path, rebuild: bool) -> None:
    if rebuild:
        build_by_hand(pack)
    with pytest.raises(PackEnvironmentError, match="environment of the pack tiny is not ready") as caught:
        ensure_environment(pack, "tiny", rebuild=rebuild)
    assert caught.value.code == "environment.no_builder"
    assert caught.value.hint == "Install it: pip install 'evalsi-provisioning'"


def test_one_whose_pyproject_changed_since_is_not_taken_unchecked(pack: Path) -> None:
    build_by_hand(pack)
    (pack / "pyproject.toml").write_text('[project]\nname = "changed"\n')
    with pytest.raises(PackEnvironmentError) as caught:
        ensure_environment(pack, "tiny")
    assert caught.value.code == "environment.no_builder"


def test_any_installed_extension_may_build_them(pack: Path, site: Site) -> None:
    site.install("maker", provides="environments = true", code=BUILDER)
    lines: list[str] = []
    first = ensure_environment(pack, "tiny", on_progress=lines.append, offline=True)
    assert not first.uses_host_sdk
    assert ensure_environment(pack, "tiny", on_progress=lines.append) == first
    assert ensure_environment(pack, "tiny", on_progress=lines.append, rebuild=True) == first
    assert lines == ["makes tiny, unwanted: False, offline: True", "makes tiny, unwanted: True, offline: False"]
