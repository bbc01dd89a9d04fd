"""Make calls to one model: reserve budget, limit the rate, retry, and compute the cost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from evalsi_kernel.broker.ask import NO_TOKENS, UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.budget import Budget, BudgetSpent
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.outage import OutagePolicy
from evalsi_kernel.broker.prices import PriceTable
from evalsi_kernel.broker.rate_limiter import RateLimiter
from evalsi_kernel.broker.retries import Breaker, RetryPolicy, call_with_retries, taken
from evalsi_kernel.broker.settings import MAX_WAIT_S, ModelSettings
from evalsi_protocol.errors import WireError


class Spent(NamedTuple):
    """Usage of one or more calls.

    Args:
        tokens: sum of their tokens.
        cost_usd: sum of their costs; None means unknown.
        calls: number of requests that were sent.
    """

    tokens: Tokens = UNKNOWN_TOKENS
    cost_usd: float | None = None
    calls: int = 0

    def plus(self, other: Spent) -> Spent:
        """Return the sum of two usages; it is unknown where either is."""
        one, two = self.cost_usd, other.cost_usd
        cost_usd = None if one is None or two is None else one + two
        return Spent(self.tokens.plus(other.tokens), cost_usd, self.calls + other.calls)


NOTHING = Spent(NO_TOKENS, 0.0)


class CallFailed(Exception):
    """A call failed in all its tries, or the budget does not cover it.

    Args:
        error: why it failed.
        spent: usage of the failed tries.
        is_unserved: whether no other call has succeeded since this one first failed, so that it may be an outage.
        is_page: whether a web page or other text was returned instead of a reply of the service.
    """

    def __init__(self, error: WireError, spent: Spent, *, is_unserved: bool = False, is_page: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.spent = spent
        self.is_unserved = is_unserved
        self.is_page = is_page


class Counted(Protocol):
    """The result of a call, which has token counts."""

    @property
    def tokens(self) -> Tokens: ...


R = TypeVar("R", bound=Counted)


class ModelClient:
    """Makes the calls to a model.

    Args:
        model: settings of the model.
        budget: budget of all models of the run together.
        prices: price table.
        limiter: rate limiter; None makes each call at once and without retries, for batched requests.
        price_factor: cost of a call as a share of its list price.
        others: fallback models that may answer in its place.
        on_note: receives a message for the user when calls pause in an outage and when they resume.
        takes_turns: in an outage, raise instead of waiting, so that another call can be made first.

    Attributes:
        budget: of all models of the run together.
    """

    def __init__(
        self,
        model: ModelSettings,
        budget: Budget,
        prices: PriceTable,
        limiter: RateLimiter | None,
        price_factor: float = 1.0,
        *,
        others: Sequence[ModelSettings] = (),
        on_note: Callable[[str], None] | None = None,
        takes_turns: bool = False,
    ) -> None:
        self._models = (model, *others)
        self.budget = budget
        self._prices = prices
        self._limiter = limiter
        self._price_factor = price_factor
        self._breaker = Breaker(OutagePolicy(), on_note)
        self._takes_turns = takes_turns
        self._policy = RetryPolicy()
        if model.max_wait_s != MAX_WAIT_S:
            self._policy = self._policy._replace(max_s=model.max_wait_s)

    async def call(
        self,
        make: Callable[[], Awaitable[R]],
        max_input_tokens: int,
        max_output_tokens: int,
        who: Callable[[R], int] = lambda _: 0,
    ) -> tuple[R, Spent]:
        """Make a call with retries and return its result and usage.

        Args:
            make: makes one call; raises `ProviderError`.
            max_input_tokens: upper bound of the prompt.
            max_output_tokens: upper bound of the reply.
            who: returns the index of the model that replied: 0, or 1 and up for the fallback models.

        Raises:
            CallFailed: the budget does not cover the call, or every try failed.
        """
        most_usd = self.worst_case_usd(max_input_tokens, max_output_tokens)
        try:
            reservation = await self.budget.reserve(max_input_tokens + max_output_tokens, most_usd)
        except BudgetSpent as refusal:
            raise CallFailed(refusal.error, NOTHING) from refusal
        failed: list[Spent] = []
        try:
            reply = await self._made(make, failed)
        except ProviderError as failure:
            spent = self._spent(failure.tokens, failure.calls) if failure.calls else NOTHING
            reservation.settle(spent.tokens, spent.cost_usd)
            told = CallFailed(failure.error, spent, is_unserved=failure.is_unserved, is_page=failure.is_page)
            raise told from failure
        except BaseException:
            # A cancelled call may still be billed: count the whole reservation as spent.
            reservation.settle(UNKNOWN_TOKENS, None)
            raise
        spent = self._spent(reply.tokens, who=who(reply))
        for before in failed:
            spent = spent.plus(before)
        reservation.settle(spent.tokens, spent.cost_usd)
        return reply, spent

    @property
    def broken(self) -> WireError | None:
        """The error that stopped all calls; None while calls are made."""
        return None if self._breaker.error is None else self._breaker.error.error

    @property
    def successes(self) -> int:
        """Number of calls that have succeeded."""
        return self._breaker.outage.successes

    @property
    def is_paused(self) -> bool:
        """Whether calls pause because of an outage."""
        return self._breaker.outage.is_paused

    @property
    def may_be_misplaced(self) -> bool:
        """Whether the address may be wrong, since nothing was ever served there."""
        return self._breaker.may_be_misplaced

    def has_served(self) -> None:
        """Take note that calls succeeded at this address before: a page that answers there now is an outage."""
        self._breaker.may_be_misplaced = False

    def give_up(self, error: WireError) -> None:
        """Stop all calls."""
        self._breaker.trip(ProviderError(error.code, error.message, error.hint, source=error.source, retry=error.retry))

    def worst_case_usd(self, max_input_tokens: int, max_output_tokens: int) -> float | None:
        """Return the maximum cost of a call over all its models; None where a price is unknown."""
        most = 0.0
        for model in self._models:
            cost = self._prices.worst_case_usd(model.provider, model.model, max_input_tokens, max_output_tokens)
            if cost is None:
                return None
            most = max(most, cost)
        return most * self._price_factor

    async def _made(self, make: Callable[[], Awaitable[R]], failed: list[Spent]) -> R:
        """Make a call with retries; the usage of failed tries is appended to `failed`."""
        if self._limiter is None:
            return await make()
        return await call_with_retries(
            make,
            self._limiter,
            self._policy,
            self._breaker,
            on_failed=lambda failure: failed.append(self._spent(taken(failure), int(failure.is_sent))),
            takes_turns=self._takes_turns,
        )

    def _spent(self, tokens: Tokens, calls: int = 1, who: int = 0) -> Spent:
        is_free = tokens.input == 0 and tokens.output == 0
        model = self._models[who]
        cost = 0.0 if is_free else self._prices.cost_usd(model.provider, model.model, tokens)
        return Spent(tokens, None if cost is None else cost * self._price_factor, calls)
