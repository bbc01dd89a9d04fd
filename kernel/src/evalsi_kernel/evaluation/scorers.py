"""What scores, from its start to its end: the pools of a plan, and the broker that answers what they ask.

It must not know what is scored.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.request import Listener
from evalsi_kernel.supervision.connection import not_bound
from evalsi_kernel.supervision.pool import Pool

if TYPE_CHECKING:
    from evalsi_kernel.broker.broker import Broker
    from evalsi_kernel.supervision.pack_log import PackLog


class Scorers(NamedTuple):
    """What scores: the broker that answers its questions, None where nothing may be asked, and the pools."""

    broker: Broker | None
    pools: Sequence[Pool]


@asynccontextmanager
async def scorers(
    plan: Plan,
    models: BrokerSettings | None,
    extensions: Extensions,
    listener: Listener,
    *,
    keep_replies: bool = False,
    folder: Path | None = None,
    log: PackLog | None = None,
) -> AsyncIterator[Scorers]:
    """The broker and the pools of a plan, all packs started at once, until the block is left; an exception ends them.

    Args:
        plan: what will run.
        models: that evaluators may ask; None where they may ask none.
        extensions: where connectors and prices come from.
        listener: hears what a person should know of the models.
        keep_replies: whether the broker writes raw replies down.
        folder: where they lie until the end; None means the system's place for temporary files.
        log: where what packs write to stderr is kept.

    Raises:
        EvalsiError: the broker cannot be made, or a pack cannot start or refuses a param: the first failure is told,
            after the other packs have settled.
    """
    async with AsyncExitStack() as stack:
        broker = None
        if models is not None:
            # SQLite and all that a run without a judge need not load.
            from evalsi_kernel.evaluation.broker_opening import open_broker

            try:
                broker = await open_broker(
                    models, extensions, keep_replies=keep_replies, folder=folder, on_note=listener.on_note
                )
            except BaseException:
                plan.abandon()
                raise
            stack.push_async_callback(broker.close)
        answer = not_bound if broker is None else broker.answer
        if log is not None:
            stack.callback(log.close)
        launches = [group.launch._replace(log=log) for group in plan.groups]
        pools = [
            Pool(launch, group.openings, group.limits, group.first, answer)
            for launch, group in zip(launches, plan.groups, strict=True)
        ]
        try:
            for outcome in await asyncio.gather(*(pool.start() for pool in pools), return_exceptions=True):
                if isinstance(outcome, BaseException):
                    raise outcome
            yield Scorers(broker, pools)
        except BaseException:
            for pool in pools:
                pool.abort()
            raise
        finally:
            await close_all(pools)


async def close_all(pools: Sequence[Pool]) -> None:
    """Have the packs finish and end, all at once."""
    await asyncio.gather(*(pool.close() for pool in pools))
