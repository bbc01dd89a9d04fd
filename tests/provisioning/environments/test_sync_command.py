"""`evalsi plugins sync` where it goes wrong: killed in the middle, twice at once, without a network; and its sizes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.pack_folders import MANIFEST
from tests.cli.running import EVALSI, evalsi
from tests.provisioning.environments.pack_folders import MakePack, left_overs
from tests.provisioning.environments.package_index import PackageIndex

NAME = "acme/tiny"
SYNC = [EVALSI, "plugins", "sync", NAME]
BOUND_S = 60.0


@pytest.fixture(autouse=True)
def pack(make_pack: MakePack, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack that needs `msgpack` and `words`, installed and not built."""
    folder = make_pack("evalsi-sdk", "msgpack", "words", name="tiny")
    (folder / "plugin.toml").write_text(MANIFEST.format(name=NAME, module="tiny", evaluator="red", memory_mb=512))
    monkeypatch.setenv("EVALSI_PLUGIN_PATH", str(folder))
    return folder


def row() -> dict[str, object]:
    found = json.loads(evalsi("plugins", "list", "--format", "json").out)
    return next(one for one in found if one["pack"] == NAME)


def started() -> subprocess.Popen[str]:
    # A group of its own, so that a test can kill it with all that it started, as a power cut does.
    return subprocess.Popen(SYNC, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def wait_for_download(index: PackageIndex, name: str, cache: Path) -> None:
    """Until uv has a wheel in its cache, and has noted where it came from, so that the next build finds it."""
    end = time.monotonic() + BOUND_S
    while not all(list(cache.glob(f"wheels-*/*/*/{name}/{end_of}")) for end_of in ("*.http", "*-any")):
        assert time.monotonic() < end, f"{name} never came; asked for: {index.downloads}"
        os.sched_yield()


@pytest.mark.usefixtures("empty_uv_cache")
def test_a_sync_that_is_killed_in_the_middle_is_taken_up_and_asks_for_nothing_twice(
    index: PackageIndex, cache: Path
) -> None:
    with index.holding_downloads("words"):
        process = started()
        assert index.asked.wait(BOUND_S)
        wait_for_download(index, "msgpack", Path(os.environ["UV_CACHE_DIR"]))
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(BOUND_S) == -signal.SIGKILL
        process.communicate()
        assert row()["environment"] == "missing"
        assert left_overs(cache) != []
    index.downloads.clear()
    done = evalsi("plugins", "sync", NAME)
    assert (done.code, done.out.startswith(f"ok       {NAME}: environment ready")) == (0, True), done.err
    assert [name.partition("-")[0] for name in index.downloads] == ["words"]
    assert row()["environment"] == "ready"
    assert left_overs(cache) == []


@pytest.mark.usefixtures("empty_uv_cache")
def test_of_two_at_once_one_builds_and_the_other_takes_what_it_built(index: PackageIndex, cache: Path) -> None:
    with index.holding_downloads():
        first = started()
        assert index.asked.wait(BOUND_S)
        second = started()
        assert second.stderr is not None
        assert "waiting for another process" in second.stderr.readline()
        index.released.set()
        told = [process.communicate(timeout=BOUND_S) for process in (first, second)]
    assert [process.returncode for process in (first, second)] == [0, 0]
    assert told[0][0] == told[1][0]
    assert told[0][0].startswith(f"ok       {NAME}: environment ready, ")
    assert [said.count("built the environment") for _, said in told] == [1, 0]
    assert left_overs(cache) == []


def test_from_a_warm_cache_it_builds_offline_and_asks_nobody(
    index: PackageIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evalsi("plugins", "sync", NAME).code == 0
    # As on another day, when the environments are gone and the network too.
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "another-cache"))
    index.downloads.clear()
    assert row()["environment"] == "missing"
    done = evalsi("plugins", "sync", NAME, "--offline")
    assert done.code == 0, done.out + done.err
    assert row()["environment"] == "ready"
    assert index.downloads == []


def test_the_size_that_is_shown_is_what_the_folder_takes_on_the_disk(cache: Path) -> None:
    said = evalsi("plugins", "sync", NAME).out
    (folder,) = [path for path in (cache / "envs").iterdir() if path.is_dir()]
    size = sum(os.lstat(path).st_blocks * 512 for path in folder.rglob("*") if not path.is_dir())
    assert size > 0
    assert row()["size_bytes"] == size
    assert f"{size / 1e6:,.1f} MB" in said
    assert evalsi("plugins", "list").out.count(f"{size / 1e6:,.1f} MB") == 1
