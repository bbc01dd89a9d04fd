"""The most that a run's model calls may take, held by reserving before each call the most that it can take.

It must not know what a call is for, nor what anything costs.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.usd import PICO, picodollars, shown_usd
from evalsi_protocol.errors import WireError


class Terms(NamedTuple):
    """How a budget speaks of itself: the code of its errors, and the hints for its limits and for a price."""

    code: str
    tokens: str
    usd: str
    price: str


JUDGE = Terms(
    "judge.budget",
    "Raise --judge-budget-tokens, or budget.max_judge_tokens of the run.",
    "Raise --judge-budget-usd.",
    "Name its price in a file with --judge-prices, or leave --judge-budget-usd out.",
)
TARGET = Terms(
    "run.budget",
    "Raise budget.max_target_tokens; the same command then goes on.",
    "Raise budget.max_target_usd; the same command then goes on.",
    "Name its price in a file with --prices, or leave budget.max_target_usd out.",
)


class BudgetSpent(Exception):
    """A call that the budget does not cover; it was not made."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, "config", "no")


class _Amount(NamedTuple):
    """Tokens and picodollars: whole numbers, so that what is given back is exactly what was taken."""

    tokens: int = 0
    pico_usd: int = 0

    def plus(self, other: _Amount) -> _Amount:
        return _Amount(self.tokens + other.tokens, self.pico_usd + other.pico_usd)

    def minus(self, other: _Amount) -> _Amount:
        return _Amount(self.tokens - other.tokens, self.pico_usd - other.pico_usd)


class Reservation:
    """Room for one call. `settle` what it took, once: what is said of it later does not count."""

    __slots__ = ("_amount", "_budget", "_is_open")

    def __init__(self, budget: Budget, amount: _Amount) -> None:
        self._budget = budget
        self._amount = amount
        self._is_open = True

    def settle(self, tokens: Tokens, usd: float | None) -> None:
        """Book what the call took; of what is unknown, the whole reservation.

        Args:
            tokens: counted unless the prompt or the reply is unknown.
            usd: what it cost; None is unknown.
        """
        is_counted = tokens.input is not None and tokens.output is not None
        took = _Amount(
            (tokens.input or 0) + (tokens.output or 0) if is_counted else self._amount.tokens,
            self._amount.pico_usd if usd is None else picodollars(usd),
        )
        if self._is_open:
            self._is_open = False
            self._budget._settle(self._amount, took)


