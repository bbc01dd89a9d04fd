"""Retry calls to a model under its rate limiter, and stop all calls once none can succeed."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import NamedTuple, TypeVar

from evalsi_kernel.broker.ask import NO_TOKENS, UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.outage import DEFAULT_POLICY, SIGNS, Outage, OutagePolicy
from evalsi_kernel.broker.rate_limiter import RateLimiter

T = TypeVar("T")

THROTTLED, UNREACHABLE = "provider.rate_limited", "provider.connection"
REFUSALS = {
    THROTTLED,
    "provider.auth",
    "provider.bad_request",
    "provider.failed",
    "provider.not_found",
    "provider.quota",
    "provider.tls",
    "provider.unsupported",
}
FAILING = 10
"""Calls stop when this many different calls are rejected within `FAILING_S` and none succeeds."""
FAILING_S = 120.0
MAX_LONG_WAITS = 10
"""Calls stop after this many in a row with a Retry-After beyond the time limit of a call."""
COLD_TRIES = 4
"""A provider that was never reached is given up after this many tries of one call."""
COLD_PAGES = 2
"""An address is wrong if this many different calls get an error page and the service answers none."""
COLD_PROBES = 2
"""A provider that was never reached is given up after this many failed tries of a pause."""


_NUMBERS = count()


class RetryPolicy(NamedTuple):
    """How often and how long a call is retried.

    Args:
        max_tries: maximum number of failures; rejections (429) do not count, only `max_s` limits them.
        max_s: time limit for a call with all its tries and the waits between them, without the wait for a slot; a
            second try is always made.
        base_s: maximum wait after the first try; doubles from try to try.
        longest_s: maximum backoff, unless the provider asks for more.
    """

    max_tries: int = 7
    max_s: float = 300.0
    base_s: float = 1.0
    longest_s: float = 30.0


class Breaker:
    """Circuit breaker that stops all calls to a model once none can succeed; it never closes again.

    Args:
        outage: when calls pause, and for how long, before they are stopped.
        on_note: gets a sentence for a person when they pause and when they go on.

    Attributes:
        error: why calls are stopped; None while they are not.
        outage: pauses calls while none succeeds.
        may_be_misplaced: whether the address may be wrong, because nothing was ever served there.
    """

    def __init__(self, outage: OutagePolicy = DEFAULT_POLICY, on_note: Callable[[str], None] | None = None) -> None:
        self.error: ProviderError | None = None
        self.may_be_misplaced = True
        self.outage = Outage(outage, on_note)
        self._broke = asyncio.Event()
        self._successes = 0
        self._long_waits = 0
        self._failing = 0
        self._failing_since = 0.0
        self._in_flight: set[int] = set()
        self._pages: set[int] = set()
        self._witnesses: set[int] | None = None

    @property
    def is_cold(self) -> bool:
        """Whether no call has succeeded yet."""
        return not self._successes

    def trip(self, error: ProviderError) -> None:
        """Stop all calls; the first error is kept as the reason."""
        if self.error is None:
            self.error = error
            self._broke.set()

    def check(self, calls: int, tokens: Tokens) -> None:
        """Raise the reason why calls are stopped, if they are.

        Args:
            calls: number of calls made before for the same reply.
            tokens: tokens used by them.
        """
        if self.error is not None:
            raise renewed(self.error, self.error.error.message, calls, tokens) from self.error

    def succeeded(self) -> None:
        """Record a successful call."""
        self._successes += 1
        self.may_be_misplaced = False
        self._long_waits = 0
        self._failing = 0
        self.outage.succeeded()

    @contextmanager
    def in_flight(self, call: int) -> Iterator[None]:
        """Count a call among those that are being made."""
        self._in_flight.add(call)
        try:
            yield
        finally:
            self._in_flight.discard(call)
            if self._witnesses is not None:
                self._witnesses.discard(call)

    @property
    def is_alone(self) -> bool:
        """Whether no other call is being made."""
        return not self._in_flight

    def answered_by_page(self, call: int) -> bool:
        """Record an error page in place of an answer; return whether the address is wrong.

        One record may break an application that serves all others. So it takes two calls, and no answer to any that
        was being made when the first page came.
        """
        if self._witnesses is None:
            self._witnesses = set(self._in_flight)
        self._pages.add(call)
        return len(self._pages) >= COLD_PAGES and not self._witnesses

    def asked_to_wait(self, error: ProviderError) -> None:
        """Record a call with a Retry-After beyond its time limit."""
        self._long_waits += 1
        if self._long_waits >= MAX_LONG_WAITS:
            self.trip(error)

    def rejected(self, error: ProviderError, previous: int | None) -> int:
        """Record a rejected try (429).

        Args:
            error: how it failed.
            previous: the return value for the previous try of the same call; None for its first.

        Returns:
            A value to pass for the next try of the same call; each call counts once between two successes.
        """
        now = asyncio.get_running_loop().time()
        if not self._failing:
            self._failing_since = now
        self._failing += previous != self._successes
        if self._failing >= FAILING and now - self._failing_since >= FAILING_S:
            self._trip_after(error, now - self._failing_since)
        return self._successes

    def failed(self, error: ProviderError, call: int) -> None:
        """Record a failed try that may be due to an outage; an outage that lasts too long stops all calls."""
        lasted_s = self.outage.failed(error, call)
        if lasted_s is None and error.error.code == UNREACHABLE and self.is_cold and self.outage.probes >= COLD_PROBES:
            self.trip(renewed(error, error.error.message, 0, NO_TOKENS))
        if lasted_s is not None:
            self._trip_after(error, lasted_s)

    def _trip_after(self, error: ProviderError, seconds: float) -> None:
        why = f"No call has succeeded for {seconds:.0f} s, so all calls are stopped."
        self.trip(renewed(error, f"{error.error.message} {why}", 0, NO_TOKENS))

    async def rest(self, seconds: float) -> None:
        """Wait, or return early once all calls are stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._broke.wait()


