"""A pack's environment follows from its lock: built once, and whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.packs.environment_plan import plan_environment, read_stamp
from evalsi_kernel.planning.environments import ensure_environment, environment_state, sdk_paths
from evalsi_provisioning.build import build_environment
from evalsi_provisioning.confinement import this_host
from tests.provisioning.environments.pack_folders import ASK, MakePack, called_mark, edit, left_overs, refusal, says
from tests.provisioning.environments.package_index import PackageIndex

# What an environment holds


def test_an_environment_holds_what_the_lock_names_and_no_package_of_the_host(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("msgpack", "words"), "tiny")
    assert says(environment.python, "import msgpack, words; print(words.RED)") == "red"
    assert says(environment.python, "import pydantic") == "ModuleNotFoundError: No module named 'pydantic'"


def test_a_lock_that_takes_the_sdk_by_a_path_that_is_gone_gets_the_hosts_sdk_and_no_kernel(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("evalsi-sdk", "words"), "tiny")
    assert environment.uses_host_sdk
    assert says(environment.python, "import evalsi") == "ModuleNotFoundError: No module named 'evalsi'"
    path = f"import sys; sys.path[:0] = {[str(one) for one in sdk_paths(environment)]!r}; "
    assert says(environment.python, f"{path} import evalsi, words; print(evalsi.__name__)") == "evalsi"
    assert says(environment.python, f"{path} import evalsi_kernel").startswith("ModuleNotFoundError")


def test_a_path_to_the_sdk_may_go_up_further_than_there_are_folders(make_pack: MakePack) -> None:
    pack = make_pack("evalsi-sdk", "words")
    far = 'editable = "' + "../" * 40
    edit(pack / "uv.lock", 'editable = "', far)
    assert far in (pack / "uv.lock").read_text()
    (pack / "pyproject.toml").unlink()
    assert ensure_environment(pack, "tiny").uses_host_sdk


def test_a_lock_that_takes_the_sdk_from_a_registry_keeps_its_own(make_pack: MakePack) -> None:
    environment = ensure_environment(make_pack("evalsi-sdk>=1", "msgpack"), "tiny")
    assert not environment.uses_host_sdk
    assert sdk_paths(environment) == []
    assert says(environment.python, "import evalsi; print(evalsi.ORIGIN)") == "registry"


def test_a_lock_alone_is_enough_as_in_an_unpacked_wheel(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    (pack / "pyproject.toml").unlink()
    assert says(ensure_environment(pack, "tiny").python, "import msgpack; print('there')") == "there"


def test_settings_of_the_packs_own_pyproject_cannot_bend_the_installation(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    with (pack / "pyproject.toml").open("a") as file:
        file.write('[tool.uv]\nno-binary = true\ndefault-groups = ["absent"]\n')
    assert ensure_environment(pack, "tiny").python.exists()


def test_a_project_above_the_cache_is_not_taken_for_the_packs_workspace(make_pack: MakePack, tmp_path: Path) -> None:
    above = '[project]\nname = "above"\nversion = "1"\n[tool.uv.workspace]\nmembers = ["cache/envs/*/project"]\n'
    (tmp_path / "pyproject.toml").write_text(above)
    assert ensure_environment(make_pack("msgpack"), "tiny").python.exists()


def test_scripts_of_an_environment_find_its_python_after_the_rename(make_pack: MakePack, cache: Path) -> None:
    environment = ensure_environment(make_pack("msgpack"), "tiny")
    assert "relocatable = true" in (environment.python.parents[1] / "pyvenv.cfg").read_text()


# Once


def test_a_second_call_builds_nothing_starts_nothing_and_says_nothing(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    first = ensure_environment(pack, "tiny")
    code = f"{ASK}\nprint(sorted(sys.modules.keys() & {{'evalsi_provisioning', 'tomllib', 'pydantic'}}))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(pack)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines() == [f"has {first.key}", "[]"]


def test_packs_with_the_same_lock_share_one_environment(make_pack: MakePack) -> None:
    one = ensure_environment(make_pack("msgpack", name="one"), "one")
    other = ensure_environment(make_pack("msgpack", name="other"), "other")
    assert one == other


def test_progress_is_one_line_at_the_start_and_one_at_the_end(make_pack: MakePack) -> None:
    lines: list[str] = []
    ensure_environment(make_pack("msgpack"), "tiny", on_progress=lines.append)
    assert lines[0] == "building the environment of tiny (first use)…"
    assert lines[1].startswith("built the environment of tiny in ")
    assert len(lines) == 2


@pytest.mark.usefixtures("empty_uv_cache")
def test_of_three_processes_that_race_one_builds_and_the_others_wait_for_it(
    make_pack: MakePack, index: PackageIndex, cache: Path
) -> None:
    pack = make_pack("msgpack")
    reader, writer = os.pipe()
    with index.holding_downloads(), os.fdopen(reader) as lines:
        racers = [subprocess.Popen([sys.executable, "-c", ASK, str(pack)], stdout=writer) for _ in range(3)]
        os.close(writer)
        first = sorted(next(lines).split(" ")[0] for _ in range(3))
        index.released.set()
        rest = list(lines)
    assert [racer.wait(60) for racer in racers] == [0, 0, 0]
    assert first == ["building", "waiting", "waiting"]
    assert len([line for line in rest if line.startswith("built ")]) == 1
    assert len({line for line in rest if line.startswith("has ")}) == 1
    assert left_overs(cache) == []


# Whole or not at all


@pytest.mark.usefixtures("empty_uv_cache")
def test_a_builder_that_is_killed_leaves_a_state_that_the_next_call_builds_from(
    make_pack: MakePack, index: PackageIndex, cache: Path
) -> None:
    pack = make_pack("msgpack")
    lines: list[str] = []

    def on_progress(line: str) -> None:
        lines.append(line)
        # The killed builder's uv still holds the lock, since it still writes; now it may end.
        index.released.set()

    with index.holding_downloads():
        builder = subprocess.Popen([sys.executable, "-c", ASK, str(pack)], stdout=subprocess.DEVNULL)
        assert index.asked.wait(30)
        builder.kill()
        assert builder.wait(30) == -signal.SIGKILL
        assert left_overs(cache) != []
        assert environment_state(pack) == "missing"
        environment = ensure_environment(pack, "tiny", on_progress=on_progress)
    assert [line.split(" ")[0] for line in lines] == ["waiting", "building", "built"]
    assert says(environment.python, "import msgpack; print('there')") == "there"
    assert left_overs(cache) == []


def test_what_a_killed_builder_with_the_same_process_id_left_is_not_in_the_way(
    make_pack: MakePack, cache: Path
) -> None:
    pack = make_pack("msgpack")
    left = cache / "envs" / f".tmp-{plan_environment(pack, 'tiny').key}-{os.getpid()}" / "env" / "bin"
    left.mkdir(parents=True)
    ensure_environment(pack, "tiny")
    assert left_overs(cache) == []


@pytest.mark.parametrize("torn", [None, b"", b'{"lock_sha256": "', b"[]"])
def test_an_environment_without_a_whole_stamp_is_half_built_and_built_again(
    make_pack: MakePack, torn: bytes | None
) -> None:
    pack = make_pack("msgpack")
    stamp = ensure_environment(pack, "tiny").python.parents[1] / ".evalsi-ready"
    stamp.unlink()
    if torn is not None:
        stamp.write_bytes(torn)
    assert environment_state(pack) == "missing"
    lines: list[str] = []
    ensure_environment(pack, "tiny", on_progress=lines.append)
    assert lines[0] == "building the environment of tiny (again)…"
    assert environment_state(pack) == "ready"


def test_an_environment_whose_python_was_removed_is_broken_and_built_again(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    python.unlink()
    python.symlink_to("/nowhere/python")
    assert environment_state(pack) == "broken"
    assert says(ensure_environment(pack, "tiny").python, "print('starts')") == "starts"


def test_an_environment_whose_python_does_not_start_is_built_again_on_request(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    python.unlink()
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    assert environment_state(pack) == "ready", "telling would cost a start each time"
    assert says(ensure_environment(pack, "tiny", rebuild=True).python, "print('starts')") == "starts"


def test_of_two_that_ask_for_a_rebuild_the_second_takes_what_the_first_made(make_pack: MakePack) -> None:
    pack = make_pack("msgpack")
    ensure_environment(pack, "tiny")
    plan = plan_environment(pack, "tiny")
    seen_by_both = read_stamp(plan)
    plan.python.unlink()
    ensure_environment(pack, "tiny", rebuild=True)
    lines: list[str] = []
    stamp = build_environment(plan, unwanted=seen_by_both, on_progress=lines.append, offline=False)
    assert stamp == read_stamp(plan) != seen_by_both
    assert lines == []


def test_a_build_that_fails_leaves_nothing_behind_and_keeps_what_was_there(make_pack: MakePack, cache: Path) -> None:
    pack = make_pack("msgpack", "elsewhere")
    assert refusal(pack).code == "environment.no_wheel"
    assert left_overs(cache) == []
    assert environment_state(pack) == "missing"


@pytest.mark.skipif(not this_host().files, reason="this host has no wall around files")
@pytest.mark.parametrize("variable", ["", "UV_DEFAULT_INDEX"])
def test_nothing_of_a_strangers_wheels_runs_without_walls_while_they_are_installed(
    variable: str, make_pack: MakePack, index: PackageIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setenv(variable, index.url)
    called_mark(index).unlink(missing_ok=True)
    environment = ensure_environment(make_pack("msgpack", "caller"), "tiny")
    assert not called_mark(index).exists()
    assert list(environment.python.parents[1].glob("lib/*/site-packages/msgpack/__pycache__/*.pyc")), (
        "it is compiled all the same"
    )
    # It does run where there are no walls, which a pack's process never is.
    assert says(environment.python, "print('there')") == "there"
    assert called_mark(index).exists()


def test_an_environment_that_does_not_work_is_not_put_in_place(make_pack: MakePack, cache: Path) -> None:
    pack = make_pack("msgpack", "breaker")
    error = refusal(pack)
    assert error.code == "environment.broken"
    assert "msgpack" in error.message
    assert environment_state(pack) == "missing"
    assert left_overs(cache) == []


def test_a_rebuild_that_fails_keeps_the_environment_that_was_there(
    make_pack: MakePack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pack = make_pack("msgpack")
    python = ensure_environment(pack, "tiny").python
    (python.parents[1] / "bin" / "activate").unlink()
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "empty"))
    assert refusal(pack, rebuild=True, offline=True).code == "environment.offline"
    assert says(python, "import msgpack; print('there')") == "there"
