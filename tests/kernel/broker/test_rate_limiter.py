"""Calls start as fast as a provider lets them, whatever it limits; no slot is lost, and a long wait is told."""

from __future__ import annotations

import asyncio
import math
import random
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_kernel.broker.rate_limiter import RateLimiter
from tests.kernel.broker.throttling import Server, Throttled
from tests.kernel.broker.virtual_time import run_virtually


class Ran(NamedTuple):
    server: Server
    took_s: float

    def done_per_s(self, since_s: float) -> float:
        """Calls done in a second, from a time on until the first worker had nothing more to do."""
        return sum(since_s < when < self.took_s for when in self.server.done) / (self.took_s - since_s)


async def call_until_done(limiter: RateLimiter, server: Server) -> None:
    while True:
        async with limiter.slot() as slot:
            try:
                await server.call()
            except Throttled as refusal:
                slot.throttled(refusal.retry_after_s)
            else:
                slot.succeeded()
                return


def work_for(seconds: float, server: Server, *, most: int = 256, workers: int = 300) -> Ran:
    """Call a server from many workers for a time."""

    async def work() -> None:
        limiter, loop = RateLimiter(most), asyncio.get_running_loop()

        async def worker() -> None:
            while loop.time() < seconds:
                await call_until_done(limiter, server)

        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(worker())
        assert limiter.in_flight == 0

    run_virtually(work())
    return Ran(server, seconds)


def job_s(calls: int, server: Server, limiter: Callable[[], RateLimiter]) -> float:
    """How long a job of so many calls takes that are all there from the beginning."""

    async def work() -> float:
        gate = limiter()
        async with asyncio.TaskGroup() as group:
            for _ in range(calls):
                group.create_task(call_until_done(gate, server))
        return asyncio.get_running_loop().time()

    return run_virtually(work())


@pytest.mark.parametrize(("most", "takes_s", "calls", "share"), [(64, 0.05, 6400, 0.99), (256, 0.5, 4096, 0.99)])
def test_a_provider_that_takes_all_is_used_in_full_from_the_first_round_trip(
    most: int, takes_s: float, calls: int, share: float
) -> None:
    server = Server(takes_s=takes_s)
    ideal_s = calls / most * takes_s
    assert ideal_s / job_s(calls, server, lambda: RateLimiter(most)) >= share
    assert server.most_in_flight == most


def test_a_narrow_beginning_reaches_the_widest_window_within_a_few_round_trips() -> None:
    server = Server(takes_s=0.05)
    assert job_s(16 + 32 + 64 + 64 * 10, server, lambda: RateLimiter(64, start=16)) == pytest.approx(
        13 * 0.05, abs=0.06
    )
    assert server.most_in_flight == 64


AT_ONCE = [
    pytest.param(at_once, takes_s, spread, id=f"{at_once} at once, {takes_s} s ± {spread}")
    for at_once, takes_s, spread in ((1, 0.1, 0.3), (3, 0.1, 0.3), (8, 0.1, 0.0), (64, 0.5, 0.3), (200, 1.0, 0.3))
]
PER_S = [
    pytest.param(per_s, takes_s, id=f"{per_s} a second, {takes_s} s")
    for per_s, takes_s in ((10.0, 0.05), (100.0, 0.05), (20.0, 0.5), (8.0, 2.0))
]


@pytest.mark.parametrize(("at_once", "takes_s", "spread"), AT_ONCE)
@pytest.mark.parametrize("retry_after_s", [None, 1.0])
def test_under_a_limit_on_calls_at_once_most_of_it_is_used_with_few_refusals(
    at_once: int, takes_s: float, spread: float, retry_after_s: float | None
) -> None:
    server = Server(at_once=at_once, takes_s=takes_s, spread=spread, retry_after_s=retry_after_s)
    mean_s = takes_s * math.exp(spread**2 / 2)
    assert_most_is_used(server, at_once / mean_s, seconds=120.0)


@pytest.mark.parametrize(("per_s", "takes_s"), PER_S)
@pytest.mark.parametrize("retry_after_s", [None, "full"])
def test_under_a_limit_on_calls_per_second_most_of_it_is_used_with_few_refusals(
    per_s: float, takes_s: float, retry_after_s: str | None
) -> None:
    server = Server(per_s=per_s, burst=per_s, takes_s=takes_s, spread=0.3, retry_after_s=retry_after_s)
    assert_most_is_used(server, per_s, seconds=120.0 if takes_s < 1 else 300.0)


def assert_most_is_used(server: Server, allowed_per_s: float, seconds: float) -> None:
    ran, since_s = work_for(seconds, server), seconds / 3
    assert ran.done_per_s(since_s) >= 0.85 * allowed_per_s
    late = sum(when > since_s for when in server.refused)
    assert late <= max(3, 0.05 * sum(when > since_s for when in server.done))
    assert len(server.refused) < 2 * 256


