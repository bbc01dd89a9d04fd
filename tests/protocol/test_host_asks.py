"""Test requests of an evaluator to the kernel: windows, errors, cancellation, a closed connection."""

from __future__ import annotations

import asyncio
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from evalsi import Record, evaluator
from evalsi.context import Context
from evalsi.judging import AskError
from evalsi_protocol.errors import WireError
from evalsi_protocol.machine import CancelReceived
from tests.protocol.kernel_end import serving, texts


@pytest.mark.spec("CAP-2", "WIN-1")
def test_asks_beyond_the_window_wait_and_each_gets_its_own_answer() -> None:
    @evaluator(name="judged", version=1, asks=("judge",))
    async def judged(record: Record, ctx: Context) -> float:
        return float((await ctx.ask("judge.ask", {"id": record.id}))["grade"])

    with serving(judged, kernel_window=3) as kernel:
        kernel.open(1, "judged", concurrency=10)
        request_id = kernel.start("score", {"sessions": [1], "records": texts(*"abcdefghij")})
        for number in range(10):
            kernel.until(lambda number=number: len(kernel.asks) > number)  # type: ignore[misc]
            assert len(kernel.machine.unanswered) <= 3
            ask = kernel.asks[number]
            kernel.machine.respond(ask.id, {"grade": int(ask.body["id"])})
            kernel.send()
        assert kernel.wait_for(request_id) == {"outcomes": {"scored": 10}}
        assert {index: payload[0]["value"] for _, index, _, payload in kernel.items[request_id]} == {
            index: float(index) for index in range(10)
        }


@pytest.mark.spec("CAN-1", "CAP-1", "VAL-7")
def test_an_ask_can_fail_be_given_up_and_be_refused_without_harm() -> None:
    @evaluator(name="asks", version=1)
    async def asks(record: Record, ctx: Context) -> bool:
        body: dict[Any, Any] = {1: "no key"} if record.id == "2" else {"id": record.id}
        async with asyncio.timeout(None if record.id == "0" else 0.01):
            await ctx.ask("judge.ask", body)
        return True

    with serving(asks) as kernel:
        kernel.open(1, "asks", concurrency=1)
        request_id = kernel.start("score", {"sessions": [1], "records": texts("a", "b", "c")})
        kernel.until(lambda: kernel.asks)
        kernel.machine.fail(kernel.asks[0].id, WireError("capability.not_bound", "No judge.", "Name one.", "config"))
        kernel.send()
        kernel.until(lambda: any(isinstance(event, CancelReceived) for event in kernel.events))
        kernel.machine.respond(kernel.asks[1].id, {"late": True})
        kernel.send()
        assert kernel.wait_for(request_id) == {"outcomes": {"error": 3}}
        errors = {index: payload for _, index, _, payload in kernel.items[request_id]}
        assert (errors[0]["code"], errors[0]["source"]) == ("capability.not_bound", "config")
        assert "TimeoutError" in errors[1]["message"]
        assert errors[2]["code"] == "protocol.unencodable"
        assert kernel.score([])[0] == {"outcomes": {}}


@pytest.mark.spec("SES-6", "SUP-3")
def test_a_synchronous_ask_fails_when_the_kernel_goes_away() -> None:
    seen: list[str] = []

    @evaluator(name="asks", version=1)
    def asks(record: Record, ctx: Context) -> bool:
        for _ in range(2):
            try:
                ctx.ask_and_wait("judge.ask", {})
            except AskError as error:
                seen.append(error.error.code)
        return True

    with serving(asks) as kernel:
        kernel.open(1, "asks")
        kernel.start("score", {"sessions": [1], "records": texts("a", "b", "c")})
        kernel.until(lambda: kernel.asks)
    # One that waited and one that came too late; the other records are not begun.
    assert seen == ["protocol.eof", "protocol.misuse"]


@pytest.mark.spec("CAP-2", "ITM-5")
def test_an_ask_that_is_given_up_before_a_credit_was_free_is_never_sent() -> None:
    @evaluator(name="asks", version=1)
    async def asks(record: Record, ctx: Context) -> bool:
        async with asyncio.timeout(None if record.id == "0" else 0.01):
            await ctx.ask("judge.ask", {"id": record.id})
        return True

    with serving(asks, kernel_window=1) as kernel:
        kernel.open(1, "asks", concurrency=2)
        request_id = kernel.start("score", {"sessions": [1], "records": texts("a", "b")})
        kernel.until(lambda: kernel.items[request_id])
        assert kernel.items[request_id][0][1:3] == [1, "error"]
        (ask,) = kernel.asks
        kernel.machine.respond(ask.id, {})
        kernel.send()
        assert kernel.wait_for(request_id) == {"outcomes": {"error": 1, "scored": 1}}
        kernel.ask("ping", {})
        assert kernel.asks == [ask]


@pytest.mark.spec("REQ-2")
def test_ids_rise_on_the_wire_also_when_many_threads_ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @evaluator(name="asks", version=1, asks=("judge",))
    def asks(record: Record, ctx: Context) -> bool:
        def ask(number: int) -> None:
            ctx._asker.ask("judge.ask", {"id": str(number)})

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(ask, range(400)))
        return True

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with serving(asks, kernel_window=500) as kernel:
            kernel.open(1, "asks")
            answer, _ = kernel.score(texts("a"))
            assert answer == {"outcomes": {"scored": 1}}
            ids = [ask.id for ask in kernel.asks]
            assert ids == sorted(ids)
    finally:
        sys.setswitchinterval(before)