async def call_with_retries(
    make: Callable[[], Awaitable[T]],
    limiter: RateLimiter,
    policy: RetryPolicy,
    breaker: Breaker,
    *,
    draw: Callable[[], float] = random.random,
    on_failed: Callable[[ProviderError], None] | None = None,
    takes_turns: bool = False,
) -> T:
    """Make a call, with retries where they may help.

    Backoff is exponential with full jitter, and never shorter than the provider's Retry-After; the first retry of an
    error with retry `same` is immediate. No slot is held while waiting.

    Args:
        make: makes one call; must have a timeout of its own.
        limiter: rate limiter that admits each try and learns its result.
        policy: limits of tries and time.
        breaker: breaker of the same model as the rate limiter.
        draw: random numbers in [0, 1).
        on_failed: called for each failed try that is followed by another, to count its usage.
        takes_turns: raise the error, with `is_unserved`, where no call has succeeded since this one first failed, so
            that the caller can make another call first.

    Raises:
        ProviderError: the error of the last try, with the number of tries in its message and in `calls`, and the tokens
            of all tries; or the error of the breaker, without a call.
    """
    tries = _Tries(limiter, policy, breaker, takes_turns=takes_turns)
    while True:
        breaker.check(tries.calls, tries.tokens)
        async with breaker.outage.turn(breaker.rest) as is_probe:
            breaker.check(tries.calls, tries.tokens)
            async with limiter.slot() as slot:
                breaker.check(tries.calls, tries.tokens)
                if breaker.outage.is_paused and not is_probe:
                    continue  # The pause began while this call waited for its slot.
                tries.begin()
                try:
                    with breaker.in_flight(tries.number):
                        result = await make()
                except ProviderError as error:
                    failure = error
                    # A wait beyond the limit of one call ends only that call.
                    if _is_throttled(error) and not _asks_too_much(error, policy):
                        slot.throttled(error.retry_after_s)
                else:
                    slot.succeeded()
                    breaker.succeeded()
                    return result
            wait_s = tries.failed(failure, draw())
        if on_failed is not None:
            on_failed(failure)
        if wait_s and not breaker.outage.is_paused:
            await breaker.rest(wait_s)


