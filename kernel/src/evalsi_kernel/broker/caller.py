"""Calls to one model: within the budget, at the model's pace, tried again, and priced.

It must not know what is asked, nor what a reply is worth.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from evalsi_kernel.broker.ask import NO_TOKENS, UNKNOWN_TOKENS, Tokens
from evalsi_kernel.broker.budget import Budget, BudgetSpent
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.outage import OutagePolicy
from evalsi_kernel.broker.pace import Pace
from evalsi_kernel.broker.prices import PriceTable
from evalsi_kernel.broker.retrying import Breaker, RetryPolicy, call_with_retries, taken
from evalsi_kernel.broker.settings import MAX_WAIT_S, ModelSettings
from evalsi_protocol.errors import WireError


class Spent(NamedTuple):
    """What calls took.

    Args:
        tokens: of all together.
        cost_usd: of all together; None is unknown.
        calls: how many requests were sent.
    """

    tokens: Tokens = UNKNOWN_TOKENS
    cost_usd: float | None = None
    calls: int = 0

    def plus(self, other: Spent) -> Spent:
        """Both together; what is unknown of either is unknown of both."""
        one, two = self.cost_usd, other.cost_usd
        cost_usd = None if one is None or two is None else one + two
        return Spent(self.tokens.plus(other.tokens), cost_usd, self.calls + other.calls)


NOTHING = Spent(NO_TOKENS, 0.0)


class CallFailed(Exception):
    """No call brought a reply: why, and what they took all the same.

    Attributes:
        is_unserved: whether no call of any kind has succeeded meanwhile, so that it may be an outage.
    """

    def __init__(self, error: WireError, spent: Spent, *, is_unserved: bool = False) -> None:
        super().__init__(str(error))
        self.error = error
        self.spent = spent
        self.is_unserved = is_unserved


class Counted(Protocol):
    """What a call brings says what it took."""

    @property
    def tokens(self) -> Tokens: ...


R = TypeVar("R", bound=Counted)


class Caller:
    """Makes the calls to a model.

    Args:
        model: what the user says of it.
        budget: of all models of the run together.
        prices: what tokens cost.
        pace: how many calls may be in flight; None makes each call once and at once, as asks of batches are.
        price_factor: what a call costs, as a share of its price.
        others: models that may answer in its place.
        on_note: gets a sentence for a person when calls pause in an outage and when they go on.
        takes_turns: give a call back in an outage, so that another can be made in its place.

    Attributes:
        budget: of all models of the run together.
    """

    def __init__(
        self,
        model: ModelSettings,
        budget: Budget,
        prices: PriceTable,
        pace: Pace | None,
        price_factor: float = 1.0,
        *,
        others: Sequence[ModelSettings] = (),
        on_note: Callable[[str], None] | None = None,
        takes_turns: bool = False,
    ) -> None:
        self._models = (model, *others)
        self.budget = budget
        self._prices = prices
        self._pace = pace
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
        """What a call brings, and what it took.

        Args:
            make: makes one call; raises `ProviderError`.
            max_input_tokens: the most that the prompt can take.
            max_output_tokens: the most that the reply can take.
            who: tells which model made the reply: 0, or the place of one of the others, from 1.

        Raises:
            CallFailed: the budget does not cover it, or every try failed.
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
            raise CallFailed(failure.error, spent, is_unserved=failure.is_unserved) from failure
        except BaseException:
            # A call that was broken off may be billed all the same: what was set aside for it counts as spent.
            reservation.settle(UNKNOWN_TOKENS, None)
            raise
        spent = self._spent(reply.tokens, who=who(reply))
        for before in failed:
            spent = spent.plus(before)
        reservation.settle(spent.tokens, spent.cost_usd)
        return reply, spent

    @property
    def broken(self) -> WireError | None:
        """Why no more calls are made: none could come through; None as long as they are."""
        return None if self._breaker.error is None else self._breaker.error.error

    @property
    def successes(self) -> int:
        """How many calls have succeeded."""
        return self._breaker.outage.successes

    @property
    def is_paused(self) -> bool:
        """Whether calls pause since none is served."""
        return self._breaker.outage.is_paused

    def give_up(self, error: WireError) -> None:
        """Make no more calls."""
        self._breaker.trip(ProviderError(error.code, error.message, error.hint, source=error.source, retry=error.retry))

    def worst_case_usd(self, max_input_tokens: int, max_output_tokens: int) -> float | None:
        """The most that a call can cost, whoever answers; None where a price is not known."""
        most = 0.0
        for model in self._models:
            cost = self._prices.worst_case_usd(model.provider, model.model, max_input_tokens, max_output_tokens)
            if cost is None:
                return None
            most = max(most, cost)
        return most * self._price_factor

    async def _made(self, make: Callable[[], Awaitable[R]], failed: list[Spent]) -> R:
        """What comes of a call that is tried as often as that helps; what failed tries took joins `failed`."""
        if self._pace is None:
            return await make()
        return await call_with_retries(
            make,
            self._pace,
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
