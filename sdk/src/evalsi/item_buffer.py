"""Buffer outcomes and send them in frames, flushed by time, by size and on demand.

Any thread may add items or flush. Each column has exactly one thread that adds to it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import Any

from evalsi.score import Bare
from evalsi_protocol.errors import LocalMisuse

MAX_ITEMS = 1024
FLUSH_AFTER_S = 0.05

Item = list[Any]
Run = list[Any]
Send = Callable[[str, dict[str, Any]], None]
# Type of a bare verdict → its key on the wire.
VERDICT_KEYS: dict[type, str] = {bool: "passed", float: "value"}


class Column:
    """One session's outcomes of a request, one for each record, in order.

    Attributes:
        outcomes: outcomes that were not sent yet. Append an item, or only the verdict if the outcome has nothing else:
            True, False, a finite float, or a `Bare` tuple of verdicts.
    """

    __slots__ = ("_first", "_session", "outcomes")

    def __init__(self, session: int) -> None:
        self.outcomes: list[Item | Bare | bool | float] = []
        self._session = session
        self._first = 0

    def take(self, runs: list[Run], items: list[Item]) -> None:
        """Move all outcomes to `runs` and `items`; consecutive verdicts of one kind become a run."""
        # Another thread may append meanwhile, so remove exactly what was copied.
        outcomes = self.outcomes[:]
        del self.outcomes[: len(outcomes)]
        for kind, group in groupby(outcomes, type):
            alike: list[Any] = list(group)
            if kind is list:
                items += alike
                self._first += len(alike)
            elif kind is tuple:
                for (names, one_kind), bare in groupby(alike, itemgetter(0, 1)):
                    self._add(runs, names, one_kind, zip(*[verdicts for _, _, verdicts in bare], strict=True))
            else:
                self._add(runs, ("",), kind, [alike])

    def _add(self, runs: list[Run], names: tuple[str, ...], kind: type, columns: Iterable[Sequence[Any]]) -> None:
        named = [[name, VERDICT_KEYS[kind], [*verdicts]] for name, verdicts in zip(names, columns, strict=True)]
        runs.append([self._session, self._first, named])
        self._first += len(named[0][2])


class ItemBuffer:
    """The outcomes of one `score` request: items `[session, index, outcome, payload]`, and runs of verdicts.

    Args:
        request_id: id of the request.
        send_event: sends an event.
        takes_runs: whether the kernel supports runs; otherwise they are sent as items.
        takes_durations: whether an item may have a fifth element, the duration of the evaluation in milliseconds.

    Attributes:
        takes_durations: as given.
        due_at: time of the next flush at the latest, on the `monotonic()` clock.
    """

    def __init__(
        self, request_id: int, send_event: Send, *, takes_runs: bool = False, takes_durations: bool = False
    ) -> None:
        self._request_id = request_id
        self._send_event = send_event
        self._takes_runs = takes_runs
        self.takes_durations = takes_durations
        self._lock = threading.Lock()
        self._items: list[Item] = []
        self._columns: list[Column] = []
        self.due_at = monotonic() + FLUSH_AFTER_S
        self.counts: dict[str, int] = {}

    def open_columns(self, sessions: Iterable[int]) -> list[Column]:
        """Return a column for each session; their outcomes are flushed with this buffer."""
        self._columns = [Column(session) for session in sessions]
        return self._columns

    def add_many(self, items: list[Item]) -> None:
        """Add the items of one record. Flush if the buffer is full or due."""
        self._items += items
        if len(self._items) >= MAX_ITEMS or monotonic() >= self.due_at:
            self.flush()

    def flush(self, *, wait: bool = True) -> None:
        """Send all buffered outcomes. Without `wait`, return at once if another thread is flushing."""
        if not self._lock.acquire(blocking=wait):
            return
        try:
            runs: list[Run] = []
            items = self._items[:]
            # Other threads may append meanwhile, so remove exactly what was copied.
            del self._items[: len(items)]
            for column in self._columns:
                column.take(runs, items)
            self.due_at = monotonic() + FLUSH_AFTER_S
            self._send_all(runs, items)
        finally:
            self._lock.release()

    def _send_all(self, runs: list[Run], items: list[Item]) -> None:
        if not self._takes_runs:
            items += [item for run in runs for item in items_of(run)]
        elif runs:
            # In a frame without items, because items may have to be sent again in halves.
            self._send_event("item", {"request": self._request_id, "runs": runs})
            self._count("scored", sum(len(columns[0][2]) for _, _, columns in runs))
        if items:
            self._send(items)

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
            error = misuse.error.to_body() | {"source": "pack", "hint": "Return less, or text and finite numbers only."}
            self._send_event("item", {"request": self._request_id, "items": [[session, index, "error", error]]})
            self._count("error")
            return
        for item in items:
            self._count(item[2])

    def _count(self, outcome: str, times: int = 1) -> None:
        self.counts[outcome] = self.counts.get(outcome, 0) + times


def items_of(run: Run) -> list[Item]:
    """Return the items that a run represents."""
    session, first, columns = run
    scores = [
        [{"name": name, key: verdict} if name else {key: verdict} for verdict in verdicts]
        for name, key, verdicts in columns
    ]
    return [
        [session, index, "scored", [*of_record]] for index, of_record in enumerate(zip(*scores, strict=True), first)
    ]