def test_a_provider_of_one_call_a_second_is_asked_little_more_often() -> None:
    ran = work_for(400.0, Server(per_s=1.0, retry_after_s="full"), workers=20)
    assert ran.done_per_s(100.0) >= 0.85
    assert sum(when > 100.0 for when in ran.server.refused) < 0.1 * 300


@pytest.mark.parametrize("retry_after_s", [None, 1.0, 5.0])
def test_a_storm_of_refusals_is_waited_out_and_then_the_old_speed_comes_back(retry_after_s: float | None) -> None:
    server = Server(at_once=32, takes_s=0.2, retry_after_s=retry_after_s, storms=lambda now: 20 <= now < 50)
    ran = work_for(140.0, server, most=64)
    assert sum(22 <= when < 50 for when in server.refused) <= 30
    assert ran.done_per_s(110.0) >= 0.85 * 32 / 0.2


def test_a_storm_at_the_very_beginning_ends_well() -> None:
    server = Server(takes_s=0.2, retry_after_s=None, storms=lambda now: now < 60)
    ran = work_for(120.0, server, most=64)
    assert len(server.refused) < 100
    assert ran.done_per_s(100.0) >= 0.95 * 64 / 0.2


@pytest.mark.parametrize("retry_after_s", [0.3, 12.0])
def test_no_call_starts_before_the_time_to_wait_has_passed(retry_after_s: float) -> None:
    async def story() -> None:
        limiter, loop = RateLimiter(8), asyncio.get_running_loop()
        async with limiter.slot() as slot:
            slot.throttled(retry_after_s)
            slot.throttled(0.1)  # A shorter wait that another call is asked for shortens nothing.
        async with limiter.slot() as slot:
            assert loop.time() == pytest.approx(retry_after_s)

    run_virtually(story())


def test_a_wait_of_more_than_a_second_is_told_once() -> None:
    told: list[str] = []

    async def story() -> None:
        limiter = RateLimiter(8, on_wait=told.append)
        async with limiter.slot() as first, limiter.slot() as second:
            first.throttled(0.9)
            assert told == []
            first.throttled(11.4)
            second.throttled(11.5)
        assert told == ["waiting 12 s: the provider limits the rate of calls"]
        async with limiter.slot() as third:
            third.throttled(3.0)

    run_virtually(story())
    assert told[1:] == ["waiting 3 s: the provider limits the rate of calls"]


def test_how_long_every_call_was_refused_is_known() -> None:
    async def story() -> None:
        limiter = RateLimiter(2)
        assert limiter.rejected_for_s == 0.0
        for _ in range(3):
            async with limiter.slot() as slot:
                slot.throttled(10.0)
        assert limiter.rejected_for_s == pytest.approx(20.0)
        async with limiter.slot() as slot:
            slot.succeeded()
        assert limiter.rejected_for_s == 0.0

    run_virtually(story())


def test_when_no_call_will_be_made_any_more_nobody_waits() -> None:
    async def story() -> None:
        limiter = RateLimiter(1)
        passed: list[int] = []

        async def pass_through(number: int) -> None:
            async with limiter.slot():
                passed.append(number)

        async with limiter.slot() as slot:
            slot.throttled(3600.0)
            waiting = [asyncio.create_task(pass_through(number)) for number in range(100)]
            await asyncio.sleep(1)
            assert passed == []
            limiter.release_all()
            await asyncio.wait(waiting)
        assert passed == list(range(100))
        assert asyncio.get_running_loop().time() < 2

    run_virtually(story())


def test_calls_start_in_the_order_in_which_they_came() -> None:
    async def story() -> None:
        limiter = RateLimiter(3)
        started: list[int] = []

        async def call(number: int) -> None:
            async with limiter.slot() as slot:
                started.append(number)
                await asyncio.sleep(0.1 + number % 5 / 100)
                if number == 7:
                    slot.throttled(1.0)
                else:
                    slot.succeeded()

        await asyncio.gather(*map(call, range(40)))
        assert started == list(range(40))

    run_virtually(story())


