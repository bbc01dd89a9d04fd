"""Finds an id that comes twice, in memory that stays small for a million records.

Explicit ids are kept as 64-bit hashes in one flat table; two different ids of a million share one with odds of about
one in thirty million. It must not know a record.
"""

from __future__ import annotations

from array import array

_START_SLOTS = 1 << 10
_HASH_MASK = (1 << 64) - 1


class SeenIds:
    """Remembers ids and the number of the row that each stands in."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _START_SLOTS))
        self._rows = array("Q", bytes(8 * _START_SLOTS))
        self._mask = _START_SLOTS - 1
        self._used = 0

    def add(self, record_id: str, number: int) -> int:
        """Remember the id; returns the number of the row where it stood before, or 0."""
        key = hash(record_id) & _HASH_MASK or 1
        slots, mask = self._slots, self._mask
        slot = key & mask
        while held := slots[slot]:
            if held == key:
                return self._rows[slot]
            slot = (slot + 1) & mask
        slots[slot] = key
        self._rows[slot] = number
        self._used += 1
        if self._used * 2 > mask:
            self._grow()
        return 0

    def find(self, record_id: str) -> int:
        """The number of the row where the id stood, or 0."""
        key = hash(record_id) & _HASH_MASK or 1
        slot = key & self._mask
        while held := self._slots[slot]:
            if held == key:
                return self._rows[slot]
            slot = (slot + 1) & self._mask
        return 0

    def _grow(self) -> None:
        held = [(key, row) for key, row in zip(self._slots, self._rows, strict=True) if key]
        size = (self._mask + 1) * 4
        self._mask = size - 1
        self._slots = array("Q", bytes(8 * size))
        self._rows = array("Q", bytes(8 * size))
        for key, row in held:
            slot = key & self._mask
            while self._slots[slot]:
                slot = (slot + 1) & self._mask
            self._slots[slot] = key
            self._rows[slot] = row
