"""What of a run is done: for each item where the log tells of it. 18 bytes an item.

It must not know what was generated or scored.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from evalsi_kernel.runs.event_log import GENERATED, NOTE, REPLY, SCORED, EventLog

_GENERATION_FAILED, _SCORING_FAILED = 1, 2


class Progress:
    """The items of a run, and the log that tells of them.

    Args:
        log: of the run.
        items: how many there are.

    Attributes:
        notes: what the log says of the run itself, in order.
    """

    def __init__(self, log: EventLog, items: int) -> None:
        self._log = log
        self._generated = array("Q", bytes(8 * items))
        self._scored = array("Q", bytes(8 * items))
        self._failed = bytearray(items)
        self.notes: list[dict[str, Any]] = []
        self._replies = array("Q")
        for event in log.events():
            if event.kind == NOTE:
                self.notes.append(log.read(event.offset))
            elif event.kind == REPLY:
                self._replies.append(event.offset)
            elif event.item < items:
                self._take(event.kind, event.item, event.offset, failed=event.failed)

    def __len__(self) -> int:
        return len(self._generated)

    def note(self, **what: Any) -> None:
        """Write down something of the run itself, and have the disk hold all until here."""
        self._log.append(NOTE, 0, what)
        self._log.sync()
        self.notes.append(what)

    def generated(self, item: int) -> dict[str, Any] | None:
        """What the target answered, or how it failed; None where it was not asked yet."""
        at = self._generated[item]
        return self._log.read(at) if at else None

    def scored(self, item: int) -> dict[str, Any] | None:
        """The outcomes of an item; None where it is not scored yet."""
        at = self._scored[item]
        return self._log.read(at) if at else None

    def is_generated(self, item: int) -> bool:
        """Whether the target answered or failed."""
        return bool(self._generated[item])

    def is_done(self, item: int) -> bool:
        """Whether nothing is left to do: it is scored, or the target failed on it."""
        return bool(self._scored[item]) or bool(self._failed[item] & _GENERATION_FAILED)

    def has_failed(self, item: int) -> bool:
        """Whether the target or an evaluator failed on it."""
        return bool(self._failed[item])

    def generation_failed(self, item: int) -> bool:
        """Whether the target failed on it."""
        return bool(self._failed[item] & _GENERATION_FAILED)

    def count_done(self) -> int:
        """How many items are done."""
        return sum(self.is_done(item) for item in range(len(self)))

    def add_generated(self, item: int, made: dict[str, Any]) -> None:
        """Write down what the target answered, or how it failed; what was scored of the item before is void."""
        failed = "error" in made
        self._take(GENERATED, item, self._log.append(GENERATED, item, made, failed=failed), failed=failed)

    def add_scored(self, item: int, body: dict[str, Any], *, failed: bool) -> None:
        """Write down the outcomes of an item; `failed` says that an evaluator failed on it."""
        self._take(SCORED, item, self._log.append(SCORED, item, body, failed=failed), failed=failed)

    def add_reply(self, line: str) -> None:
        """Write down what a judge answered."""
        self._log.append(REPLY, 0, line)

    def replies(self) -> Iterator[str]:
        """What judges answered in earlier attempts."""
        for at in self._replies:
            yield self._log.read(at)

    def sync(self) -> None:
        """Have the disk hold what the system holds."""
        self._log.sync()

    def all_generated(self) -> Iterator[dict[str, Any]]:
        """What the target answered so far, in the order of the items."""
        for at in self._generated:
            if at:
                yield self._log.read(at)

    def _take(self, kind: int, item: int, offset: int, *, failed: bool) -> None:
        if kind == GENERATED:
            self._generated[item], self._scored[item] = offset, 0
            self._failed[item] = _GENERATION_FAILED if failed else 0
        else:
            self._scored[item] = offset
            self._failed[item] = _SCORING_FAILED if failed else 0
