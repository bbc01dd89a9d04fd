"""Test the JSON and the `--require` flag of `evalsi doctor`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Done, evalsi
from tests.kernel.extension_site import Site
from tests.own_cache import own_cache


def told(done: Done) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(done.out)
    return value


def test_json_has_each_line_as_a_check_and_whether_all_is_well() -> None:
    done = evalsi("doctor", "--format", "json")
    found = told(done)
    assert (done.code, found["required"], found["ready"]) == (0, "sdk", True)
    names = [one["name"] for one in found["checks"]]
    assert names[:3] == ["python", "environments", "cache"]
    assert "pack core" in names
    assert {one["status"] for one in found["checks"]} <= {"ok", "declared", "enforced"}
    lines = evalsi("doctor").out.splitlines()
    assert [line.split(maxsplit=1)[1].split(":")[0] for line in lines] == names


def test_a_problem_is_an_error_with_its_remedy_and_nothing_is_ready(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.write_text("no folder")
    done = evalsi("doctor", "--format", "json", variables={"EVALSI_CACHE_DIR": str(cache)})
    found = told(done)
    assert (done.code, found["ready"]) == (1, False)
    [bad] = [one for one in found["checks"] if one["name"] == "cache"]
    assert bad["status"] == "error"


def test_a_broken_manifest_says_what_to_do_apart_from_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "plugin.toml").write_text("manifest = \n")
    done = evalsi("doctor", "--format", "json", variables={"EVALSI_PLUGIN_PATH": str(tmp_path)})
    [bad] = [one for one in told(done)["checks"] if one["status"] == "error"]
    assert done.code == 1
    assert "is not TOML" in bad["detail"]
    assert bad["remedy"] == "Fix the syntax there."


@pytest.mark.parametrize("capability", ["server", "agent"])
def test_what_is_required_and_not_installed_is_a_problem_that_says_what_else_to_do(capability: str) -> None:
    done = evalsi("doctor", "core", "--require", capability)
    assert done.code == 1
    assert done.out.splitlines()[-1].startswith(f"problem  {capability}: no installed extension provides it. ")
    found = told(evalsi("doctor", "core", "--require", capability, "--format", "json"))
    assert (found["required"], found["ready"]) == (capability, False)


def test_what_is_required_is_there_once_an_extension_brings_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path / "site")
    site.install("serving", provides='commands = { serve = "serve runs" }', code="")
    # What builds environments stays installed: what hides it is taken away.
    shutil.rmtree(site.folder / "evalsi_provisioning-0.dist-info")
    monkeypatch.setenv("PYTHONPATH", str(site.folder))
    monkeypatch.setenv("EVALSI_CACHE_DIR", own_cache(tmp_path / "cache"))
    done = evalsi("doctor", "core", "--require", "server")
    assert done.code == 0, done.out
    assert "ok       server: an installed extension provides evalsi serve" in done.out


def test_the_sdk_is_what_is_required_unless_more_is_named() -> None:
    assert evalsi("doctor", "core", "--require", "sdk").out == evalsi("doctor", "core").out
