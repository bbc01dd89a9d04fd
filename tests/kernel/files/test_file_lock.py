"""One holder at a time, a wait with an end, and no trust in a lock file that is gone."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock


def test_a_second_holder_waits_says_so_once_and_gives_up_in_time(tmp_path: Path) -> None:
    said: list[str] = []
    second = exclusive_lock(tmp_path / "lock", timeout_s=0.2, on_wait=lambda: said.append("waiting"))
    with exclusive_lock(tmp_path / "lock", timeout_s=0), pytest.raises(LockTimeout), second:
        pass
    assert said == ["waiting"]


def test_a_lock_is_free_again_after_its_holder_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive_lock(tmp_path / "lock", timeout_s=0):
        raise ZeroDivisionError
    with exclusive_lock(tmp_path / "lock", timeout_s=0):
        pass


def test_who_waited_for_a_file_that_was_removed_locks_the_one_that_others_will_open(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    waits = threading.Event()

    def wait() -> bool:
        with exclusive_lock(path, timeout_s=30, on_wait=waits.set) as descriptor:
            return os.fstat(descriptor).st_ino == path.stat().st_ino

    with ThreadPoolExecutor(1) as pool:
        with exclusive_lock(path, timeout_s=0):
            answer = pool.submit(wait)
            assert waits.wait(30)
            path.unlink()
        assert answer.result(30)
