"""What a dry run sees of the cache: the replies that are kept, looked up without a mark on the file or a new one.

It must not know what is foreseen. As with the cache itself, no fault of the file fails a run: it is told, once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.errors import CacheError

from .cache_replies import DamagedReply, reply_from_bytes
from .cache_store import connect_to_read, fault_of

WAIT_S = 1.0


class GlancedReplies:
    """The replies of a file, as the kernel's `JudgeCache` that keeps nothing.

    Args:
        path: of the file; where there is none, nothing is kept.
        on_note: is told the sentence that the user should know.

    Attributes:
        fault: why the file is not read; None while all is well.
    """

    def __init__(self, path: Path, on_note: Callable[[str], None]) -> None:
        self._path = path
        self._on_note = on_note
        self._is_open = False
        self._reader: sqlite3.Connection | None = None
        self.fault: CacheError | None = None

    async def get(self, digest: str) -> Reply | None:
        """The reply that is kept under a key's digest; None when there is none, or none that can be read."""
        try:
            if not self._is_open:
                self._is_open = True
                self._reader = connect_to_read(self._path, wait_s=WAIT_S)
            if self._reader is None:
                return None
            row = self._reader.execute("SELECT reply FROM replies WHERE digest = ?", (digest,)).fetchone()
            return None if row is None else reply_from_bytes(digest, row[0])
        except DamagedReply:
            return None
        except sqlite3.Error as error:
            await self._give_up(fault_of(self._path, error))
        except CacheError as error:
            await self._give_up(error)
        return None

    def put(self, key: JudgeKey, reply: Reply) -> None:
        """Keep nothing."""

    async def written(self) -> bool:
        """Nothing is."""
        return False

    async def close(self) -> None:
        """Let go of the file."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    async def _give_up(self, fault: CacheError) -> None:
        self.fault = fault
        await self.close()
        self._on_note(f"{fault.message} The calls that it would spare are counted as if they were made.")
