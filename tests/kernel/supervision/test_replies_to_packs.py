"""Replies to what a pack asks go out together where they come together, and each one goes out."""

from __future__ import annotations

import asyncio
from typing import Any

from evalsi_kernel.supervision.connection import Connection
from evalsi_protocol.greeting import pack_hello
from evalsi_protocol.machine import Event, Machine, RequestReceived, ResponseReceived
from tests.kernel.broker.virtual_time import run_virtually

ASKS = 8


class Pack:
    """A pack's end of a session in this thread: what it gets, piece by piece, and what it says."""

    ending = "went away"

    def __init__(self) -> None:
        self.machine = Machine("pack")
        self.events: list[Event] = []
        self.writes: list[int] = []
        """How many replies came with each write."""
        self.has_all = asyncio.Event()
        self._said: asyncio.Queue[bytes] = asyncio.Queue()

    async def read(self) -> bytes:
        return await self._said.get()

    def write(self, data: bytes) -> None:
        events = self.machine.receive(data)
        self.events += events
        self.writes.append(sum(isinstance(event, ResponseReceived) for event in events))
        for event in events:
            if isinstance(event, RequestReceived) and event.method == "hello":
                self.machine.respond(event.id, pack_hello(1, "pack", "0", ["score"]))
        if sum(self.writes) == ASKS:
            self.has_all.set()
        self.say()

    async def drain(self) -> None:
        return None

    def close_writing(self) -> None:
        return None

    def say(self) -> None:
        """Send what the machine has to say."""
        data = self.machine.data_to_send()
        if data:
            self._said.put_nowait(data)


async def replied(took_s: float, apart_s: float = 0.0005) -> list[int]:
    """How many replies came with each write, of asks that take so long, each so much longer than the one before."""
    pack = Pack()

    async def answer(method: str, body: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(took_s + body["number"] * apart_s)
        return {"number": body["number"]}

    connection = Connection(pack, answer)
    try:
        await connection.hello()
        pack.writes.clear()
        for number in range(ASKS):
            pack.machine.request("judge.ask", {"number": number})
        pack.say()
        await pack.has_all.wait()
    finally:
        await connection.close()
    replies = [event.body["number"] for event in pack.events if isinstance(event, ResponseReceived)]
    assert sorted(replies) == list(range(ASKS))
    return [count for count in pack.writes if count]


def test_replies_that_took_long_and_come_close_together_share_a_write() -> None:
    assert len(run_virtually(replied(took_s=0.3))) == 1


def test_a_reply_waits_for_others_no_longer_than_a_part_of_what_it_took() -> None:
    assert len(run_virtually(replied(took_s=0.3, apart_s=0.006))) == ASKS


def test_replies_that_took_no_time_go_out_at_once() -> None:
    assert sum(run_virtually(replied(took_s=0.0, apart_s=0.0))) == ASKS
