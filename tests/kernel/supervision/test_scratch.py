"""A pack's scratch folder is its own, goes with it, and is swept by the next start where its kernel was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.supervision.scratch import Scratch, make_scratch

BOUND_S = 30
# A process that makes scratch folders, one for each word, tells them, and waits to be ended.
MAKE = """
import sys
from evalsi_kernel.supervision.scratch import make_scratch
for _ in sys.argv[1:]:
    print(make_scratch().folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def made_elsewhere(count: int) -> tuple[subprocess.Popen[str], list[Path]]:
    """A living process and its scratch folders."""
    words = [sys.executable, "-c", MAKE, *["x"] * count]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, [Path(process.stdout.readline().strip()) for _ in range(count)]


def killed(process: subprocess.Popen[str]) -> None:
    process.kill()
    assert process.wait(BOUND_S) == -signal.SIGKILL
    process.communicate()


def test_a_folder_is_this_user_s_alone_and_nothing_stays_once_it_is_removed(temporary: Path) -> None:
    one, other = make_scratch(), make_scratch()
    assert one.folder != other.folder
    for place in (Path(one.folder), Path(one.folder).parent):
        assert place.stat().st_mode & 0o777 == 0o700
    (Path(one.folder) / "deep").mkdir()
    (Path(one.folder) / "deep" / "file").touch()
    one.remove()
    assert Path(other.folder).is_dir()
    other.remove()
    assert list(temporary.iterdir()) == []


# Whoever plans a run and whoever runs it both end its processes where that fails.
def test_a_folder_that_was_removed_is_removed_again_and_no_file_of_others_is_closed(temporary: Path) -> None:
    scratch = make_scratch()
    scratch.remove()
    with (temporary / "file").open("w") as file:
        scratch.remove()
        file.write("there")
    assert (temporary / "file").read_text() == "there"


def test_what_a_killed_kernel_left_is_gone_with_the_next_start_and_what_a_living_one_has_is_not() -> None:
    dead, left = made_elsewhere(2)
    (left[0] / "deep").mkdir()
    (left[0] / "deep" / "file").touch()
    living, kept = made_elsewhere(2)
    killed(dead)
    own = make_scratch()
    try:
        assert [one.exists() for one in left] == [False, False]
        assert [one.exists() for one in kept] == [True, True]
        make_scratch().remove()
        assert Path(own.folder).exists()
    finally:
        own.remove()
        killed(living)


# Its process's id may belong to somebody else by now, or to nobody here where it runs in another container.
def test_neither_a_name_nor_the_id_of_a_process_says_who_is_alive(temporary: Path) -> None:
    home = temporary / f"evalsi-{os.geteuid()}"
    (home / f"{os.getpid()}-0123").mkdir(parents=True)
    home.chmod(0o700)
    living, [kept] = made_elsewhere(1)
    elsewhere = kept.rename(home / "999999999-0123")
    make_scratch().remove()
    assert [path.name for path in home.iterdir()] == [elsewhere.name]
    killed(living)


def test_many_that_start_and_end_at_once_each_have_a_folder_for_as_long_as_they_need_it() -> None:
    def lives(number: int) -> bool:
        scratch = make_scratch()
        there = Path(scratch.folder).is_dir()
        (Path(scratch.folder) / "file").write_text(str(number))
        scratch.remove()
        return there and not Path(scratch.folder).exists()

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(lives, range(400)))


def test_processes_that_sweep_at_once_each_get_their_folder(temporary: Path) -> None:
    dead, left = made_elsewhere(50)
    killed(dead)
    living = [made_elsewhere(3) for _ in range(4)]
    assert not any(one.exists() for one in left)
    assert all(one.is_dir() for _, folders in living for one in folders)
    for process, _ in living:
        killed(process)
    make_scratch().remove()
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("how", ["link", "open", "file"])
def test_a_place_that_another_user_may_have_made_is_refused(temporary: Path, how: str) -> None:
    home, elsewhere = temporary / f"evalsi-{os.geteuid()}", temporary / "elsewhere"
    elsewhere.mkdir(0o700)
    if how == "link":
        home.symlink_to(elsewhere)
    elif how == "file":
        home.touch(0o600)
    else:
        home.mkdir()
        home.chmod(0o777)
    with pytest.raises(PackEnvironmentError, match="is not a folder of this user alone") as caught:
        make_scratch()
    assert caught.value.code == "environment.scratch"
    assert list(elsewhere.iterdir()) == []


def test_a_temporary_folder_that_is_not_there_is_told(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(temporary / "gone"))
    with pytest.raises(PackEnvironmentError, match=r"Cannot create a scratch folder in .*/gone: No such file"):
        make_scratch()


def test_links_within_a_left_folder_lead_nowhere(temporary: Path) -> None:
    precious = temporary / "precious"
    precious.mkdir()
    (precious / "file").touch()
    dead, [left] = made_elsewhere(1)
    (left / "link").symlink_to(precious)
    (left.parent / "link").symlink_to(precious)
    killed(dead)
    scratch: Scratch = make_scratch()
    scratch.remove()
    assert not left.exists()
    assert (precious / "file").exists()
