"""INTERIM, to be replaced by the session that owns it: reserves before a call, settles after it."""

from __future__ import annotations

import asyncio

from evalsi_kernel.broker.ask import Tokens
from evalsi_protocol.errors import WireError


class BudgetSpent(Exception):
    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Reservation:
    def __init__(self, budget: Budget, tokens: int, usd: float | None) -> None:
        self.budget, self.tokens, self.usd = budget, tokens, usd

    def settle(self, tokens: Tokens, usd: float | None) -> None:
        b = self.budget
        known = tokens.input is not None and tokens.output is not None
        b.spent += (tokens.input or 0) + (tokens.output or 0) if known else self.tokens
        b.usd += usd if usd is not None else (self.usd or 0.0)
        self.release()

    def release(self) -> None:
        b = self.budget
        b.reserved -= self.tokens
        b.reserved_usd -= self.usd or 0.0
        b.changed.set()


class Budget:
    def __init__(self, max_tokens: int | None, max_usd: float | None) -> None:
        self.max_tokens, self.max_usd = max_tokens, max_usd
        self.spent = self.reserved = 0
        self.usd = self.reserved_usd = 0.0
        self.changed = asyncio.Event()

    async def reserve(self, tokens: int, usd: float | None) -> Reservation:
        while True:
            over = (self.max_tokens is not None and self.spent + tokens > self.max_tokens) or (
                self.max_usd is not None and (usd is None or self.usd + usd > self.max_usd)
            )
            if over:
                raise BudgetSpent(WireError("judge.budget", "The budget for model calls is used up.", "Raise it.", "config"))
            if (self.max_tokens is None or self.spent + self.reserved + tokens <= self.max_tokens) and (
                self.max_usd is None or self.usd + self.reserved_usd + (usd or 0) <= self.max_usd
            ):
                self.reserved += tokens
                self.reserved_usd += usd or 0.0
                return Reservation(self, tokens, usd)
            self.changed.clear()
            await self.changed.wait()
