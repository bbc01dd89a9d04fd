"""Why an ask finds a reply in the cache, or none: the entry under its key, or the nearest one and how that differs.

It must not know where the key comes from.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.broker.judge_key import differing

from .cache_writer import HOUR_S

MOST_ENTRIES = 5


class Entry(NamedTuple):
    """A reply that is kept, without the reply.

    Args:
        digest: of its key.
        model: as it was asked for.
        created_s: when it was kept, in seconds since 1970.
        used_s: when it was last used, to the hour.
        size_bytes: of what is kept.
        fields: the hashes of its key's parts.
    """

    digest: str
    model: str
    created_s: int
    used_s: int
    size_bytes: int
    fields: Mapping[str, str]


class Nearest(NamedTuple):
    """The entry that differs from a key in the fewest parts, and in which; the newest of several."""

    entry: Entry
    differs_in: list[str]


_COLUMNS = "digest, model, created, used, size, fields"


def entries_under(connection: sqlite3.Connection, prefix: str) -> list[Entry]:
    """The entries whose digest begins with these hexadecimal digits, the first few of them."""
    # "g" follows upon every hexadecimal digit.
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM replies WHERE digest >= ? AND digest < ? ORDER BY digest LIMIT {MOST_ENTRIES}",
        (prefix, prefix + "g"),
    )
    return [_entry(row) for row in rows.fetchall()]


def nearest_entry(connection: sqlite3.Connection, fields: Mapping[str, str]) -> Nearest | None:
    """The entry nearest to a key that is not there; None when the cache is empty. It looks at every entry."""
    best: tuple[int, int] | None = None
    nearest: tuple[Any, ...] = ()
    for row in connection.execute(f"SELECT {_COLUMNS} FROM replies"):
        place = (len(differing(fields, _fields(row[-1]))), -row[2])
        if best is None or place < best:
            best, nearest = place, row
    if best is None:
        return None
    entry = _entry(nearest)
    return Nearest(entry, differing(fields, entry.fields))


def _entry(row: tuple[Any, ...]) -> Entry:
    digest, model, created, used, size, fields = row
    return Entry(digest, model, created, max(used * HOUR_S, created), size, _fields(fields))


def _fields(packed: bytes) -> dict[str, str]:
    unpacked: dict[str, str] = msgpack.unpackb(packed)
    return unpacked
