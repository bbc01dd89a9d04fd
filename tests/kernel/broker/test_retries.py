"""A call is made again where that may help, for a bounded time; and none is made once none can help."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.rate_limiter import RateLimiter
from evalsi_kernel.broker.retries import FAILING, MAX_LONG_WAITS, Breaker, RetryPolicy, call_with_retries
from evalsi_protocol.errors import Retry
from tests.kernel.broker.throttling import Server, Throttled
from tests.kernel.broker.virtual_time import run_virtually

POLICY = RetryPolicy(max_tries=4, max_s=100.0, base_s=1.0, longest_s=8.0)


def failed(code: str = "provider.failed", retry: Retry = "later", **more: Any) -> ProviderError:
    return ProviderError(code, "It broke.", "Correct it.", retry=retry, **more)


def throttled(retry_after_s: float | None = None) -> ProviderError:
    return failed("provider.rate_limited", retry_after_s=retry_after_s)


class Provider:
    """Answers with what it is told, in turn; the last answer stays. It notes when it was called."""

    def __init__(self, *answers: ProviderError | str, takes_s: float = 0.0) -> None:
        self.called_at: list[float] = []
        self._answers = answers
        self._takes_s = takes_s

    async def __call__(self) -> str:
        number = len(self.called_at)
        self.called_at.append(asyncio.get_running_loop().time())
        await asyncio.sleep(self._takes_s)
        answer = self._answers[min(number, len(self._answers) - 1)]
        if isinstance(answer, str):
            return answer
        raise answer

    @property
    def waits(self) -> list[float]:
        return [later - before for before, later in zip(self.called_at, self.called_at[1:], strict=False)]


def call(
    provider: Callable[[], Awaitable[str]],
    *,
    limiter: RateLimiter | None = None,
    breaker: Breaker | None = None,
    policy: RetryPolicy = POLICY,
    draw: Callable[[], float] = lambda: 0.5,
    **more: Any,
) -> Coroutine[Any, Any, str]:
    return call_with_retries(provider, limiter or RateLimiter(8), policy, breaker or Breaker(), draw=draw, **more)


def error_of(provider: Provider, **more: Any) -> ProviderError:
    async def story() -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            await call(provider, **more)
        return caught.value

    return run_virtually(story())


def test_a_call_that_succeeds_is_made_once() -> None:
    provider = Provider("reply")
    assert run_virtually(call(provider)) == "reply"
    assert len(provider.called_at) == 1


@pytest.mark.parametrize("draw", [0.0, 0.25, 0.999])
def test_waits_are_a_random_part_of_a_span_that_doubles_up_to_a_bound(draw: float) -> None:
    provider = Provider(failed())
    policy = POLICY._replace(max_tries=7)
    error_of(provider, policy=policy, draw=lambda: draw)
    assert provider.waits == pytest.approx([draw * span for span in (1, 2, 4, 8, 8, 8)])


def test_an_error_that_may_be_tried_again_at_once_is_the_first_time() -> None:
    provider = Provider(failed(retry="same"))
    error_of(provider)
    assert provider.waits == pytest.approx([0.0, 1.0, 2.0])


def test_the_last_error_says_how_often_it_was_tried_and_what_all_tries_took() -> None:
    provider = Provider(
        failed(tokens=Tokens(100, 0, 0, 0, 0)), failed("provider.timeout", tokens=Tokens(50, 7, 0, 0, 1))
    )
    error = error_of(provider)
    assert error.error.code == "provider.timeout"
    assert error.error.message == "It broke. It was tried 4 times."
    assert error.error.hint == "Correct it."
    assert error.calls == 4
    assert error.tokens == Tokens(250, 21, 0, 0, 3)


def test_what_a_try_took_without_saying_is_unknown_of_all_of_them() -> None:
    provider = Provider(failed(tokens=Tokens(100, 5, 0, 0, 0)), failed("provider.timeout"))
    assert error_of(provider).tokens == Tokens()


def test_a_refused_try_took_nothing() -> None:
    provider = Provider(throttled(1.0), failed(retry="no", tokens=Tokens(100, 5, 0, 0, 0)))
    assert error_of(provider).tokens == Tokens(100, 5, 0, 0, 0)


def test_an_error_that_would_come_again_is_raised_at_once() -> None:
    provider = Provider(failed("provider.bad_request", retry="no"))
    error = error_of(provider)
    assert (error.error.message, error.calls) == ("It broke.", 1)
    assert len(provider.called_at) == 1


@pytest.mark.parametrize("code", ["provider.rate_limited", "provider.failed"])
def test_the_time_that_the_provider_asks_for_is_never_shortened(code: str) -> None:
    provider = Provider(failed(code, retry_after_s=30.0), "reply")
    run_virtually(call(provider, draw=lambda: 0.0))
    assert provider.waits == pytest.approx([30.0])


def test_throttling_ends_by_time_and_not_by_count() -> None:
    provider = Provider(*[throttled(2.0)] * 20, "reply")
    assert run_virtually(call(provider, draw=lambda: 0.0)) == "reply"
    assert len(provider.called_at) == 21
    endless = Provider(throttled(2.0))
    error = error_of(endless, draw=lambda: 0.0)
    assert endless.called_at[-1] <= POLICY.max_s
    assert error.error.message == f"It broke. It was tried {len(endless.called_at)} times."


def test_a_slow_failure_is_tried_again_once_and_then_for_no_longer_than_allowed() -> None:
    provider = Provider(failed("provider.timeout"), takes_s=120.0)
    assert error_of(provider).calls == 2
    quicker = Provider(failed("provider.timeout"), takes_s=40.0)
    assert error_of(quicker).calls == 3


def test_each_failed_try_that_another_follows_is_told() -> None:
    heard: list[ProviderError] = []
    first, second = failed(tokens=Tokens(1, 1)), throttled()
    run_virtually(call(Provider(first, second, "reply"), on_failed=heard.append))
    assert heard == [first, second]


def test_while_a_call_waits_to_be_tried_again_others_have_its_slot() -> None:
    async def story() -> None:
        limiter = RateLimiter(1)
        slow = asyncio.create_task(call(Provider(failed(), "late"), limiter=limiter))
        await asyncio.sleep(0.1)
        assert await call(Provider("soon"), limiter=limiter) == "soon"
        assert not slow.done()
        assert await slow == "late"

    run_virtually(story())


def test_an_exception_that_is_no_error_of_the_provider_goes_through_and_frees_the_slot() -> None:
    async def story() -> None:
        limiter = RateLimiter(1)

        async def broken() -> str:
            raise KeyError("a fault of a connector")

        with pytest.raises(KeyError):
            await call(broken, limiter=limiter)
        assert await call(Provider("reply"), limiter=limiter) == "reply"

    run_virtually(story())


def test_after_a_final_error_no_call_is_made_and_each_fails_with_it_whether_it_waits_or_comes_later() -> None:
    async def story() -> None:
        limiter, breaker = RateLimiter(2), Breaker()
        final = Provider(failed("provider.auth", retry="no", is_final=True), takes_s=1.0)
        good, never = Provider("reply", takes_s=2.0), Provider("reply")
        resting = asyncio.create_task(call(Provider(failed()), limiter=limiter, breaker=breaker, draw=lambda: 0.99))
        await asyncio.sleep(0)
        first = asyncio.create_task(call(final, limiter=limiter, breaker=breaker))
        lucky = asyncio.create_task(call(good, limiter=limiter, breaker=breaker))
        queued = [asyncio.create_task(call(never, limiter=limiter, breaker=breaker)) for _ in range(50)]
        ended = await asyncio.gather(resting, first, *queued, return_exceptions=True)
        assert asyncio.get_running_loop().time() == pytest.approx(1.0)
        assert await lucky == "reply"  # A success in between starts no call again.
        with pytest.raises(ProviderError) as later:
            await call(never, limiter=limiter, breaker=breaker)
        assert never.called_at == []
        errors = [*ended, later.value]
        assert {error.error.code for error in errors if isinstance(error, ProviderError)} == {"provider.auth"}
        assert len(set(map(id, errors))) == len(errors) == 53
        assert later.value.calls == 0
        assert later.value.tokens == Tokens(0, 0, 0, 0, 0)

    run_virtually(story())


def test_j4_one_call_that_is_asked_to_wait_for_too_long_ends_alone() -> None:
    told: list[str] = []

    async def story() -> None:
        limiter, breaker = RateLimiter(4, on_wait=told.append), Breaker()
        unlucky, others = Provider(throttled(86_400.0)), Provider("reply", takes_s=0.1)
        calls = [call(unlucky if number == 5 else others, limiter=limiter, breaker=breaker) for number in range(40)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert asyncio.get_running_loop().time() == pytest.approx(1.0)
        assert len(unlucky.called_at) == 1
        assert [type(one) for one in ended].count(ProviderError) == 1
        assert "asks to wait 86,400 s, but a call may take at most 100 s" in str(ended[5])

    run_virtually(story())
    assert told == []


def test_j4_a_provider_that_asks_every_call_to_wait_for_too_long_is_asked_no_more() -> None:
    async def story() -> None:
        limiter, breaker = RateLimiter(1), Breaker()
        provider = Provider(throttled(86_400.0))
        ended = await asyncio.gather(
            *[call(provider, limiter=limiter, breaker=breaker) for _ in range(50)], return_exceptions=True
        )
        assert asyncio.get_running_loop().time() == 0.0
        assert len(provider.called_at) == MAX_LONG_WAITS
        assert all("asks to wait 86,400 s" in str(error) for error in ended)

    run_virtually(story())


def test_j4_a_longer_wait_is_borne_where_a_call_may_take_so_long() -> None:
    async def story() -> None:
        provider = Provider(throttled(600.0), "reply")
        assert await call(provider, policy=POLICY._replace(max_s=3600.0)) == "reply"
        assert provider.waits == [600.0]

    run_virtually(story())


def test_j7_a_page_at_the_first_call_ends_all_and_later_only_delays_one() -> None:
    page = failed("provider.bad_reply", is_page=True)

    async def story() -> None:
        limiter, breaker = RateLimiter(1), Breaker()
        wrong = Provider(page)
        ended = await asyncio.gather(
            *[call(wrong, limiter=limiter, breaker=breaker) for _ in range(9)], return_exceptions=True
        )
        assert (len(wrong.called_at), asyncio.get_running_loop().time()) == (1, 0.0)
        assert {type(error) for error in ended} == {ProviderError}
        limiter, breaker = RateLimiter(1), Breaker()
        assert await call(Provider("reply"), limiter=limiter, breaker=breaker) == "reply"
        assert await call(Provider(page, "reply"), limiter=limiter, breaker=breaker) == "reply"

    run_virtually(story())


def test_j7_an_error_page_is_no_wrong_address_while_a_call_may_still_be_served() -> None:
    page = failed("provider.failed", is_page=True)

    async def story() -> None:
        limiter, breaker = RateLimiter(8), Breaker()
        slow = asyncio.create_task(
            call(Provider("reply", takes_s=1.0), limiter=limiter, breaker=breaker, takes_turns=True)
        )
        await asyncio.sleep(0)
        broken = [call(Provider(page), limiter=limiter, breaker=breaker, takes_turns=True) for _ in range(3)]
        ended = await asyncio.gather(slow, *broken, return_exceptions=True)
        assert ended[0] == "reply"
        assert breaker.error is None
        limiter, breaker = RateLimiter(8), Breaker()
        wrong = [Provider(page) for _ in range(3)]
        calls = [call(one, limiter=limiter, breaker=breaker, takes_turns=True) for one in wrong]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(one) for one in ended} == {ProviderError}
        assert breaker.error is not None
        assert sum(len(one.called_at) for one in wrong) == 3

    run_virtually(story())


def test_s8_only_calls_that_were_sent_are_counted() -> None:
    unsent = failed("provider.connection", is_sent=False)
    error = error_of(Provider(unsent, failed(), unsent, failed(), "reply"))
    assert error.calls == 2
    error = error_of(Provider(unsent))
    assert (error.calls, error.tokens) == (0, Tokens(0, 0, 0, 0, 0))


@pytest.mark.parametrize(("takes_s", "within_s"), [(0.1, 310.0), (5.0, 320.0), (120.0, 620.0)])
def test_where_nothing_comes_through_for_long_calls_end_instead_of_each_being_tried(
    takes_s: float, within_s: float
) -> None:
    async def story() -> None:
        limiter, breaker, draw = RateLimiter(16), Breaker(), random.Random(3).random
        provider = Provider(failed("provider.timeout"), takes_s=takes_s)
        calls = [call(provider, limiter=limiter, breaker=breaker, draw=draw) for _ in range(5000)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(error) for error in ended} == {ProviderError}
        assert "No call has succeeded for" in str(ended[-1])
        assert asyncio.get_running_loop().time() < within_s

    run_virtually(story())


def test_g2_calls_that_fail_while_others_succeed_pause_and_end_nothing() -> None:
    async def story() -> None:
        told: list[str] = []
        limiter, breaker = RateLimiter(32), Breaker(on_note=told.append)
        poison = [
            asyncio.create_task(call(Provider(failed(), takes_s=9.0), limiter=limiter, breaker=breaker))
            for _ in range(9)
        ]
        while not all(task.done() for task in poison):
            await call(Provider("reply", takes_s=1.0), limiter=limiter, breaker=breaker)
        for _ in range(3 * FAILING):
            bad = Provider(failed("provider.bad_request", retry="no"), takes_s=10.0)
            with pytest.raises(ProviderError):
                await call(bad, limiter=limiter, breaker=breaker)
        assert (breaker.error, breaker.outage.is_paused, told) == (None, False, [])

    run_virtually(story())


@pytest.mark.parametrize("code", ["provider.connection", "provider.failed", "provider.timeout"])
def test_g2_an_outage_pauses_all_calls_tells_it_and_costs_none_its_reply(code: str) -> None:
    told: list[str] = []
    server_calls = 0

    async def story() -> None:
        loop = asyncio.get_running_loop()
        limiter, breaker = RateLimiter(8), Breaker(on_note=told.append)

        async def serve() -> str:
            nonlocal server_calls
            server_calls += 1
            await asyncio.sleep(0.1)
            if 5 <= loop.time() < 200:
                raise failed(code)
            return "reply"

        calls = [call(serve, limiter=limiter, breaker=breaker, policy=RetryPolicy()) for _ in range(1000)]
        assert await asyncio.gather(*calls) == ["reply"] * 1000

    run_virtually(story())
    assert server_calls < 1000 + 8 + 20
    assert len(told) == 2
    assert (told[0][:7], told[1][:19]) == ("paused:", "calls succeed again")


def test_g2_an_outage_that_lasts_ends_all_calls_at_its_limit() -> None:
    async def story() -> None:
        limiter, breaker = RateLimiter(8), Breaker()
        dead = Provider(failed("provider.failed"))
        await call(Provider("reply"), limiter=limiter, breaker=breaker)
        ended = await asyncio.gather(
            *[call(dead, limiter=limiter, breaker=breaker) for _ in range(20)], return_exceptions=True
        )
        assert {type(error) for error in ended} == {ProviderError}
        assert breaker.error is not None
        assert 290 < asyncio.get_running_loop().time() < 320
        assert len(dead.called_at) < 40

    run_virtually(story())


def asking(server: Server) -> Callable[[], Awaitable[str]]:
    async def make() -> str:
        try:
            await server.call()
        except Throttled as refusal:
            raise throttled(refusal.retry_after_s) from refusal
        return "reply"

    return make


@pytest.mark.parametrize("retry_after_s", [None, 1.0, 20.0])
def test_a_storm_of_refusals_costs_no_call_its_answer(retry_after_s: float | None) -> None:
    async def story() -> None:
        server = Server(at_once=32, takes_s=0.2, retry_after_s=retry_after_s, storms=lambda now: 2 <= now < 62)
        limiter, breaker = RateLimiter(64), Breaker()
        calls = [call_with_retries(asking(server), limiter, RetryPolicy(), breaker) for _ in range(1500)]
        assert await asyncio.gather(*calls) == ["reply"] * 1500
        assert len(server.refused) < 300

    run_virtually(story())


def test_refusals_without_an_end_end_all_calls_within_minutes() -> None:
    async def story() -> None:
        server = Server(takes_s=0.2, retry_after_s=1.0, storms=lambda _: True)
        limiter, breaker = RateLimiter(64), Breaker()
        calls = [call_with_retries(asking(server), limiter, RetryPolicy(), breaker) for _ in range(4000)]
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert all(isinstance(error, ProviderError) for error in ended)
        assert asyncio.get_running_loop().time() < 2 * RetryPolicy().max_s
        assert len(server.refused) < 1000

    run_virtually(story())


@settings(max_examples=50)
@given(
    answers=st.lists(
        st.sampled_from(["reply", "later", "same", "no", "throttled", "throttled 3 s", "final"]),
        min_size=1,
        max_size=12,
    ),
    cancels=st.lists(st.none() | st.integers(0, 20), min_size=1, max_size=6),
    seed=st.integers(0, 99),
)
def test_every_call_ends_with_its_reply_or_its_error_and_no_slot_is_lost(
    answers: list[str], cancels: list[int | None], seed: int
) -> None:
    made: dict[str, ProviderError | str] = {
        "reply": "reply",
        "later": failed(),
        "same": failed(retry="same"),
        "no": failed(retry="no"),
        "throttled": throttled(),
        "throttled 3 s": throttled(3.0),
        "final": failed(retry="no", is_final=True),
    }

    async def story() -> None:
        loop, limiter, breaker = asyncio.get_running_loop(), RateLimiter(2), Breaker()
        draw = random.Random(seed).random
        provider = Provider(*[made[answer] for answer in answers], takes_s=0.3)
        tasks = [asyncio.create_task(call(provider, limiter=limiter, breaker=breaker, draw=draw)) for _ in cancels]
        for task, after in zip(tasks, cancels, strict=True):
            if after is not None:
                loop.call_later(after / 10, task.cancel)
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            assert result == "reply" or isinstance(result, ProviderError | asyncio.CancelledError)
        assert limiter.in_flight == 0
        assert loop.time() < 10 * POLICY.max_s

    run_virtually(story())
