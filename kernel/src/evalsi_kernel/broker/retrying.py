"""INTERIM, to be replaced by the session that owns it: tries again, and breaks off after a final error."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.pace import Pace

T = TypeVar("T")


class RetryPolicy(NamedTuple):
    tries: int = 5
    base_s: float = 0.5
    most_s: float = 30.0


class Breaker:
    def __init__(self) -> None:
        self.error: ProviderError | None = None


async def call_with_retries(make: Callable[[], Awaitable[T]], pace: Pace, policy: RetryPolicy, breaker: Breaker) -> T:
    calls = 0
    while True:
        try:
            async with pace.slot() as slot:
                if breaker.error is not None:
                    error = breaker.error
                    again = ProviderError(error.error.code, error.error.message, error.error.mend, blame=error.error.blame)
                    again.calls = calls
                    again.tokens = Tokens(0, 0, 0, 0, 0)
                    raise again
                calls += 1
                try:
                    reply = await make()
                except ProviderError as error:
                    error.calls = calls
                    if error.error.code == "provider.rate_limited":
                        slot.throttled(error.retry_after_s)
                    if error.is_final:
                        breaker.error = error
                    raise
                slot.succeeded()
                return reply
        except ProviderError as error:
            if error.error.retry == "no" or calls >= policy.tries or not calls:
                raise
            wait_s = random.random() * min(policy.most_s, policy.base_s * 2**calls)
            await asyncio.sleep(max(wait_s, error.retry_after_s or 0.0))
