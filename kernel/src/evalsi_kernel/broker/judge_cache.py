"""The seam of the cache of replies: one that was paid for is not paid for twice, wherever an extension keeps it.

It must not know where that is.
"""

from __future__ import annotations

from typing import Protocol

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.errors import CacheError


class JudgeCache(Protocol):
    """The cache of one run. No fault of it ever fails a run: it then has nothing, and says so once.

    Attributes:
        fault: why it is not used, or only read, any more; None while all is well.
    """

    fault: CacheError | None

    async def get(self, digest: str) -> Reply | None:
        """The reply that is kept under a key's digest; None when there is none, or none that can be read."""

    def put(self, key: JudgeKey, reply: Reply) -> None:
        """Keep a reply, in the place of an older one of the same key. It never waits, and `get` has it at once."""

    async def written(self) -> bool:
        """Wait until all that was put is kept for other runs; False where some of it never will be."""

    async def close(self) -> None:
        """Write what is not written yet, and let go; nothing may be asked of the cache after."""
