"""Equal asks in call are one call, whoever of those who wait goes away, and whatever comes back."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.shared_calls import SharedCalls

TURNS = st.integers(0, 6)


class Calls:
    """Makes calls that take some turns of the loop, and counts them."""

    def __init__(self, turns: int = 3, fault: Exception | None = None) -> None:
        self.made = self.ended = self.cancelled = 0
        self._turns = turns
        self._fault = fault

    async def __call__(self) -> int:
        self.made += 1
        number = self.made
        try:
            await pass_turns(self._turns)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        self.ended += 1
        if self._fault is not None:
            raise self._fault
        return number


async def pass_turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def run(coroutine: Coroutine[Any, Any, None]) -> list[dict[str, Any]]:
    """Run to the end; returns what the event loop complained of."""
    complaints: list[dict[str, Any]] = []

    async def watched() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with asyncio.timeout(10):
            await coroutine
        gc.collect()
        await asyncio.sleep(0)

    # What other tests left is not looked through each time.
    gc.freeze()
    try:
        asyncio.run(watched())
    finally:
        gc.unfreeze()
    return complaints


@given(
    askers=st.lists(st.tuples(TURNS, st.none() | TURNS), min_size=1, max_size=9),
    call_turns=st.integers(0, 5),
    fails=st.booleans(),
)
def test_equal_asks_make_one_call_under_any_interleaving_of_cancels(
    askers: list[tuple[int, int | None]], call_turns: int, fails: bool
) -> None:
    shared: SharedCalls[str, int] = SharedCalls()
    calls = Calls(call_turns, ValueError("no") if fails else None)
    at_once = 0
    most_at_once = 0

    async def make() -> int:
        nonlocal at_once, most_at_once
        at_once += 1
        most_at_once = max(most_at_once, at_once)
        try:
            return await calls()
        finally:
            at_once -= 1

    async def ask(before: int) -> tuple[int, bool]:
        await pass_turns(before)
        return await shared.share("key", make)

    async def all_ask() -> None:
        tasks = [asyncio.create_task(ask(before)) for before, _ in askers]
        for turn in range(7):
            for task, (_, cancel_after) in zip(tasks, askers, strict=True):
                if cancel_after == turn:
                    task.cancel()
            await asyncio.sleep(0)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert len(shared) == 0
        assert at_once == 0
        got = [result for result in results if isinstance(result, tuple)]
        # A call is another's for all who get its result but one, so that nothing is paid twice or never.
        assert sorted(number for number, is_anothers in got if not is_anothers) == sorted({number for number, _ in got})
        for result, (_, cancel_after) in zip(results, askers, strict=True):
            if isinstance(result, asyncio.CancelledError):
                assert cancel_after is not None
            elif fails:
                assert isinstance(result, ValueError)

    assert run(all_ask()) == []
    assert most_at_once <= 1
    assert calls.made >= calls.ended + calls.cancelled


@given(count=st.integers(1, 30), cancelled=st.sets(st.integers(0, 29)), turns=st.integers(1, 5))
def test_asks_that_begin_together_make_exactly_one_call(count: int, cancelled: set[int], turns: int) -> None:
    shared: SharedCalls[str, int] = SharedCalls()
    calls = Calls(turns + 1)

    async def all_ask() -> None:
        tasks = [asyncio.create_task(shared.share("key", calls)) for _ in range(count)]
        await pass_turns(turns)
        gone = [tasks[index] for index in cancelled if index < count]
        for task in gone:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (calls.made, calls.cancelled) == (1, int(len(gone) == count))
        left = [task.result() for task in tasks if not task.cancelled()]
        assert len(left) == count - len(gone)
        assert sorted(left) == [(1, False), *[(1, True)] * (len(left) - 1)][: len(left)]

    assert run(all_ask()) == []


def test_one_who_goes_away_leaves_the_call_to_the_others_also_the_one_who_began_it() -> None:
    async def story() -> None:
        shared: SharedCalls[str, int] = SharedCalls()
        calls = Calls(4)
        first, second = (asyncio.create_task(shared.share("key", calls)) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == (1, False)
        assert first.cancelled()
        assert (calls.made, calls.ended) == (1, 1)

    assert run(story()) == []


def test_when_all_have_gone_the_call_is_cancelled_and_over_before_the_last_one_leaves() -> None:
    async def story() -> None:
        shared: SharedCalls[str, int] = SharedCalls()
        is_over = False

        async def make() -> int:
            nonlocal is_over
            try:
                await asyncio.Event().wait()
                return 1
            finally:
                await pass_turns(5)
                is_over = True

        tasks = [asyncio.create_task(shared.share("key", make)) for _ in range(3)]
        await pass_turns(2)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        assert is_over
        assert all(task.cancelled() for task in tasks)

    assert run(story()) == []


def test_an_ask_after_the_last_one_has_gone_makes_a_call_of_its_own() -> None:
    async def story() -> None:
        shared: SharedCalls[str, int] = SharedCalls()
        calls = Calls(5)
        gone = asyncio.create_task(shared.share("key", calls))
        await pass_turns(2)
        gone.cancel()
        await asyncio.sleep(0)  # The cancelled call may still be ending.
        assert await shared.share("key", calls) == (2, False)

    assert run(story()) == []


def test_an_exception_reaches_all_who_wait_and_the_next_ask_is_a_new_call() -> None:
    async def story() -> None:
        shared: SharedCalls[str, int] = SharedCalls()
        failing = Calls(3, ValueError("no"))
        results = await asyncio.gather(*[shared.share("key", failing) for _ in range(4)], return_exceptions=True)
        assert [str(result) for result in results] == ["no"] * 4
        assert failing.made == 1
        assert await shared.share("key", Calls()) == (1, False)

    assert run(story()) == []


def test_an_exception_that_nobody_waited_for_is_no_complaint_of_the_event_loop() -> None:
    async def story() -> None:
        shared: SharedCalls[str, int] = SharedCalls()

        async def make() -> int:
            try:
                await asyncio.Event().wait()
                return 1
            except asyncio.CancelledError:
                raise ValueError("broken while it was cancelled") from None

        task = asyncio.create_task(shared.share("key", make))
        await pass_turns(2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert run(story()) == []


def test_different_asks_are_calls_of_their_own() -> None:
    async def story() -> None:
        shared: SharedCalls[int, int] = SharedCalls()
        calls = Calls()
        results = await asyncio.gather(*[shared.share(key, calls) for key in range(5)])
        assert results == [(number, False) for number in range(1, 6)]

    assert run(story()) == []
