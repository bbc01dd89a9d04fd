"""Test passing answers to waiting tasks from any thread, with one wake-up for several."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from evalsi.judging import AskError
from evalsi.loop_asks import LoopAsk, LoopAsks
from evalsi_protocol.errors import WireError

GONE = AskError(WireError("protocol.eof", "The kernel closed the connection."))


class CountingLoop(asyncio.SelectorEventLoop):
    """Counts how often another thread wakes it."""

    wakes = 0

    def _write_to_self(self) -> None:
        self.wakes += 1
        super()._write_to_self()  # type: ignore[misc]


def in_a_thread(act: Callable[[], None]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()


def answer_all(waiting: list[LoopAsk]) -> None:
    for n, one in enumerate(waiting):
        one.set_result({"n": n})


def test_answers_that_come_together_wake_the_loop_once() -> None:
    loop = CountingLoop()

    async def ask() -> list[dict[str, int]]:
        asks = LoopAsks(loop)
        waiting = [LoopAsk(asks) for _ in range(50)]
        before = loop.wakes
        # The loop stands still meanwhile, so all of them come before it can look.
        in_a_thread(lambda: answer_all(waiting))
        assert loop.wakes - before == 1
        return [await one.future for one in waiting]

    assert loop.run_until_complete(ask()) == [{"n": n} for n in range(50)]
    loop.close()


def test_an_answer_that_comes_later_wakes_it_again() -> None:
    async def ask() -> list[dict[str, int]]:
        asks = LoopAsks(asyncio.get_running_loop())
        found = []
        for n in range(3):
            waiting = LoopAsk(asks)
            in_a_thread(lambda waiting=waiting, n=n: waiting.set_result({"n": n}))  # type: ignore[misc]
            found.append(await waiting.future)
        return found

    assert asyncio.run(ask()) == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_what_went_wrong_is_raised_where_the_answer_is_awaited() -> None:
    async def ask() -> None:
        waiting = LoopAsk(LoopAsks(asyncio.get_running_loop()))
        in_a_thread(lambda: waiting.set_exception(GONE))
        await waiting.future

    with pytest.raises(AskError, match="closed the connection"):
        asyncio.run(ask())


def test_an_ask_that_is_cancelled_tells_so_and_takes_no_answer_any_more() -> None:
    told: list[LoopAsk] = []

    async def ask() -> LoopAsk:
        waiting = LoopAsk(LoopAsks(asyncio.get_running_loop()))
        waiting.add_done_callback(told.append)

        async def wait() -> None:
            await waiting.future

        task = asyncio.create_task(wait())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        waiting.set_result({})
        await asyncio.sleep(0)
        return waiting

    waiting = asyncio.run(ask())
    assert told == [waiting]
    assert waiting.cancelled()
    assert not waiting.set_running_or_notify_cancel()


def test_an_ask_that_was_cancelled_before_anybody_listened_tells_at_once() -> None:
    told: list[LoopAsk] = []

    async def ask() -> None:
        waiting = LoopAsk(LoopAsks(asyncio.get_running_loop()))
        waiting.future.cancel()
        await asyncio.sleep(0)
        waiting.add_done_callback(told.append)
        assert told == [waiting]

    asyncio.run(ask())


def test_an_answer_to_a_loop_that_is_closed_is_dropped() -> None:
    async def ask() -> LoopAsk:
        return LoopAsk(LoopAsks(asyncio.get_running_loop()))

    waiting = asyncio.run(ask())
    waiting.set_result({})
    assert not waiting.future.done()
