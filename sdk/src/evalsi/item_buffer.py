"""Outcomes on their way out: gathered into frames of a good size, flushed by time, by size and on demand.

Any thread may add or flush. It must not know how an outcome came about.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from evalsi_protocol.errors import LocalMisuse

MAX_ITEMS = 1024
FLUSH_AFTER_S = 0.05

Item = list[Any]
Send = Callable[[str, dict[str, Any]], None]


class ItemBuffer:
    """The items of one `score` request, `[session, index, outcome, payload]` each."""

    def __init__(self, request_id: int, send_event: Send) -> None:
        self._request_id = request_id
        self._send_event = send_event
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self.add = self._items.append
        self._flushed_at = monotonic()
        self.counts: dict[str, int] = {}

    def add_many(self, items: list[Item]) -> None:
        """Add the items of one record; sends when enough is there or time has passed."""
        self._items += items
        self.flush_when_due(monotonic())

    def flush_when_due(self, now: float) -> None:
        """Send when enough is there, or time has passed since it was sent last; `now` is the clock's `monotonic()`."""
        if len(self._items) >= MAX_ITEMS or now - self._flushed_at >= FLUSH_AFTER_S:
            self.flush()

    def flush(self, *, wait: bool = True) -> None:
        """Send what is there; without `wait` leave it to whoever is at it already."""
        if not self._lock.acquire(blocking=wait):
            return
        try:
            items = self._items[:]
            # Others may append meanwhile: cut off exactly what was copied.
            del self._items[: len(items)]
            self._flushed_at = monotonic()
            if items:
                self._send(items)
        finally:
            self._lock.release()

    def _send(self, items: list[Item]) -> None:
        try:
            self._send_event("item", {"request": self._request_id, "items": items})
        except LocalMisuse as misuse:
            if len(items) > 1:
                half = len(items) // 2
                self._send(items[:half])
                self._send(items[half:])
                return
            session, index = items[0][:2]
            error = misuse.error.to_body() | {"blame": "pack", "mend": "Return less, or text and finite numbers only."}
            self._send_event("item", {"request": self._request_id, "items": [[session, index, "error", error]]})
            self._count("error")
            return
        for item in items:
            self._count(item[2])

    def _count(self, outcome: str) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
