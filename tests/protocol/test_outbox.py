"""Test the SDK's outbox: order, backpressure, and a reader that never blocks."""

from __future__ import annotations

import threading

import pytest

from evalsi.outbox import ROOM, Outbox

BOUND_S = 60.0


def put(outbox: Outbox, data: bytes) -> None:
    """Send as whoever works does."""
    outbox.wait_for_room()
    outbox.add(data, takes_room=True)
    outbox.send()


def put_without_waiting(outbox: Outbox, data: bytes) -> None:
    """Send as the reader does."""
    outbox.add(data, takes_room=False)
    outbox.send_soon()


class Gate:
    """A channel that writes only while it is open, and notes what it wrote."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.opened = threading.Event()
        self.entered = threading.Event()
        self.broken = False

    def read(self) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        self.entered.set()
        assert self.opened.wait(BOUND_S)
        if self.broken:
            raise BrokenPipeError
        self.written.append(data)

    def close(self) -> None:
        return


@pytest.mark.spec("WIN-4")
def test_the_reader_never_waits_while_whoever_works_does() -> None:
    channel = Gate()
    outbox = Outbox(channel)
    first = threading.Thread(target=put, args=(outbox, b"first"))
    first.start()
    assert channel.entered.wait(BOUND_S)
    for number in range(ROOM - 1):  # Left to the thread that writes already.
        put(outbox, b"%d" % number)
    blocked = threading.Thread(target=put, args=(outbox, b"last"))
    blocked.start()
    for _ in range(3 * ROOM):
        put_without_waiting(outbox, b"pong")
    assert blocked.is_alive()
    channel.opened.set()
    for thread in (first, blocked):
        thread.join(BOUND_S)
        assert not thread.is_alive()
    outbox.close(BOUND_S)
    assert channel.written.count(b"pong") == 3 * ROOM
    assert [data for data in channel.written if data != b"pong"] == [
        b"first",
        *(b"%d" % number for number in range(ROOM - 1)),
        b"last",
    ]


def test_nothing_is_lost_or_turned_around_when_many_threads_put_at_once() -> None:
    channel = Gate()
    channel.opened.set()
    outbox = Outbox(channel)

    def work(name: int) -> None:
        for number in range(500):
            (put_without_waiting if name == 0 else put)(outbox, b"%d %d" % (name, number))

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    outbox.close(BOUND_S)
    for name in range(6):
        own = [data for data in channel.written if data.startswith(b"%d " % name)]
        assert own == [b"%d %d" % (name, number) for number in range(500)]


@pytest.mark.spec("SUP-3")
def test_nobody_waits_for_a_kernel_that_is_gone() -> None:
    channel = Gate()
    channel.broken = True
    channel.opened.set()
    outbox = Outbox(channel)
    for _ in range(10 * ROOM):
        put(outbox, b"x")
    outbox.close(BOUND_S)
    assert channel.written == []
