"""Third invariant: no handler runs on a read loop of either end, and both directions have credit windows."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import evalsi_kernel.supervision.connection as connection_module
from evalsi import Record, evaluator
from evalsi.context import Context
from evalsi.host import Host
from evalsi.loading import from_objects
from evalsi_kernel.supervision.connection import Connection
from evalsi_kernel.supervision.transports import MemoryTransport
from evalsi_protocol.errors import LocalMisuse
from evalsi_protocol.machine import Machine
from tests.kernel.supervised import bounded
from tests.protocol.kernel_end import BOUND_S, serving, texts

WINDOW = 64


def test_the_pack_reads_on_while_an_evaluator_computes() -> None:
    entered, go_on = threading.Event(), threading.Event()

    @evaluator(name="slow", version=1)
    def slow(record: Record) -> bool:
        entered.set()
        assert go_on.wait(BOUND_S)
        return True

    with serving(slow) as kernel:
        kernel.open(1, "slow")
        request_id = kernel.start("score", {"sessions": [1], "records": texts("a", "b")})
        assert entered.wait(BOUND_S)
        for _ in range(100):
            running = kernel.ask("ping", {})
            assert isinstance(running, dict)
            assert running["running"][0]["request"] == request_id
        go_on.set()
        kernel.wait_for(request_id)


def test_the_kernel_reads_on_while_it_serves_what_a_pack_asks_for_and_another_pack_is_not_held_up() -> None:
    @evaluator(name="asks", version=1, asks=("judge",))
    async def asks(record: Record, ctx: Context) -> bool:
        if record.output.as_text() == "ask":
            await ctx.ask("judge.ask", {"id": record.id})
        return True

    async def work() -> None:
        release = asyncio.Event()

        async def serve(method: str, body: dict[str, Any]) -> dict[str, Any]:
            await release.wait()
            return {}

        transport = MemoryTransport()
        host = Host(transport.pack_channel, "asking", "1", lambda: from_objects([asks]))
        threading.Thread(target=host.serve, daemon=True).start()
        connection = Connection(transport, serve)
        await connection.hello()
        await connection.request("open", {"session": 1, "evaluator": "asks", "concurrency": 50})
        items: list[list[Any]] = []
        body = {"sessions": [1], "records": texts(*["ask"] * 20, *["a"] * 20)}
        pending = await connection.start_request("score", body, lambda plain, _: items.extend(plain))
        while len(items) < 20 or connection.asks_open < 20:
            await connection.request("ping", {})
        assert {item[1] for item in items} == set(range(20, 40))
        release.set()
        assert (await pending.answer)["outcomes"] == {"scored": 40}
        await connection.request("bye", {})
        connection.close_writing()
        await connection.close()

    bounded(work)


def test_neither_side_can_have_more_requests_open_than_the_other_takes() -> None:
    kernel, pack = Machine("kernel", window=2), Machine("pack", window=3)
    hello = kernel.request("hello", {"majors": [1], "kernel": {}, "capabilities": ["judge.ask"], "window": 2})
    pack.receive(kernel.data_to_send())
    pack.respond(hello, {"major": 1, "pack": {}, "capabilities": [], "window": 3})
    kernel.receive(pack.data_to_send())
    for side, method, window in ((kernel, "describe", 3), (pack, "judge.ask", 2)):
        for _ in range(window):
            assert side.can_request
            side.request(method, {})
        assert not side.can_request
        with pytest.raises(LocalMisuse, match="credits are in use"):
            side.request(method, {})


def test_a_pack_that_asks_beyond_the_kernels_window_waits_for_a_credit_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_module, "ASK_WINDOW", WINDOW)

    @evaluator(name="asks", version=1, asks=("judge",))
    async def asks(record: Record, ctx: Context) -> bool:
        return bool((await ctx.ask("judge.ask", {"id": record.id}))["yes"])

    async def work() -> None:
        open_at_once = most = 0
        full = asyncio.Event()

        async def serve(method: str, body: dict[str, Any]) -> dict[str, Any]:
            nonlocal open_at_once, most
            open_at_once += 1
            most = max(most, open_at_once)
            if open_at_once == WINDOW:
                # Were another to come without a credit, it would be here before this answer is.
                await connection.request("ping", {})
                full.set()
            await full.wait()
            open_at_once -= 1
            return {"yes": True}

        transport = MemoryTransport()
        host = Host(transport.pack_channel, "asking", "1", lambda: from_objects([asks]))
        threading.Thread(target=host.serve, daemon=True).start()
        connection = Connection(transport, serve)
        await connection.hello()
        await connection.request("open", {"session": 1, "evaluator": "asks", "concurrency": 1000})
        answer = await connection.request("score", {"sessions": [1], "records": texts(*["a"] * 300)})
        assert answer["outcomes"] == {"scored": 300}
        assert most == WINDOW
        await connection.request("bye", {})
        connection.close_writing()
        await connection.close()

    bounded(work)
