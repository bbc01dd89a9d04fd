"""Interface of batch APIs, implemented by an extension, and the reply cache as a batch implementation sees it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import judge_key
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict


class Batches(Protocol):
    """Batched calls to one model, for one run."""

    async def open(self) -> None:
        """Prepare for requests.

        Raises:
            ConfigError: the model's server has no batch API.
            CacheError: the batches cannot be recorded, so an interrupted run would lose replies that are paid for.
        """

    def question(self, name: str) -> AbstractContextManager[None]:
        """Bracket the work on one question, which may need several requests.

        The record of its batches is kept until the block ends. It is also kept when the block is cancelled, for a later
        run.
        """

    async def ask(self, ask: Ask, custom_id: str, question: str) -> Reply:
        """Return the reply to a request once the batch that contains it has ended.

        Args:
            ask: the request.
            custom_id: identifies the request among all of this model in every run: the digest of its key.
            question: the `question` that the request belongs to.

        Raises:
            ProviderError: no reply was received.
        """

    def stop(self) -> None:
        """Submit no more batches: the run is about to end."""

    async def close(self) -> None:
        """Record the batches that have not ended, so that a later run finds them, and cache unclaimed replies."""


class KeptReplies:
    """The reply cache of one model, restricted to replies that are valid answers to their request.

    Args:
        identity: identity of the model.
        cache: the reply cache.
    """

    def __init__(self, identity: Mapping[str, str], cache: JudgeCache) -> None:
        self._identity = identity
        self._cache = cache

    @property
    def is_well(self) -> bool:
        """Whether the cache can store replies."""
        return self._cache.fault is None

    async def get(self, custom_id: str, ask: Ask) -> Reply | None:
        """Return the cached reply to a request; None where there is no valid one."""
        reply = await self._cache.get(custom_id)
        return reply if reply is not None and _fits(ask, reply) else None

    def put(self, ask: Ask, reply: Reply) -> bool:
        """Cache a reply and return True; return False for an invalid answer."""
        if not _fits(ask, reply):
            return False
        self._cache.put(judge_key(self._identity, ask), reply)
        return True

    async def written(self) -> bool:
        """Wait until all replies are written to the file; return False if some of them could not be."""
        return await self._cache.written()


def _fits(ask: Ask, reply: Reply) -> bool:
    try:
        parse_verdict(reply.text, ask.schema, reply.form, reply.finish, ask.messages)
    except VerdictError:
        return False
    return True
