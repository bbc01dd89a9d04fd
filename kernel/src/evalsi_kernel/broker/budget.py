"""Enforce the token and USD limits of a run's model calls by reserving the worst case before each call."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.usd import PICO, picodollars, shown_usd
from evalsi_protocol.errors import WireError


class Terms(NamedTuple):
    """Error code and hints of a budget.

    Args:
        code: code of its errors.
        tokens: hint for the token limit.
        usd: hint for the USD limit.
        price: hint for a model without a known price.
    """

    code: str
    tokens: str
    usd: str
    price: str


JUDGE = Terms(
    "judge.budget",
    "Raise --judge-budget-tokens, or budget.max_judge_tokens of the run.",
    "Raise --judge-budget-usd.",
    "Add its price to a file and pass that with --judge-prices, or drop --judge-budget-usd.",
)
TARGET = Terms(
    "run.budget",
    "Raise budget.max_target_tokens and run the same command again to resume.",
    "Raise budget.max_target_usd and run the same command again to resume.",
    "Add its price to a file and pass that with --prices, or drop budget.max_target_usd.",
)


class BudgetSpent(Exception):
    """The budget does not cover a call; the call was not made."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, "config", "no")


class _Amount(NamedTuple):
    """Tokens and picodollars; whole numbers, so that releasing a reservation restores the exact sum."""

    tokens: int = 0
    pico_usd: int = 0

    def plus(self, other: _Amount) -> _Amount:
        return _Amount(self.tokens + other.tokens, self.pico_usd + other.pico_usd)

    def minus(self, other: _Amount) -> _Amount:
        return _Amount(self.tokens - other.tokens, self.pico_usd - other.pico_usd)


class Reservation:
    """Budget reserved for one call; call `settle` with its actual usage. Only the first `settle` counts."""

    __slots__ = ("_amount", "_budget", "_is_open")

    def __init__(self, budget: Budget, amount: _Amount) -> None:
        self._budget = budget
        self._amount = amount
        self._is_open = True

    def settle(self, tokens: Tokens, usd: float | None) -> None:
        """Replace the reservation by the call's usage; the reserved amount counts where the usage is unknown.

        Args:
            tokens: token counts; ignored unless both prompt and reply are known.
            usd: cost of the call; None means unknown.
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
    """The limits on tokens and USD of all model calls of a run together.

    Spent and reserved amounts together never exceed a limit, so concurrent calls cannot exceed it as long as each stays
    within its reservation. A call that would fit if calls in progress used nothing waits for them, because most calls
    use much less than their worst case. Waiting calls are served in order, so that none waits forever.

    Args:
        max_tokens: limit for prompts and replies together; None means no limit.
        max_usd: limit in USD; None means no limit.
        terms: error code and hints.
    """

    def __init__(self, max_tokens: int | None, max_usd: float | None, terms: Terms = JUDGE) -> None:
        self._terms = terms
        self._max_tokens = max_tokens
        self._max_pico_usd = None if max_usd is None else picodollars(max_usd)
        self._spent = _Amount()
        self._reserved = _Amount()
        self._waiting: deque[tuple[_Amount, asyncio.Future[None]]] = deque()

    def begin_with(self, tokens: int, usd: float) -> None:
        """Count the usage of an earlier attempt."""
        self._spent = self._spent.plus(_Amount(tokens, picodollars(usd)))

    @property
    def overshoots(self) -> list[str]:
        """Return one sentence for each exceeded limit; a call may use more than its estimated maximum."""
        found = []
        tokens, pico_usd = self._spent
        if self._max_tokens is not None and tokens > self._max_tokens:
            more = tokens - self._max_tokens
            found.append(f"{tokens:,} tokens were used of a budget of {self._max_tokens:,}: {more:,} too many.")
        if self._max_pico_usd is not None and pico_usd > self._max_pico_usd:
            spent, limit, over = (
                shown_usd(pico / PICO) for pico in (pico_usd, self._max_pico_usd, pico_usd - self._max_pico_usd)
            )
            found.append(f"{spent} was used of a budget of {limit}: {over} too much.")
        return found

    async def reserve(self, tokens: int, usd: float | None) -> Reservation:
        """Wait until the budget has room for a call and reserve it.

        Args:
            tokens: upper bound of prompt and reply together.
            usd: upper bound of the cost; None means unknown.

        Raises:
            BudgetSpent: the call does not fit into what is left, or its price is unknown and there is a limit in USD.
        """
        if usd is None and self._max_pico_usd is not None:
            limit = shown_usd(self._max_pico_usd / PICO)
            raise BudgetSpent(
                self._terms.code,
                f"The price of the model is unknown, so the budget of {limit} cannot be enforced.",
                self._terms.price,
            )
        amount = _Amount(tokens, 0 if usd is None else picodollars(usd))
        if self._waiting or not self._fits(self._reserved.plus(amount)):
            await self._wait(amount)
        else:
            self._reserved = self._reserved.plus(amount)
        return Reservation(self, amount)

    async def _wait(self, amount: _Amount) -> None:
        """Wait until the amount is reserved; raise `BudgetSpent` once it can no longer fit."""
        self._check(amount)
        room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((amount, room))
        try:
            await room
        except asyncio.CancelledError:
            if room.cancelled():
                self._serve()  # A smaller call behind it may fit.
            elif room.exception() is None:
                self._settle(amount, _Amount())  # Reserved, then cancelled before it resumed.
            raise

    def _settle(self, reserved: _Amount, took: _Amount) -> None:
        self._reserved = self._reserved.minus(reserved)
        self._spent = self._spent.plus(took)
        self._serve()

    def _serve(self) -> None:
        """Reserve for waiting calls in order, and fail every waiting call that can no longer fit."""
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
        """Return whether spending this much more stays within the limits."""
        tokens, pico_usd = self._spent.plus(more)
        return (self._max_tokens is None or tokens <= self._max_tokens) and (
            self._max_pico_usd is None or pico_usd <= self._max_pico_usd
        )

    def _check(self, amount: _Amount) -> None:
        """Raise `BudgetSpent` for an amount that does not fit into what is left."""
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
