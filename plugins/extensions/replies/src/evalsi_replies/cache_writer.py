"""Writes replies to the cache file, in a thread of its own and many to a transaction, so that no one waits for a disk.

It must not know a run. What goes wrong stops the writing for good and is left in `fault`, for the run to tell.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

import msgpack

from evalsi_kernel.broker.ask import Reply
from evalsi_kernel.broker.judge_key import JudgeKey
from evalsi_kernel.errors import CacheError

from .cache_replies import reply_to_bytes
from .cache_store import fault_of

MAX_BATCH = 1000
HOUR_S = 3600
LOOK_S = 0.1

_PUT = """
INSERT INTO replies (digest, model, created, used, size, fields, reply) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET
    model=excluded.model, created=excluded.created, used=excluded.used, size=excluded.size, fields=excluded.fields,
    reply=excluded.reply
"""
_TOUCH = "UPDATE replies SET used = ? WHERE digest = ?"

_Put = tuple[JudgeKey, Reply]


class CacheWriter:
    """Takes replies at any time; writes them once it has a connection.

    Args:
        path: of the file, for sentences.

    Attributes:
        fault: why it writes no more; None while it does.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._queue: SimpleQueue[_Put | str | threading.Event | None] = SimpleQueue()
        self._unwritten: dict[str, Reply] = {}
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self.fault: CacheError | None = None

    def start(self, connection: sqlite3.Connection) -> None:
        """Begin to write; the connection is the writer's from now on."""
        # A daemon, so that a run that never closes its cache still ends.
        self._thread = threading.Thread(target=self._run, args=(connection,), name="evalsi-cache", daemon=True)
        self._thread.start()

    def stop(self, fault: CacheError) -> None:
        """Write nothing more, and forget what was not written."""
        with self._guard:
            self.fault = self.fault or fault
            self._unwritten.clear()

    def put(self, key: JudgeKey, reply: Reply) -> None:
        """Keep a reply; it never waits."""
        with self._guard:
            if self.fault is not None:
                return
            self._unwritten[key.digest] = reply
        self._queue.put((key, reply))

    def touch(self, digest: str) -> None:
        """Note that a reply was used in this hour."""
        if self.fault is None:
            self._queue.put(digest)

    def unwritten(self, digest: str) -> Reply | None:
        """A reply that was put and is not in the file yet."""
        return self._unwritten.get(digest)

    @property
    def has_unwritten(self) -> bool:
        """Whether something was put and is not in the file yet."""
        return bool(self._unwritten)

    def flush(self) -> None:
        """Wait until what was put before is in the file, or never will be."""
        thread, is_written = self._thread, threading.Event()
        self._queue.put(is_written)
        while thread is not None and thread.is_alive() and not is_written.wait(LOOK_S):
            pass  # The thread may have ended before it came to this.

    def finish(self) -> None:
        """Write what is there, close the connection and end; it waits, at the longest as the connection does."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def _run(self, connection: sqlite3.Connection) -> None:
        is_over = False
        while not is_over:
            batch = [self._queue.get()]
            while len(batch) < MAX_BATCH and not self._queue.empty():
                batch.append(self._queue.get())
            is_over = None in batch
            if self.fault is None:
                self._write(
                    connection,
                    [one for one in batch if isinstance(one, tuple)],
                    [one for one in batch if isinstance(one, str)],
                )
            for one in batch:
                if isinstance(one, threading.Event):
                    one.set()
        connection.close()

    def _write(self, connection: sqlite3.Connection, puts: list[_Put], touched: list[str]) -> None:
        if not puts and not touched:
            return
        now_s = int(time.time())
        try:
            rows = [_row(key, reply, now_s) for key, reply in puts]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_PUT, rows)
            connection.executemany(_TOUCH, [(now_s // HOUR_S, digest) for digest in touched])
            connection.execute("COMMIT")
        # Of a reply that is none: its writer's mistake must not end the thread that others wait for.
        except (sqlite3.Error, ValueError, TypeError, OverflowError) as error:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            self.stop(fault_of(self._path, error, done="written"))
            return
        with self._guard:
            for key, reply in puts:
                # A newer one of the same key may have come in the meantime.
                if self._unwritten.get(key.digest) is reply:
                    del self._unwritten[key.digest]


def _row(key: JudgeKey, reply: Reply, now_s: int) -> tuple[str, str, int, int, int, bytes, bytes]:
    kept = reply_to_bytes(key.digest, reply)
    fields: bytes = msgpack.packb(dict(key.fields))
    # The model's name goes through a column of text, which knows no half of a surrogate pair.
    model = key.model.encode("utf-8", "backslashreplace").decode()
    return key.digest, model, now_s, now_s // HOUR_S, len(kept) + len(fields), fields, kept
