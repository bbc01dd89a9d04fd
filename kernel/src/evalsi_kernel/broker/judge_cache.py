"""Interface of the reply cache, which an extension implements."""

from __future__ import annotations

from typing import Protocol

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.errors import CacheError


class JudgeCache(Protocol):
    """The reply cache of one run.

    A fault of the cache never fails a run: the cache then misses every lookup and reports the fault once.

    Attributes:
        fault: why the cache is disabled or read-only; None while it works.
    """

    fault: CacheError | None

    async def get(self, digest: str) -> Reply | None:
        """Return the cached reply under a key's digest; None where there is none or it cannot be read."""

    def put(self, key: JudgeKey, reply: Reply) -> None:
        """Cache a reply, replacing an older one of the same key. Never blocks; `get` returns it at once."""

    async def written(self) -> bool:
        """Wait until all replies are stored for other runs; return False if some could not be."""

    async def close(self) -> None:
        """Write pending replies and close the cache; it must not be used afterwards."""
