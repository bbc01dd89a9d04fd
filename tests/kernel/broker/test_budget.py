"""However many calls are in flight, together they never pass the budget; none waits for ever or is refused early."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_kernel.broker.ask import NO_TOKENS, Tokens
from evalsi_kernel.broker.budget import Budget, BudgetSpent
from tests.kernel.broker.virtual_time import run_virtually


def run(story: Coroutine[Any, Any, None]) -> None:
    run_virtually(story)


def test_256_calls_in_flight_that_take_their_worst_case_stop_at_the_limit() -> None:
    async def story() -> None:
        budget = Budget(100_000, 1.0)
        spent_tokens, spent_usd, made, refused = 0, 0.0, 0, 0

        async def call() -> None:
            nonlocal spent_tokens, spent_usd, made, refused
            try:
                reservation = await budget.reserve(300, 0.002)
            except BudgetSpent:
                refused += 1
                return
            await asyncio.sleep(0.5)
            spent_tokens += 300
            spent_usd += 0.002
            made += 1
            reservation.settle(Tokens(250, 50), 0.002)

        await asyncio.gather(*[call() for _ in range(1000)])
        assert made == 333
        assert refused == 1000 - made
        assert spent_tokens <= 100_000
        assert spent_usd <= 1.0

    run(story())


CALLS = st.lists(
    st.tuples(
        st.integers(0, 500),  # tokens at most
        st.integers(0, 500),  # cents at most
        st.floats(0, 1) | st.none(),  # the share that it takes; None does not say
        st.integers(0, 5),  # begins
        st.integers(1, 5),  # takes
        st.none() | st.integers(0, 9),  # is cancelled
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=150)
@given(
    max_tokens=st.none() | st.integers(0, 3000),
    max_cents=st.none() | st.integers(0, 3000),
    calls=CALLS,
)
def test_spent_and_reserved_never_pass_the_limit_and_all_is_decided_whatever_calls_take_and_whoever_goes_away(
    max_tokens: int | None, max_cents: int | None, calls: list[tuple[int, int, float | None, int, int, int | None]]
) -> None:
    async def story() -> None:
        budget = Budget(max_tokens, None if max_cents is None else max_cents / 100)
        tokens = cents = 0  # What is spent, and of calls in flight the most.
        spent_tokens = spent_cents = 0

        async def call(most_tokens: int, most_cents: int, share: float | None, begins: int, takes: int) -> str:
            nonlocal tokens, cents, spent_tokens, spent_cents
            await asyncio.sleep(begins)
            try:
                reservation = await budget.reserve(most_tokens, most_cents / 100)
            except BudgetSpent:
                beyond_tokens = max_tokens is not None and spent_tokens + most_tokens > max_tokens
                beyond_cents = max_cents is not None and spent_cents + most_cents > max_cents
                assert beyond_tokens or beyond_cents  # Not refused for what is only reserved.
                return "refused"
            tokens, cents = tokens + most_tokens, cents + most_cents
            assert max_tokens is None or tokens <= max_tokens
            assert max_cents is None or cents <= max_cents
            took = (most_tokens, most_cents) if share is None else (int(most_tokens * share), int(most_cents * share))
            try:
                await asyncio.sleep(takes)
            except asyncio.CancelledError:
                tokens, cents = tokens - most_tokens, cents - most_cents
                reservation.settle(NO_TOKENS, 0.0)
                raise
            tokens, cents = tokens - most_tokens + took[0], cents - most_cents + took[1]
            spent_tokens, spent_cents = spent_tokens + took[0], spent_cents + took[1]
            if share is None:
                reservation.settle(Tokens(), None)
            else:
                reservation.settle(Tokens(took[0], 0), took[1] / 100)
            return "made"

        tasks = [asyncio.create_task(call(*one[:5])) for one in calls]
        for task, one in zip(tasks, calls, strict=True):
            if one[5] is not None:
                asyncio.get_running_loop().call_later(one[5], task.cancel)
        # A deadlock is an error of the virtual clock.
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        for result, one in zip(ended, calls, strict=True):
            assert result in ("made", "refused") or (isinstance(result, asyncio.CancelledError) and one[5] is not None)
        if max_tokens is not None and spent_tokens < max_tokens and max_cents is None:
            await budget.reserve(max_tokens - spent_tokens, 0.0)  # Nothing that was given back is lost.

    run(story())


def test_a_call_waits_for_those_in_flight_to_take_less_than_they_might() -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        first = await budget.reserve(700, None)
        waiting = asyncio.create_task(budget.reserve(600, None))
        await asyncio.sleep(1)
        assert not waiting.done()
        first.settle(Tokens(300, 100), None)
        (await waiting).settle(Tokens(500, 100), None)
        with pytest.raises(BudgetSpent):
            await budget.reserve(1, None)

    run(story())


def test_a_call_that_waits_is_refused_as_soon_as_too_much_is_spent_also_behind_another() -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        first, second = await budget.reserve(400, None), await budget.reserve(500, None)
        small = asyncio.create_task(budget.reserve(450, None))
        large = asyncio.create_task(budget.reserve(700, None))
        await asyncio.sleep(1)
        first.settle(Tokens(400, 0), None)
        await asyncio.sleep(1)
        assert not small.done()
        assert isinstance(large.exception(), BudgetSpent)
        second.settle(NO_TOKENS, 0.0)
        assert await small

    run(story())


def test_who_waits_longest_comes_first_also_before_a_smaller_call() -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        first = await budget.reserve(600, None)
        large = asyncio.create_task(budget.reserve(900, None))
        await asyncio.sleep(1)
        small = asyncio.create_task(budget.reserve(100, None))
        await asyncio.sleep(1)
        assert not small.done()
        first.settle(Tokens(50, 0), None)
        of_large = await large
        assert not small.done()
        of_large.settle(Tokens(10, 0), None)
        assert await small

    run(story())


def test_a_smaller_call_goes_on_when_the_larger_one_before_it_goes_away() -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        await budget.reserve(600, None)
        large = asyncio.create_task(budget.reserve(900, None))
        await asyncio.sleep(1)
        small = asyncio.create_task(budget.reserve(100, None))
        await asyncio.sleep(1)
        large.cancel()
        assert await small

    run(story())


@pytest.mark.parametrize("tokens", [Tokens(), Tokens(10), Tokens(None, 10), Tokens(cache_read=5)])
def test_what_a_call_did_not_say_is_booked_as_all_that_was_reserved(tokens: Tokens) -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        (await budget.reserve(600, None)).settle(tokens, None)
        with pytest.raises(BudgetSpent, match="600 are spent"):
            await budget.reserve(401, None)
        assert await budget.reserve(400, None)

    run(story())


def test_an_unknown_cost_is_booked_as_all_that_was_reserved() -> None:
    async def story() -> None:
        budget = Budget(None, 1.0)
        (await budget.reserve(1, 0.75)).settle(Tokens(1, 0), None)
        with pytest.raises(BudgetSpent, match=r"\$0\.75 is spent"):
            await budget.reserve(1, 0.26)
        assert await budget.reserve(1, 0.25)

    run(story())


def test_a_call_that_took_nothing_gives_all_back_and_is_settled_only_once() -> None:
    async def story() -> None:
        budget = Budget(1000, 1.0)
        unused = await budget.reserve(1000, 1.0)
        unused.settle(NO_TOKENS, 0.0)
        unused.settle(Tokens(1000, 0), 1.0)
        settled = await budget.reserve(1000, 1.0)
        settled.settle(Tokens(100, 100), 0.5)
        settled.settle(NO_TOKENS, 0.0)
        settled.settle(Tokens(100, 100), 0.5)
        assert await budget.reserve(800, 0.5)
        with pytest.raises(BudgetSpent):
            await budget.reserve(801, 0.1)

    run(story())


def test_a_call_that_took_more_than_was_reserved_is_booked_whole() -> None:
    async def story() -> None:
        budget = Budget(1000, None)
        (await budget.reserve(100, None)).settle(Tokens(900, 300), None)
        with pytest.raises(BudgetSpent, match="1,200 are spent"):
            await budget.reserve(0, None)

    run(story())


def test_without_a_limit_nothing_is_refused_and_nothing_need_be_known() -> None:
    async def story() -> None:
        budget = Budget(None, None)
        for _ in range(300):
            (await budget.reserve(10**9, None)).settle(Tokens(), None)

    run(story())


def test_sums_of_dollars_are_exact_at_the_limit() -> None:
    async def story() -> None:
        budget = Budget(None, 0.3)
        for usd in (0.1, 0.2):
            (await budget.reserve(1, usd)).settle(Tokens(1, 0), usd)
        with pytest.raises(BudgetSpent):
            await budget.reserve(1, 1e-9)

    run(story())


def test_a_free_model_may_be_called_with_a_budget_of_nothing() -> None:
    async def story() -> None:
        assert await Budget(None, 0.0).reserve(100, 0.0)

    run(story())


def test_a_refusal_says_limit_spent_and_reserved_and_what_to_raise() -> None:
    async def story() -> None:
        budget = Budget(10_000, 2.0)
        (await budget.reserve(5000, 1.5)).settle(Tokens(4000, 1000), 1.5)
        await budget.reserve(2000, 0.25)
        with pytest.raises(BudgetSpent) as by_tokens:
            await budget.reserve(6000, 0.1)
        with pytest.raises(BudgetSpent) as by_usd:
            await budget.reserve(100, 0.75)
        assert by_tokens.value.error.code == by_usd.value.error.code == "judge.budget"
        assert by_tokens.value.error.message == (
            "The budget of 10,000 tokens does not cover a call of up to 6,000: "
            "5,000 are spent, and 2,000 reserved for calls in flight."
        )
        assert "--judge-budget-tokens" in by_tokens.value.error.hint
        assert by_usd.value.error.message == (
            "The budget of $2.00 does not cover a call of up to $0.75: "
            "$1.50 is spent, and $0.25 reserved for calls in flight."
        )
        assert by_usd.value.error.hint == "Raise --judge-budget-usd."

    run(story())


def test_a_budget_in_dollars_refuses_a_model_of_unknown_price_and_says_why() -> None:
    async def story() -> None:
        with pytest.raises(BudgetSpent) as caught:
            await Budget(None, 5.0).reserve(100, None)
        assert caught.value.error.message == (
            "The price of the model is unknown, so the budget of $5.00 cannot be enforced."
        )
        assert "--judge-prices" in caught.value.error.hint

    run(story())


def test_most_of_a_budget_is_used_though_calls_take_little_of_their_worst_case() -> None:
    async def story() -> None:
        budget, draw, made = Budget(1_000_000, None), random.Random(5), 0

        async def call() -> None:
            nonlocal made
            try:
                reservation = await budget.reserve(20_000, None)
            except BudgetSpent:
                return
            took = draw.randint(500, 1500)
            await asyncio.sleep(draw.random())
            reservation.settle(Tokens(took, 0), None)
            made += 1

        await asyncio.gather(*[call() for _ in range(2000)])
        assert made > 0.95 * 1_000_000 / 1000

    run(story())
