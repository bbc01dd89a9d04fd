"""Folders of runs: ids that are counted up, one process in each, and nothing written where it is not ours to write."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from threading import Thread

import pytest

from evalsi_kernel.errors import ConfigError, OutputError
from evalsi_kernel.runs.run_folder import RunFolder, all_runs, latest_run, new_run
from tests.cli.running import evalsi


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
