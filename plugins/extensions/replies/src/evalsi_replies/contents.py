"""What the cache holds: how many replies of which model, how large and how old. It reads no reply.

It must not know how that is shown. How often a reply was reused is not counted, so it is unknown here, and never 0.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from .cache_store import files_of
from .cache_writer import HOUR_S


class ModelShare(NamedTuple):
    """What is kept of one model.

    Args:
        model: its name, as it was asked for; "" where the connector gave none.
        entries: replies.
        size_bytes: of what is kept of them, without the file's own overhead.
        oldest_s: when the first of them was kept, in seconds since 1970.
        newest_s: when the last of them was kept.
        used_s: when one of them was last used, to the hour.
    """

    model: str
    entries: int
    size_bytes: int
    oldest_s: int
    newest_s: int
    used_s: int


def contents(connection: sqlite3.Connection) -> Iterator[ModelShare]:
    """What is kept of each model, the one with most replies first."""
    rows = connection.execute(
        "SELECT model, count(*), sum(size), min(created), max(created), max(used) FROM replies"
        " GROUP BY model ORDER BY count(*) DESC, model"
    )
    for model, entries, size, oldest, newest, used in rows.fetchall():
        # A reply that was used in the hour in which it was kept has no hour of its own.
        yield ModelShare(model, entries, size, oldest, newest, max(used * HOUR_S, newest))


def size_on_disk(path: Path) -> int:
    """Bytes that the cache takes, its write-ahead log included."""
    size_bytes = 0
    for one in files_of(path):
        with suppress(OSError):
            size_bytes += one.stat().st_size
    return size_bytes