class _Tries:
    """State of one call over its tries."""

    def __init__(self, limiter: RateLimiter, policy: RetryPolicy, breaker: Breaker, *, takes_turns: bool) -> None:
        self.number = next(_NUMBERS)
        self.calls = 0
        self.tokens = NO_TOKENS
        self._tries = 0
        self._limiter = limiter
        self._policy = policy
        self._breaker = breaker
        self._failures = 0
        self._took_s = 0.0
        self._began_at = 0.0
        self._previous: int | None = None
        self._takes_turns = takes_turns
        self._was_paused = False
        self._is_wrong_address = False
        """Whether a page answers where the provider's API should, and has done so from the start."""
        self._successes: int | None = None
        """Number of successes of all calls when this one first failed."""

    def begin(self) -> None:
        """Record the start of a try."""
        self._tries += 1
        self._began_at = asyncio.get_running_loop().time()

    def failed(self, error: ProviderError, draw: float) -> float:
        """Record a failed try; return the wait before the next one in seconds, or raise the final error."""
        policy, breaker, outage = self._policy, self._breaker, self._breaker.outage
        if self._was_paused and not outage.is_paused:
            # Failures during an outage do not count against the call.
            self._failures, self._took_s, self._successes = 0, 0.0, None
        self.calls += error.is_sent
        self.tokens = self.tokens.plus(taken(error))
        self._failures += not _is_throttled(error)
        if self._successes is None:
            self._successes = outage.successes
        is_unserved = self._successes == outage.successes
        wait_s = _wait_s(error, self._tries, policy, draw)
        self._took_s += asyncio.get_running_loop().time() - self._began_at + wait_s
        is_page = error.is_page and breaker.may_be_misplaced
        may_be_record = is_page and self._takes_turns and error.error.code == "provider.failed"
        self._is_wrong_address = is_page and (not may_be_record or breaker.answered_by_page(self.number))
        if error.is_final or self._is_unreachable(error) or self._is_wrong_address:
            breaker.trip(self._raised(error, self._end(error) or ""))
        elif _asks_too_much(error, policy):
            breaker.asked_to_wait(self._raised(error, self._end(error) or ""))
        elif error.error.code == THROTTLED:
            self._previous = breaker.rejected(error, self._previous)
            if self._limiter.rejected_for_s > policy.max_s:
                breaker.trip(self._raised(error, self._end(error) or ""))
        elif error.error.code == "provider.bad_request":
            outage.succeeded()  # The server is up and parses requests.
        elif is_unserved and not error.has_fallback:
            breaker.failed(error, self.number)
        may_be_outage = error.error.code in SIGNS and error.error.retry != "no" and not error.has_fallback
        self._was_paused = outage.is_paused and may_be_outage
        end = self._end(error)
        if breaker.error is not None:
            self._limiter.release_all()
            # The outage, not the call, is at fault: raise the error of all calls.
            if self._was_paused:
                breaker.check(self.calls, self.tokens)
        elif self._was_paused:
            end = "" if self._takes_turns else None
        elif may_be_record and breaker.is_alone and not error.has_fallback:
            end = ""  # Another call will show whether the address is wrong.
        if end is not None:
            raised = self._raised(error, end)
            raised.is_unserved = self._takes_turns and is_unserved and may_be_outage and breaker.error is None
            raise raised from error
        return wait_s

    def _raised(self, error: ProviderError, end: str) -> ProviderError:
        return renewed(error, f"{error.error.message}{end}", self.calls, self.tokens)

    def _end(self, error: ProviderError) -> str | None:
        """Return what to append to the message of the last error; None where another try may help."""
        policy = self._policy
        tried = f" It was tried {self._tries} times." if self._tries > 1 else ""
        if _asks_too_much(error, policy):
            asked_s = error.retry_after_s or 0.0
            return f" It asks to wait {asked_s:,.0f} s, but a call may take at most {policy.max_s:,.0f} s.{tried}"
        is_over = (
            self._failures >= policy.max_tries
            or self._limiter.rejected_for_s > policy.max_s
            or (self._took_s > policy.max_s and self._tries > 1)
        )
        is_over = is_over or error.is_final or error.error.retry == "no"
        is_over = is_over or self._is_unreachable(error) or self._is_wrong_address
        return tried if is_over else None

    def _is_unreachable(self, error: ProviderError) -> bool:
        """Whether the server seems not to exist: a wrong address, or one that is down."""
        return error.error.code == UNREACHABLE and self._breaker.is_cold and self._failures >= COLD_TRIES


def _is_throttled(error: ProviderError) -> bool:
    return error.error.code == THROTTLED or error.retry_after_s is not None


def _asks_too_much(error: ProviderError, policy: RetryPolicy) -> bool:
    """Return whether the Retry-After exceeds the time limit of a call."""
    return (error.retry_after_s or 0.0) > policy.max_s


def _wait_s(error: ProviderError, tries: int, policy: RetryPolicy, draw: float) -> float:
    """Return how long to wait before the next try, in seconds."""
    if error.error.retry == "same" and tries == 1:
        own_s = 0.0
    else:
        own_s = draw * min(policy.longest_s, policy.base_s * 2.0 ** min(tries - 1, 30))
    return max(own_s, error.retry_after_s or 0.0)


def taken(error: ProviderError) -> Tokens:
    """Return the tokens used by a failed call; a rejected request, or one that was not sent, counts as 0."""
    is_nothing = not error.is_sent or error.error.code in REFUSALS
    return NO_TOKENS if error.tokens == UNKNOWN_TOKENS and is_nothing else error.tokens


def renewed(error: ProviderError, message: str, calls: int, tokens: Tokens) -> ProviderError:
    """Return a copy of an error; each waiting call needs an exception instance of its own.

    Args:
        error: the error to copy.
        message: the new message.
        calls: number of calls made.
        tokens: tokens used by them.
    """
    wire = error.error
    copy = ProviderError(
        wire.code,
        message,
        wire.hint,
        source=wire.source,
        retry=wire.retry,
        retry_after_s=error.retry_after_s,
        is_final=error.is_final,
        tokens=tokens,
        is_sent=error.is_sent,
        is_page=error.is_page,
    )
    copy.calls = calls
    return copy
