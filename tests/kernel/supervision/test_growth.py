"""GrowthTimer with the packs ends while one waits, and little waits add up."""

from __future__ import annotations

import asyncio

from evalsi_kernel.supervision.growth import GrowthTimer
from tests.kernel.supervised import bounded


def test_patience_ends_amid_a_wait_and_again_when_the_wait_goes_on() -> None:
    async def work() -> None:
        ended, twice = [0], asyncio.Event()

        def end() -> None:
            ended[0] += 1
            if ended[0] == 2:
                twice.set()

        with GrowthTimer(end):
            await twice.wait()

    bounded(work)


def test_waits_too_short_to_end_it_add_up() -> None:
    async def work() -> int:
        ended, waits = asyncio.Event(), 0
        patience = GrowthTimer(ended.set)
        while not ended.is_set():
            with patience:
                await asyncio.sleep(0)
            waits += 1
        return waits

    assert bounded(work) > 1


def test_it_does_not_end_where_nobody_waits() -> None:
    async def work() -> bool:
        ended, told = asyncio.Event(), asyncio.Event()
        patience = GrowthTimer(ended.set)
        with patience:
            pass
        with GrowthTimer(told.set):
            await told.wait()
        return ended.is_set()

    assert not bounded(work)
