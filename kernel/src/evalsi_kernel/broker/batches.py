"""The seam of batches: what an extension makes of questions that can wait, and the kept replies that it is lent.

It must not know how questions are gathered, nor where what was handed in is noted.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import judge_key
from evalsi_kernel.broker.verdict import VerdictError, parse_verdict


class Batches(Protocol):
    """The batches of one model, for one run."""

    async def open(self) -> None:
        """Make ready, before any question is asked.

        Raises:
            ConfigError: the model's server has no batches.
            CacheError: they cannot be noted, and an interrupted run would lose what is paid for.
        """

    def question(self, name: str) -> AbstractContextManager[None]:
        """While a question is answered, by one ask or several; what was handed in for it stays on file until its end.

        A question that is cancelled has no end: a later run needs what was handed in for it.
        """

    async def ask(self, ask: Ask, custom_id: str, question: str) -> Reply:
        """The reply to an ask, once a batch that holds it has ended.

        Args:
            ask: what to ask.
            custom_id: tells equal asks of one model from all others, in every run: the digest of its key.
            question: for which `question` it is asked.

        Raises:
            ProviderError: there is none.
        """

    def stop(self) -> None:
        """Hand in nothing more: the run is about to end."""

    async def close(self) -> None:
        """Leave batches that have not ended to the provider, on file, and say so; keep what nobody asked for."""


class KeptReplies:
    """The cache of replies of one model, as its batches see it: only what answers its ask is taken or kept.

    Args:
        identity: of the model.
        cache: of replies.
    """

    def __init__(self, identity: Mapping[str, str], cache: JudgeCache) -> None:
        self._identity = identity
        self._cache = cache

    @property
    def is_well(self) -> bool:
        """Whether the cache takes replies."""
        return self._cache.fault is None

    async def get(self, custom_id: str, ask: Ask) -> Reply | None:
        """The reply that is kept for an ask, under the digest of its key."""
        reply = await self._cache.get(custom_id)
        return reply if reply is not None and _fits(ask, reply) else None

    def put(self, ask: Ask, reply: Reply) -> bool:
        """Keep a reply; False where it is no answer."""
        if not _fits(ask, reply):
            return False
        self._cache.put(judge_key(self._identity, ask), reply)
        return True

    async def written(self) -> bool:
        """Wait until all that was put is in the file; False where some of it never will be."""
        return await self._cache.written()


def _fits(ask: Ask, reply: Reply) -> bool:
    try:
        parse_verdict(reply.text, ask.schema, reply.form, reply.finish, ask.messages)
    except VerdictError:
        return False
    return True
