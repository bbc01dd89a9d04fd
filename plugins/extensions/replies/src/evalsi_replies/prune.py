"""Removes replies from the cache by age, size or model, and gives the room back to the disk.

It goes in short steps, so that runs which use the file meanwhile wait for none of them. It must not know a flag.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from functools import partial
from math import ceil, inf
from typing import NamedTuple

from .cache_writer import HOUR_S

STEP_ENTRIES = 1000
STEP_PAGES = 1000
EMPTY_PAGES = 5
# Each round of pruning by size takes away at least this share, so that it ends soon.
MIN_SHARE = 0.02
# How much more room than their share those that are left may take.
SLACK = 1.2
MIN_SLACK_BYTES = 100_000


class Bounds(NamedTuple):
    """What to remove; several bounds together remove what any of them does, except that a model narrows the age.

    Args:
        unused_for_s: replies that were last used longer ago, in seconds; the hour of use is known, not the minute.
        max_bytes: the least recently used, until the file is no larger.
        model: replies of this model only; without an age, all of them.
        everything: all replies.
    """

    unused_for_s: float | None = None
    max_bytes: int | None = None
    model: str | None = None
    everything: bool = False


def prune(connection: sqlite3.Connection, bounds: Bounds) -> int:
    """Remove what is beyond the bounds; returns how many replies that were."""
    removed = 0
    if condition := _condition(bounds):
        removed = _remove(connection, lambda: _delete_where(connection, *condition))
    if bounds.max_bytes is not None:
        while excess := _excess(connection, bounds.max_bytes):
            step = _remove(connection, partial(_delete_oldest, connection, excess))
            if not step:
                break
            removed += step
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return removed


def would_prune(connection: sqlite3.Connection, bounds: Bounds) -> int:
    """How many replies `prune` would remove; by size, about so many."""
    entries, size = _counted(connection, "1", ())
    removed = removed_size = 0
    if condition := _condition(bounds):
        removed, removed_size = _counted(connection, *condition)
    if bounds.max_bytes is not None and entries:
        # What is removed by age is the least recently used too, so the one count includes the other.
        empty_bytes = EMPTY_PAGES * _page_bytes(connection)
        room = max(0, bounds.max_bytes - empty_bytes) / max(1, _file_bytes(connection) - empty_bytes)
        too_much = size * (1 - room)
        removed = max(removed, len(_oldest(connection, too_much)) if too_much > removed_size else 0)
    return removed


def _condition(bounds: Bounds) -> tuple[str, tuple[str | int, ...]] | None:
    """The WHERE of what is removed whatever its size, with its values; None when only the size counts."""
    if bounds.everything:
        return "1", ()
    parts: list[tuple[str, str | int]] = []
    if bounds.model is not None:
        parts.append(("model = ?", bounds.model))
    if bounds.unused_for_s is not None:
        # A reply that was used since then in an hour that began before it stays.
        parts.append(("used < ?", int((time.time() - bounds.unused_for_s) // HOUR_S)))
    return (" AND ".join(text for text, _ in parts), tuple(value for _, value in parts)) if parts else None


def _counted(connection: sqlite3.Connection, where: str, values: tuple[str | int, ...]) -> tuple[int, int]:
    [(entries, size)] = connection.execute(f"SELECT count(*), total(size) FROM replies WHERE {where}", values)
    return entries, int(size)


def _excess(connection: sqlite3.Connection, max_bytes: int) -> float:
    """By which share the file is too large; 0 when it is not."""
    size = _file_bytes(connection)
    return max(MIN_SHARE, 1 - max_bytes / size) if size > max_bytes else 0.0


def _remove(connection: sqlite3.Connection, delete: Callable[[], int]) -> int:
    """Delete and give back the room; returns how many replies went."""
    (_, size), file_bytes = _counted(connection, "1", ()), _file_bytes(connection)
    removed = delete()
    _give_back(connection)
    left, left_size = _counted(connection, "1", ())
    # Where those that went lay scattered, pages are half empty, and none of them is free. Where there were none,
    # another process wrote meanwhile.
    may_be_small = file_bytes * left_size / size * SLACK + MIN_SLACK_BYTES if size else inf
    if removed and left and _file_bytes(connection) > may_be_small:
        _move_together(connection)
        _give_back(connection)
    return removed


def _delete_where(connection: sqlite3.Connection, where: str, values: tuple[str | int, ...]) -> int:
    removed = 0
    statement = f"DELETE FROM replies WHERE rowid IN (SELECT rowid FROM replies WHERE {where} LIMIT {STEP_ENTRIES})"
    while step := connection.execute(statement, values).rowcount:
        removed += step
    return removed


def _delete_oldest(connection: sqlite3.Connection, share: float) -> int:
    """Delete the least recently used replies that make up a share of all."""
    _, size = _counted(connection, "1", ())
    rowids = _oldest(connection, size * share)
    for start in range(0, len(rowids), STEP_ENTRIES):
        step = rowids[start : start + STEP_ENTRIES]
        connection.execute(f"DELETE FROM replies WHERE rowid IN ({','.join(map(str, step))})")
    return len(rowids)


def _move_together(connection: sqlite3.Connection) -> None:
    """Write what is left anew, one row after the other, into the room that the rows before leave."""
    [(last,)] = connection.execute("SELECT max(rowid) FROM replies").fetchall()
    rows = [(last,)]
    while rows:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute(
                f"SELECT rowid FROM replies WHERE rowid <= ? ORDER BY rowid LIMIT {STEP_ENTRIES}", (last,)
            ).fetchall()
            [(end,)] = connection.execute("SELECT max(rowid) FROM replies").fetchall()
            moves = [(end + number, rowid) for number, (rowid,) in enumerate(rows, 1)]
            connection.executemany("UPDATE replies SET rowid = ? WHERE rowid = ?", moves)


def _oldest(connection: sqlite3.Connection, size_bytes: float) -> list[int]:
    """The least recently used replies that are so large together, and at least one if there is one."""
    rowids = []
    left = ceil(size_bytes)
    for rowid, size in connection.execute("SELECT rowid, size FROM replies ORDER BY used, rowid"):
        rowids.append(rowid)
        left -= size
        if left <= 0:
            break
    return rowids


def _file_bytes(connection: sqlite3.Connection) -> int:
    [(pages,)] = connection.execute("PRAGMA page_count")
    return int(pages * _page_bytes(connection))


def _page_bytes(connection: sqlite3.Connection) -> int:
    [(page_bytes,)] = connection.execute("PRAGMA page_size")
    return int(page_bytes)


def _give_back(connection: sqlite3.Connection) -> None:
    """Move free pages to the end and cut them off, some at a time."""
    before = None
    while (free := _free_pages(connection)) and free != before:
        before = free
        connection.execute(f"PRAGMA incremental_vacuum({STEP_PAGES})").fetchall()


def _free_pages(connection: sqlite3.Connection) -> int:
    [(free,)] = connection.execute("PRAGMA freelist_count")
    return int(free)
