"""`evalsi plugins`: environments built before they are needed, listed, and removed when nobody wants them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalsi_kernel.files.file_lock import exclusive_lock
from tests.cli.running import evalsi
from tests.provisioning.adding.third_party import write_pack

KEY = "0123456789abcdef"


@pytest.fixture
def envs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    folder = tmp_path / "envs"
    folder.mkdir()
    return folder


def old_environment(envs: Path) -> Path:
    folder = envs / KEY
    folder.mkdir()
    (folder / ".evalsi-ready").write_text(json.dumps({"pack": "acme/old"}))
    (folder / "large").write_bytes(b"x" * 3_000_000)
    return folder


def listed() -> dict[str, dict[str, object]]:
    return {row["pack"]: row for row in json.loads(evalsi("plugins", "list", "--format", "json").out)}


def test_a_pack_is_missing_then_built_and_then_ready(envs: Path) -> None:
    assert listed()["core"]["environment"] == "missing"
    assert listed()["core"]["size_bytes"] is None
    done = evalsi("plugins", "sync", "core")
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert done.out.startswith("ok       core: environment ready, ")
    assert "building the environment of core (first use)" in done.err
    row = listed()["core"]
    assert (row["environment"], row["evaluators"]) == ("ready", 12)
    assert evalsi("plugins", "sync", "core").err == ""
    table = evalsi("plugins", "list").out.splitlines()
    assert table[0].split() == ["pack", "version", "evaluators", "environment", "size"]
    assert "ready" in next(line for line in table if line.startswith("core "))


def test_a_pack_says_of_itself_what_its_manifest_says(envs: Path) -> None:
    done = evalsi("plugins", "doctor", "core")
    assert (done.code, done.out) == (0, "ok       core: starts, and its 12 evaluators agree with plugin.toml\n")


def test_a_pack_that_there_is_not_is_told_with_the_nearest(envs: Path) -> None:
    done = evalsi("plugins", "sync", "cor")
    assert (done.code, done.out) == (1, "")
    assert "Did you mean" in done.err


def test_without_its_packages_an_offline_build_says_so_and_builds_the_others(envs: Path, tmp_path: Path) -> None:
    done = evalsi("plugins", "sync", "core", "text", "--offline", variables={"UV_CACHE_DIR": str(tmp_path / "empty")})
    assert done.code == 1
    assert [line.split()[:2] for line in done.out.splitlines()] == [["problem", "core:"], ["problem", "text:"]]


def test_only_what_nobody_wants_is_removed(envs: Path) -> None:
    evalsi("plugins", "sync", "core")
    (wanted,) = [path for path in envs.iterdir() if path.is_dir()]
    old, left = old_environment(envs), envs / ".tmp-fedcba9876543210-77"
    left.mkdir()
    foreseen = evalsi("plugins", "prune", "--dry-run")
    assert (foreseen.code, old.exists(), left.exists()) == (0, True, True)
    assert "acme/old" in foreseen.out
    assert "2 environments, 3.0 MB would be freed" in foreseen.out
    done = evalsi("plugins", "prune")
    assert done.code == 0
    assert "a build that was not finished" in done.out
    assert [path for path in envs.iterdir() if path.is_dir()] == [wanted]
    assert evalsi("plugins", "prune").out == "nothing to remove\n"


def test_what_another_process_builds_is_left_alone(envs: Path) -> None:
    old = old_environment(envs)
    with exclusive_lock(envs / f"{KEY}.lock", timeout_s=1.0):
        done = evalsi("plugins", "prune")
    assert (done.code, old.exists()) == (1, True)
    assert "another process builds it" in done.out


def test_an_action_is_needed() -> None:
    done = evalsi("plugins")
    assert done.code == 2
    assert "Use add, install, show, update, remove, search, " in done.err
    assert "list, sync, doctor or prune." in done.err


def test_a_long_version_keeps_the_table_straight_and_a_broken_pack_is_told(
    envs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("long", "2026.11.30.dev12"), ("broken", 'x"')):
        write_pack(tmp_path / "packs" / name, f"acme/{name}", version=version)
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(tmp_path / "packs"))
    done = evalsi("plugins", "list")
    assert done.code == 0
    assert len({line.index("missing") for line in done.out.splitlines()[1:]}) == 1
    assert "acme/long  2026.11.30.dev12" in done.out
    assert "packs/broken/plugin.toml" in done.err
    assert "acme/broken" not in done.out
