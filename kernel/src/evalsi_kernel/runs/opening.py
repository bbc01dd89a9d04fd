"""What a run asks: the target, and its caller within budget and pace.

It must not know what is asked, nor what scores the answers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from evalsi_kernel.broker.budget import TARGET, Budget
from evalsi_kernel.broker.model_client import ModelClient
from evalsi_kernel.broker.prices import PriceTable
from evalsi_kernel.broker.rate_limiter import RateLimiter
from evalsi_kernel.broker.settings import BrokerSettings, ModelSettings
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.hook_calls import connector, open_source, open_target, price_file, read_prices
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunRequest
from evalsi_kernel.runs.spec import BudgetSpec
from evalsi_kernel.target import Target, TargetInput, TargetServices, TargetSettings, fallbacks_of

if TYPE_CHECKING:
    from evalsi_kernel.request import Listener


def settings_with_budget(models: BrokerSettings | None, budget: BudgetSpec) -> BrokerSettings | None:
    """The models within what the spec allows them as well."""
    if models is None:
        return None
    return models._replace(
        max_tokens=_least(models.max_tokens, budget.max_judge_tokens),
        max_usd=_least(models.max_usd, budget.max_judge_usd),
    )


_Number = TypeVar("_Number", int, float)


def _least(one: _Number | None, other: _Number | None) -> _Number | None:
    given = [value for value in (one, other) if value is not None]
    return min(given) if given else None


@asynccontextmanager
async def target_of(request: RunRequest, extensions: Extensions) -> AsyncIterator[Target]:
    """The target, until the block is left."""
    spec = request.document.spec.target
    settings = TargetSettings(spec.connector, spec.options, request.folder, spec.max_concurrency)
    lent = TargetServices(lambda model: connector(model, extensions), lambda uri: open_source(uri, extensions))
    target = open_target(settings, lent, extensions)
    try:
        yield target
    finally:
        await target.close()


def prices_of(target: Target, request: RunRequest, extensions: Extensions) -> PriceTable:
    """What a target's tokens cost, as its connector and the user say."""
    providers = [target.provider, *(provider for provider, _ in fallbacks_of(target))]
    shipped = [price_file(provider, extensions) for provider in dict.fromkeys(providers) if provider]
    own = None if request.models is None else request.models.prices
    paths = [path for path in (*shipped, own, request.prices) if path is not None]
    return PriceTable.load(paths, lambda path: read_prices(path, extensions))


def caller_of(
    target: Target, request: RunRequest, *, spent: tuple[int, float], extensions: Extensions, listener: Listener
) -> ModelClient:
    """What makes the calls to a target.

    Args:
        target: what is called.
        request: what the host asks.
        spent: tokens and USD that earlier attempts took.
        extensions: where prices come from.
        listener: hears when a provider asks to wait.
    """
    limits = request.document.spec.budget
    budget = Budget(limits.max_target_tokens, limits.max_target_usd, TARGET)
    budget.begin_with(*spent)
    at_once = request.document.spec.target.max_concurrency
    prices = prices_of(target, request, extensions)
    model, *others = [
        ModelSettings(model, provider) for provider, model in ((target.provider, target.model), *fallbacks_of(target))
    ]
    pace = RateLimiter(at_once, on_wait=listener.on_note)
    return ModelClient(model, budget, prices, pace, others=others, on_note=listener.on_note, takes_turns=True)


def check_budget(target: Target, request: RunRequest, records: RecordStore) -> None:
    """Refuse a budget that cannot be held because the target does not know what it takes; raises `ConfigError`."""
    limits = request.document.spec.budget
    if not limits.is_of_target:
        return
    bounds = target.bounds(TargetInput(records[0], 1))
    for name, limit in (("max_target_tokens", limits.max_target_tokens), ("max_target_usd", limits.max_target_usd)):
        if limit is not None and (bounds.input_tokens is None or bounds.output_tokens is None):
            raise ConfigError(
                f"spec.budget.{name} cannot be held: the target {request.document.spec.target.connector} does not "
                "know beforehand what a call may take.",
                "Leave it out, or use budget.max_wall_clock.",
            )