@settings(max_examples=60)
@given(
    most=st.integers(1, 5),
    calls=st.lists(
        st.tuples(
            st.integers(0, 4),  # begins after so many tenths
            st.none() | st.integers(0, 6),  # is cancelled after so many tenths
            st.sampled_from(["succeeds", "is refused", "fails"]),
        ),
        min_size=1,
        max_size=15,
    ),
)
def test_no_slot_is_lost_or_won_whoever_goes_away_when(most: int, calls: list[tuple[int, int | None, str]]) -> None:
    async def story() -> None:
        limiter = RateLimiter(most)
        at_once = most_at_once = 0

        async def call(begins: int, ends: str) -> None:
            nonlocal at_once, most_at_once
            await asyncio.sleep(begins / 10)
            async with limiter.slot() as slot:
                at_once += 1
                most_at_once = max(most_at_once, at_once)
                try:
                    await asyncio.sleep(0.15)
                finally:
                    at_once -= 1
                if ends == "succeeds":
                    slot.succeeded()
                elif ends == "is refused":
                    slot.throttled(0.2)
                else:
                    raise ValueError(ends)

        loop = asyncio.get_running_loop()
        tasks = [asyncio.create_task(call(begins, ends)) for begins, _, ends in calls]
        for task, (_, cancelled, _) in zip(tasks, calls, strict=True):
            if cancelled is not None:
                loop.call_later(cancelled / 10, task.cancel)
        await asyncio.gather(*tasks, return_exceptions=True)
        assert most_at_once <= most
        assert limiter.in_flight == 0
        async with asyncio.timeout(60), limiter.slot():
            assert limiter.in_flight == 1

    run_virtually(story())


def test_one_who_is_let_in_and_cancelled_at_the_same_time_gives_the_slot_back() -> None:
    async def story() -> None:
        limiter = RateLimiter(1)

        async def hold() -> None:
            async with limiter.slot():
                await asyncio.sleep(1)

        holding = asyncio.create_task(hold())
        await asyncio.sleep(0)
        waiting = asyncio.create_task(hold())
        await asyncio.sleep(0.5)
        holding.add_done_callback(lambda _: waiting.cancel())
        await asyncio.wait([holding, waiting])
        assert waiting.cancelled()
        assert limiter.in_flight == 0

    run_virtually(story())


def test_the_sentence_fits_where_it_is_shown() -> None:
    told: list[str] = []

    async def story() -> None:
        async with RateLimiter(1, on_wait=told.append).slot() as slot:
            slot.throttled(4000)

    run_virtually(story())
    assert re.fullmatch(r"waiting 4,?000 s: .{10,50}", told[0])


@pytest.mark.parametrize(("share", "used"), [(0.005, 0.9), (0.01, 0.9), (0.02, 0.85), (0.04, 0.85), (0.08, 0.8)])
@pytest.mark.parametrize("seed", range(3))
def test_refusals_that_have_nothing_to_do_with_our_speed_do_not_take_it_away(
    share: float, used: float, seed: int
) -> None:
    chance = random.Random(seed)
    server = Server(takes_s=0.2, storms=lambda _: chance.random() < share)
    ran = work_for(200.0, server, most=16, workers=20)
    assert ran.done_per_s(80.0) >= used * 16 / 0.2


def test_nor_do_they_where_many_calls_are_in_flight() -> None:
    chance = random.Random(0)
    ran = work_for(120.0, Server(takes_s=1.0, storms=lambda _: chance.random() < 0.04))
    assert ran.done_per_s(40.0) >= 0.85 * 256


@pytest.mark.parametrize("seed", range(3))
def test_beside_such_refusals_a_limit_of_the_provider_is_still_found(seed: int) -> None:
    chance = random.Random(seed)
    server = Server(per_s=50.0, burst=50.0, takes_s=0.5, spread=0.3, storms=lambda _: chance.random() < 0.04)
    ran = work_for(200.0, server, most=64, workers=80)
    assert ran.done_per_s(70.0) >= 0.8 * 50
    assert sum(when > 70.0 for when in server.refused) < 0.12 * sum(when > 70.0 for when in server.done)


def test_once_such_refusals_have_ended_few_calls_are_refused() -> None:
    chance = random.Random(0)
    server = Server(at_once=16, takes_s=0.2, spread=0.3, storms=lambda now: chance.random() < 0.06 and now < 100)
    ran = work_for(240.0, server, most=64, workers=80)
    assert ran.done_per_s(120.0) >= 0.8 * 16 / 0.2
    assert sum(when > 120.0 for when in server.refused) < 0.02 * sum(when > 120.0 for when in server.done)


def test_short_storms_again_and_again_do_not_take_the_speed_away() -> None:
    server = Server(takes_s=0.2, spread=0.3, storms=lambda now: now % 10 < 0.5)
    ran = work_for(200.0, server, most=16, workers=20)
    assert ran.done_per_s(60.0) >= 0.35 * 16 / 0.2


@pytest.mark.parametrize("seed", range(3))
def test_where_such_refusals_ask_to_wait_the_window_does_not_close_besides(seed: int) -> None:
    chance = random.Random(seed)
    server = Server(takes_s=0.2, retry_after_s=1.0, storms=lambda _: chance.random() < 0.01)
    ran = work_for(300.0, server, most=16, workers=20)
    assert ran.done_per_s(100.0) >= 0.08 * 16 / 0.2  # One call at a time, with such waits, would be 0.06 of it.
