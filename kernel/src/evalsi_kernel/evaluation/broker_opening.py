"""From what a user says of the models to a broker that is ready: connectors made, prices read, the cache at hand.

It must not know how a question is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.broker.batches import Batches, KeptReplies
from evalsi_kernel.broker.broker import Broker
from evalsi_kernel.broker.budget import Budget
from evalsi_kernel.broker.connector import BatchConnector, Connector, ConnectorSettings
from evalsi_kernel.broker.embedder import Embedder
from evalsi_kernel.broker.judge import Judge
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.ledger import Ledger
from evalsi_kernel.broker.model_client import ModelClient
from evalsi_kernel.broker.preview import Preview
from evalsi_kernel.broker.prices import PriceTable
from evalsi_kernel.broker.rate_limiter import RateLimiter
from evalsi_kernel.broker.reply_log import ReplyLog
from evalsi_kernel.broker.settings import EMBED, BrokerSettings, ModelSettings
from evalsi_kernel.errors import ConfigError, OutputError
from evalsi_kernel.extensions.hook_calls import batches_of, connector, judge_cache, price_file, read_prices
from evalsi_kernel.extensions.installed import Extensions

Note = Callable[[str], None]


async def open_broker(
    settings: BrokerSettings, extensions: Extensions, *, keep_replies: bool, folder: Path | None, on_note: Note
) -> Broker:
    """Make the broker of a run, within its event loop.

    Args:
        settings: which models, and what they may cost.
        extensions: where connectors and prices come from.
        keep_replies: write raw replies down.
        folder: where they lie until the end of the run; None means the system's place for temporary files.
        on_note: gets a sentence for a person, such as that the cache cannot be used or that a provider asks to wait.

    Raises:
        ConfigError: no extension provides a connector or batches, a key is missing, a file of prices cannot be read, or
            a model has no batches where they are asked for.
        CacheError: batches cannot be noted.
        OutputError: raw replies cannot be written down.
    """
    shipped = [price_file(model.provider, extensions) for model in settings.roles.values()]
    paths = [path for path in [*shipped, settings.prices] if path is not None]
    prices = PriceTable.load(paths, lambda path: read_prices(path, extensions))
    budget = Budget(settings.max_tokens, settings.max_usd)
    budget.begin_with(settings.spent_tokens, settings.spent_usd)
    cache = _open_cache(extensions, on_note, may_write=not settings.dry_run) if settings.use_cache else None
    judges: dict[str, Judge] = {}
    embedder = None
    connectors: list[Connector] = []
    try:
        for role, model in settings.roles.items():
            made = connector(_connector_settings(role, model), extensions)
            connectors.append(made)
            limiter = RateLimiter(model.max_in_flight, on_wait=on_note)
            if role == EMBED:
                embedder = Embedder(model, made, ModelClient(model, budget, prices, limiter, on_note=on_note), cache)
            elif settings.batch:
                batched = _with_batches(made)
                client = ModelClient(model, budget, prices, None, batched.batch_price_factor)
                batches = None if settings.dry_run else await _open_batches(made, batched, cache, on_note, extensions)
                judges[role] = Judge(model, made, client, cache, batches)
            else:
                judges[role] = Judge(model, made, ModelClient(model, budget, prices, limiter, on_note=on_note), cache)
        replies = _reply_log(folder) if keep_replies else None
    except BaseException:
        for judge in judges.values():
            if judge.batches is not None:
                await judge.batches.close()
        await asyncio.gather(*(made.close() for made in connectors))
        raise
    preview = Preview() if settings.dry_run else None
    return Broker(judges, embedder, cache=cache, ledger=Ledger(), prices=prices, replies=replies, preview=preview)


def _open_cache(extensions: Extensions, on_note: Note, *, may_write: bool) -> JudgeCache | None:
    try:
        return judge_cache(on_note, extensions, may_write=may_write)
    except ConfigError as error:
        if error.code != "config.no_extension":
            raise
        on_note(f"No extension keeps the replies of models, so each call is made, and paid. {error.hint}")
        return None


def _reply_log(folder: Path | None) -> ReplyLog:
    try:
        return ReplyLog(folder)
    except OSError as error:
        raise OutputError(f"Replies cannot be written to {folder}: {error.strerror}.", "Free some space.") from error


def _connector_settings(role: str, model: ModelSettings) -> ConnectorSettings:
    return ConnectorSettings(
        model.provider,
        model.model,
        model.base_url,
        model.api_key_env,
        model.timeout_s,
        model.max_in_flight,
        "embed" if role == EMBED else "judge",
    )


def _with_batches(made: Connector) -> BatchConnector:
    if isinstance(made, BatchConnector):
        return made
    raise ConfigError(f"The provider {made.identity['provider']!r} has no batches.", "Leave out --judge-batch.")


async def _open_batches(
    made: Connector, batched: BatchConnector, cache: JudgeCache | None, on_note: Note, extensions: Extensions
) -> Batches:
    """The batches of a model, where its server has any: that is asked now, before any question is."""
    kept = None if cache is None else KeptReplies(made.identity, cache)
    batches = batches_of(made.identity, batched, kept, on_note, extensions)
    await batches.open()
    return batches
