"""Replies of models, kept in a file under the hash of what was asked: one that was paid for is not paid for twice.

It must not know a connector or a price. No fault of the file ever fails a run: a damaged one is set aside and a new one
begun; one that is locked for long, newer, or cannot be used is left alone, and the run asks its models instead. Each
such thing is told in one sentence.

Reads are done in the loop's own thread: one takes 10 µs, 0.1 ms from a cold disk; a hop to a thread and back takes 0.1.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.errors import CacheError
from evalsi_kernel.files.file_lock import LockTimeout

from .cache_repair import Inode, connect_or_renew, inode_of, set_aside
from .cache_replies import DamagedReply, reply_from_bytes
from .cache_store import WAIT_S, connect, fault_of, is_busy
from .cache_writer import HOUR_S, CacheWriter

RETRY_S = 0.02

_READ = "SELECT reply, used FROM replies WHERE digest = ?"
_WITHOUT = "This run goes on without it: each call is made, and paid."


class ReplyCache:
    """The cache of one run, as the kernel's `JudgeCache`, used by one event loop.

    Other runs and processes may use the same file at once.

    Args:
        path: of the file; it and its folder are made when they are absent.
        on_note: is told, in the loop's thread, each sentence that the user should know.
        wait_s: how long a file that another process holds is waited for.

    Attributes:
        fault: why the cache is not used, or only read, any more; None while all is well.
    """

    def __init__(self, path: Path, on_note: Callable[[str], None] = lambda _: None, *, wait_s: float = WAIT_S) -> None:
        self._path = path
        self._on_note = on_note
        self._wait_s = wait_s
        self._patience_s = wait_s
        self._opening: asyncio.Task[None] | None = None
        self._reader: sqlite3.Connection | None = None
        self._inode: Inode | None = None
        self._writer = CacheWriter(path)
        self._told: set[str] = set()
        self.fault: CacheError | None = None

    async def start(self) -> None:
        """Open the file; the first `get` does so too. It may be called again."""
        if self._opening is None:
            self._opening = asyncio.create_task(self._open())
        # Whoever is cancelled while it waits must not take the file from those who wait too.
        await asyncio.shield(self._opening)

    async def get(self, digest: str) -> Reply | None:
        """The reply that is kept under a key's digest; None when there is none, or none that can be read."""
        if self._opening is None or not self._opening.done():
            await self.start()
        if self._writer.fault is not None and self.fault is None:
            await self._tell_of_writer()
        kept = self._writer.unwritten(digest)
        if kept is not None or self._reader is None:
            return kept
        try:
            rows = self._reader.execute(_READ, (digest,)).fetchall()
        except sqlite3.Error as error:
            rows = await self._read_again(digest, error)
        if not rows:
            return None
        [(packed, used)] = rows
        try:
            reply = reply_from_bytes(digest, packed)
        except DamagedReply:
            self._tell(f"A reply in {self._path} is damaged; it is asked for again, and so is each like it.")
            return None
        if used < int(time.time()) // HOUR_S:
            self._writer.touch(digest)
        return reply

    def put(self, key: JudgeKey, reply: Reply) -> None:
        """Keep a reply, in the place of an older one of the same key. It never waits, and `get` has it at once."""
        self._writer.put(key, reply)

    async def written(self) -> bool:
        """Wait until all that was put is in the file; False where some of it never will be."""
        if self._writer.has_unwritten:
            await self.start()
            await asyncio.to_thread(self._writer.flush)
        return self._writer.fault is None

    async def close(self) -> None:
        """Write what is not written yet, and let go of the file; nothing may be asked of the cache after."""
        if self._writer.has_unwritten:
            await self.start()
        if self._opening is None:
            return
        await asyncio.shield(self._opening)
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        # At the end of a loop that is cancelled, asyncio waits for its threads, so that nothing is lost then either.
        await asyncio.to_thread(self._writer.finish)
        if self._writer.fault is not None and self.fault is None:
            await self._tell_of_writer()

    async def _open(self) -> None:
        try:
            self._reader, self._inode, aside = await asyncio.to_thread(self._connect)
        except CacheError as error:
            self.fault = error
            self._writer.stop(error)
            self._tell(f"{error} {_WITHOUT}")
            return
        if aside is not None:
            self._tell(
                f"The cache of model replies was damaged: {self._path}. It is kept as {aside}. A new one is begun, so "
                "calls that were made before are made again, and paid."
            )

    def _connect(self) -> tuple[sqlite3.Connection, Inode | None, Path | None]:
        """Connections to read and to write, and where a damaged file is now; raises `CacheError`."""
        try:
            writing, aside = connect_or_renew(self._path, wait_s=self._wait_s)
        except (OSError, LockTimeout) as error:
            raise fault_of(self._path, error) from error
        try:
            reading = connect(self._path, wait_s=self._wait_s)
            # From here on it is used in the loop's thread, which must not wait.
            reading.execute("PRAGMA busy_timeout=0")
        except CacheError:
            writing.close()
            raise
        self._writer.start(writing)
        return reading, inode_of(self._path), aside

    async def _read_again(self, digest: str, error: sqlite3.Error) -> list[tuple[bytes, int]]:
        """Read until another process lets go of the file; once that took too long, no later read waits for it."""
        until_s = time.monotonic() + self._patience_s
        while is_busy(error) and time.monotonic() < until_s:
            await asyncio.sleep(RETRY_S)
            if self._reader is None:
                return []
            try:
                return self._reader.execute(_READ, (digest,)).fetchall()
            except sqlite3.Error as again:
                error = again
        if is_busy(error):
            self._patience_s = 0.0
            self._tell(
                f"Another process holds {self._path}; replies that cannot be read meanwhile are asked for, and paid."
            )
        elif self._reader is not None:
            await self._give_up(fault_of(self._path, error))
        return []

    async def _tell_of_writer(self) -> None:
        """Say once that nothing is written any more; what is there can still be read, unless it is damaged."""
        fault = self._writer.fault
        assert fault is not None
        if fault.code == "cache.corrupt":
            await self._give_up(fault)
            return
        self.fault = fault
        self._tell(f"{fault} New replies of this run are not kept; those that are kept are still used.")

    async def _give_up(self, fault: CacheError) -> None:
        """Use the file no more; one that is damaged is set aside, so that the next run begins a new one."""
        self.fault = fault
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()
        self._writer.stop(fault)
        sentence = f"{fault.message} {_WITHOUT}"
        if fault.code == "cache.corrupt":
            try:
                aside = await asyncio.to_thread(self._set_aside)
            except (OSError, LockTimeout) as error:
                sentence += f" It cannot be set aside ({error})."
            else:
                sentence += f" It is kept as {aside}." if aside else ""
        self._tell(sentence)

    def _set_aside(self) -> Path | None:
        # SQLite removes a write-ahead log by its name, so no connection may be open when another file takes the name.
        self._writer.finish()
        return set_aside(self._path, self._inode, wait_s=self._wait_s)

    def _tell(self, sentence: str) -> None:
        if sentence not in self._told:
            self._told.add(sentence)
            self._on_note(sentence)
