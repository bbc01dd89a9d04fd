"""Test binding a Unix socket: private to its user, replacing only a stale one."""

from __future__ import annotations

import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from evalsi_protocol.unix_sockets import bind_unix


@pytest.fixture
def path() -> Iterator[str]:
    """Short enough for a socket, which pytest's own may not be."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"{folder}/pack"


def test_only_its_user_may_connect(path: str) -> None:
    with bind_unix(path):
        assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600


def test_the_socket_of_a_process_that_is_gone_is_taken_over(path: str) -> None:
    bind_unix(path).close()
    with bind_unix(path) as listener:
        listener.listen()
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)


def test_one_at_which_so_many_wait_that_no_more_can_is_in_use(path: str) -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(bind_unix(path))
        listener.listen(0)
        is_full = False
        while not is_full:
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            try:
                client.connect(path)
            except BlockingIOError:
                is_full = True
        with pytest.raises(OSError, match="in use"):
            bind_unix(path)
        assert stat.S_ISSOCK(Path(path).stat().st_mode)


def test_what_is_no_socket_is_left_alone(path: str) -> None:
    Path(path).write_text("mine")
    with pytest.raises(OSError, match="in use"):
        bind_unix(path)
    assert Path(path).read_text() == "mine"
