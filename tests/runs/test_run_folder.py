"""Folders of runs: ids that are counted up, one process in each, and nothing written where it is not ours to write."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from threading import Thread

import pytest

from evalsi_kernel.errors import ConfigError, OutputError
from evalsi_kernel.runs.run_folder import RunFolder, all_runs, latest_run, new_run
from evalsi_replies.cache_store import connect
from tests.cli.running import evalsi
from tests.runs.running import run, write_spec


def test_ids_are_counted_up_as_numbers_and_a_name_may_end_in_one(tmp_path: Path) -> None:
    runs = tmp_path / ".evalsi" / "runs"
    for _ in range(11):
        new_run(runs, "a")
    new_run(runs, "a-1")
    assert [run.id for run in all_runs(runs)] == [*(f"a-{number}" for number in range(1, 12)), "a-1-1"]
    latest = latest_run(runs, "a")
    assert latest is not None
    assert latest.id == "a-11"


def test_git_is_told_to_leave_our_own_folder_alone_and_no_other(tmp_path: Path) -> None:
    new_run(tmp_path / ".evalsi" / "runs", "a")
    new_run(tmp_path / "kept", "a")
    assert (tmp_path / ".evalsi" / ".gitignore").read_text() == "*\n"
    assert not (tmp_path / ".gitignore").exists()


def test_a_second_process_is_kept_out_and_told_of_the_first(tmp_path: Path) -> None:
    run = new_run(tmp_path, "a")
    run.lock()
    with pytest.raises(ConfigError, match=f"is being worked on by process {os.getpid()}"):
        RunFolder(run.path).lock()
    run.unlock()
    RunFolder(run.path).lock()


def test_who_only_looks_whether_a_run_is_worked_on_keeps_nobody_out(tmp_path: Path) -> None:
    run = new_run(tmp_path, "a")
    run.lock()
    run.unlock()
    glance = os.open(run.path / "lock", os.O_RDWR)
    fcntl.flock(glance, fcntl.LOCK_SH)
    locking = Thread(target=run.lock)
    locking.start()
    os.close(glance)
    locking.join()
    assert RunFolder(run.path).process_id == os.getpid()
    run.unlock()
    assert RunFolder(run.path).process_id is None


def test_a_folder_that_is_gone_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"a-1 cannot be written: No such file or directory\."):
        RunFolder(tmp_path / "a-1").lock()


def test_a_run_whose_process_has_not_said_which_it_is_cannot_be_cancelled_and_no_other_process_is_hit(
    tmp_path: Path,
) -> None:
    run = new_run(tmp_path, "a")
    run.lock()
    (run.path / "lock").write_text("")
    done = evalsi("runs", "cancel", "a-1", "--runs", tmp_path)
    run.unlock()
    assert done.code == 1
    assert "cannot be told to stop from here" in done.err


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_s12_what_a_run_keeps_is_for_its_user_alone(tmp_path: Path, umask: int) -> None:
    write_spec(tmp_path, {"connector": "command", "command": "cat"})
    before = os.umask(umask)
    try:
        done = run(tmp_path)
    finally:
        os.umask(before)
    assert done.code == 0, done.err
    folder = tmp_path / ".evalsi" / "runs" / "run-1"
    found = {path.name: stat.S_IMODE(path.lstat().st_mode) for path in [folder, *folder.rglob("*")]}
    assert {"run-1", "events", "results.json"} <= found.keys()
    assert {name: mode for name, mode in found.items() if mode & 0o077} == {}


@pytest.mark.parametrize("umask", [0o000, 0o022])
def test_s12_a_cache_of_replies_is_for_its_user_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        folder = tmp_path / "cache"
        folder.mkdir()
        connection = connect(folder / "replies.sqlite")
        connection.execute("create table kept (text)")
        found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        connection.close()
    finally:
        os.umask(before)
    assert "replies.sqlite" in found
    assert {name: mode for name, mode in found.items() if mode & 0o077 and not name.endswith("lock")} == {}
