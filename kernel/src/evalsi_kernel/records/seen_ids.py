"""Finds an id that comes twice, in memory that stays small for a million records.

Ids are kept as 64-bit hashes; two different ones of a million share theirs with odds of about one in thirty million.
It must not know a record.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from struct import Struct
from typing import NamedTuple

QUICK_IDS = 1 << 17
"""So many hashes stand in a set, which is quick but takes 70 bytes each; more of them are packed."""

_BUCKETS = 1 << 16


class Repeat(NamedTuple):
    """An id that was there before: its position among those just given, and the row where it first stood."""

    position: int
    row: int


class SeenIds:
    """Remembers ids and the row of each.

    A record without an id is given its position as one, which can repeat no other position: as long as nothing else
    comes, only the rows are kept.
    """

    def __init__(self) -> None:
        self._rows = array("Q")
        self._keys = array("q")
        self._quick: set[int] = set()
        # Hashes that end in the same 16 bits, back to back: a search in 120 bytes is one call that runs in C.
        self._buckets: list[bytes] = []
        self._only_positions = True

    def add_positions(self, rows: Sequence[int]) -> Repeat | None:
        """Remember ids that are their positions, "0" for the first of all; tells the first repeat."""
        start = len(self._rows)
        if not self._only_positions:
            return self.add([str(position) for position in range(start, start + len(rows))], rows)
        self._rows.extend(rows)
        return None

    def add(self, ids: Sequence[str], rows: Sequence[int]) -> Repeat | None:
        """Remember ids; tells the first that repeats one of these or an earlier one, after which no more may come."""
        if self._only_positions:
            self._only_positions = False
            self._keys = array("q", map(hash, map(str, range(len(self._rows)))))
            self._keep(self._keys.tolist())
        keys = [*map(hash, ids)]
        if not self._keep(keys) and (repeat := self._first_repeat(keys, rows)):
            return repeat
        self._keys.fromlist(keys)
        self._rows.extend(rows)
        return None

    def _keep(self, keys: list[int]) -> bool:
        """Whether all of them are new, as far as can be told quickly: a False may be mistaken, a True is not."""
        if self._buckets:
            return self._fill_buckets(keys)
        quick = self._quick
        before = len(quick)
        quick.update(keys)
        are_new = len(quick) == before + len(keys)
        if len(quick) > QUICK_IDS:
            self._buckets = [b""] * _BUCKETS
            self._fill_buckets([*quick])
            self._quick = set()
        return are_new

    def _fill_buckets(self, keys: list[int]) -> bool:
        are_new = True
        buckets, last = self._buckets, _BUCKETS - 1
        for key, (packed,) in zip(keys, Struct("8s").iter_unpack(array("q", keys)), strict=True):
            place = key & last
            bucket = buckets[place]
            # It might also stand across two of them, by a chance smaller than that of equal hashes.
            if packed in bucket:
                are_new = False
            else:
                buckets[place] = bucket + packed
        return are_new

    def _first_repeat(self, keys: list[int], rows: Sequence[int]) -> Repeat | None:
        """Where the first repeat stands, found the slow way since it is looked for once."""
        given = set(keys)
        first_rows = {key: row for key, row in zip(self._keys, self._rows, strict=False) if key in given}
        for position, (key, row) in enumerate(zip(keys, rows, strict=True)):
            if key in first_rows:
                return Repeat(position, first_rows[key])
            first_rows[key] = row
        return None