class Budget:
    """What all model calls of a run may take together.

    The sum of what is spent and what is reserved never passes a limit, so however many calls are in flight, they cannot
    pass it together as long as none takes more than was reserved for it. A call that fits beside what is spent, but not
    beside what is reserved as well, waits: most calls take far less than their worst case. Who waits longest comes
    first, also before a smaller call, so that none waits for ever.

    Args:
        max_tokens: prompts and replies together; None is no limit.
        max_usd: None is no limit.
        terms: how it speaks of itself.
    """

    def __init__(self, max_tokens: int | None, max_usd: float | None, terms: Terms = JUDGE) -> None:
        self._terms = terms
        self._max_tokens = max_tokens
        self._max_pico_usd = None if max_usd is None else picodollars(max_usd)
        self._spent = _Amount()
        self._reserved = _Amount()
        self._waiting: deque[tuple[_Amount, asyncio.Future[None]]] = deque()

    def begin_with(self, tokens: int, usd: float) -> None:
        """Count what an earlier attempt took."""
        self._spent = self._spent.plus(_Amount(tokens, picodollars(usd)))

    @property
    def overshoots(self) -> list[str]:
        """What was spent beyond each limit, a sentence each: a call may take more than could be foreseen."""
        found = []
        tokens, pico_usd = self._spent
        if self._max_tokens is not None and tokens > self._max_tokens:
            more = tokens - self._max_tokens
            found.append(f"{tokens:,} tokens were spent of a budget of {self._max_tokens:,}: {more:,} too many.")
        if self._max_pico_usd is not None and pico_usd > self._max_pico_usd:
            spent, limit, over = (
                shown_usd(pico / PICO) for pico in (pico_usd, self._max_pico_usd, pico_usd - self._max_pico_usd)
            )
            found.append(f"{spent} was spent of a budget of {limit}: {over} too much.")
        return found

    async def reserve(self, tokens: int, usd: float | None) -> Reservation:
        """Reserve room for a call, once there is room.

        Args:
            tokens: the most that it can take, prompt and reply together.
            usd: the most that it can cost; None is unknown.

        Raises:
            BudgetSpent: not even alone would it fit beside what is spent, or its price is unknown and
                there is a limit in USD.
        """
        if usd is None and self._max_pico_usd is not None:
            limit = shown_usd(self._max_pico_usd / PICO)
            raise BudgetSpent(
                self._terms.code,
                f"The price of the model is unknown, so that the budget of {limit} cannot be held.",
                self._terms.price,
            )
        amount = _Amount(tokens, 0 if usd is None else picodollars(usd))
        if self._waiting or not self._fits(self._reserved.plus(amount)):
            await self._wait(amount)
        else:
            self._reserved = self._reserved.plus(amount)
        return Reservation(self, amount)

    async def _wait(self, amount: _Amount) -> None:
        """Wait until the amount is reserved; raises `BudgetSpent` when it cannot be any more."""
        self._check(amount)
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((amount, room))
        try:
            await room
        except asyncio.CancelledError:
            if room.cancelled():
                self._serve()  # Who waits behind it may be smaller.
            elif room.exception() is None:
                self._settle(amount, _Amount())  # It was let in, and goes away before it knows.
            raise

    def _settle(self, reserved: _Amount, took: _Amount) -> None:
        self._reserved = self._reserved.minus(reserved)
        self._spent = self._spent.plus(took)
        self._serve()

    def _serve(self) -> None:
        """Reserve for those who wait, from the front on, and refuse whoever can no longer fit, also further behind."""
        for amount, room in self._waiting:
            if not room.done():
                try:
                    self._check(amount)
                except BudgetSpent as refusal:
                    room.set_exception(refusal)
        while self._waiting:
            amount, room = self._waiting[0]
            if not room.done():
                if not self._fits(self._reserved.plus(amount)):
                    return
                self._reserved = self._reserved.plus(amount)
                room.set_result(None)
            self._waiting.popleft()

    def _fits(self, more: _Amount) -> bool:
        """Whether so much more than what is spent is within the limits."""
        tokens, pico_usd = self._spent.plus(more)
        return (self._max_tokens is None or tokens <= self._max_tokens) and (
            self._max_pico_usd is None or pico_usd <= self._max_pico_usd
        )

    def _check(self, amount: _Amount) -> None:
        """Raise `BudgetSpent` for what does not fit beside what is spent."""
        spent, reserved = self._spent, self._reserved
        if self._max_tokens is not None and spent.tokens + amount.tokens > self._max_tokens:
            raise BudgetSpent(
                self._terms.code,
                f"The budget of {self._max_tokens:,} tokens does not cover a call of up to {amount.tokens:,}: "
                f"{spent.tokens:,} are spent, and {reserved.tokens:,} reserved for calls in flight.",
                self._terms.tokens,
            )
        if self._max_pico_usd is not None and spent.pico_usd + amount.pico_usd > self._max_pico_usd:
            limit, most, gone, held = (
                shown_usd(pico / PICO)
                for pico in (self._max_pico_usd, amount.pico_usd, spent.pico_usd, reserved.pico_usd)
            )
            raise BudgetSpent(
                self._terms.code,
                f"The budget of {limit} does not cover a call of up to {most}: "
                f"{gone} is spent, and {held} reserved for calls in flight.",
                self._terms.usd,
            )
