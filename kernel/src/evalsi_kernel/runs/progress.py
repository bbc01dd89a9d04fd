"""What of a run is done: for each item where the log tells of it. 17 bytes an item.

It must not know what was generated or scored.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
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
        done: how many items are done: scored, or the target failed on them.
        failed: on how many of these the target or an evaluator failed.
    """

    def __init__(self, log: EventLog, items: int) -> None:
        self._log = log
        self._generated = array("Q", bytes(8 * items))
        self._scored = array("Q", bytes(8 * items))
        self._failed = bytearray(items)
        self._void = array("Q")
        self._replies = array("Q")
        self.notes: list[dict[str, Any]] = []
        self.done = self.failed = 0
        for offset, kind, failed, item in log.events():
            if kind in (GENERATED, SCORED):
                if item < items:
                    self._take(kind, item, offset, failed=failed)
            elif kind == NOTE:
                self.notes.append(log.read(offset))
            elif kind == REPLY:
                self._replies.append(offset)
        if log.damaged:
            self._void_scores_without_answer()

    def _void_scores_without_answer(self) -> None:
        """Have items done again whose answer was in a damaged frame: their scores alone are no result."""
        for item, offset in enumerate(self._scored):
            if offset and not self._generated[item]:
                self.failed -= bool(self._failed[item])
                self._scored[item], self._failed[item] = 0, 0
                self.done -= 1

    def __len__(self) -> int:
        return len(self._generated)

    @property
    def written_at(self) -> float:
        """When an earlier attempt last wrote to the log, in seconds since the epoch."""
        return self._log.written_at

    @property
    def is_empty(self) -> bool:
        """Whether nothing was generated."""
        return not any(self._generated)

    @property
    def dropped_bytes(self) -> int:
        """How much of the log's end was of no use, since a frame there is cut or damaged."""
        return self._log.dropped_bytes

    @property
    def damaged(self) -> Sequence[tuple[int, int]]:
        """Offset and size in bytes of each damaged place in the log."""
        return self._log.damaged

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

    def is_done(self, item: int) -> bool:
        """Whether nothing is left to do: it is scored, or the target failed on it."""
        return bool(self._scored[item]) or bool(self._failed[item] & _GENERATION_FAILED)

    def to_generate(self, order: Iterable[int], *, again: bool) -> Iterator[int]:
        """Of these items those that the target is to be asked about; `again`: also where it failed."""
        generated, failed = self._generated, self._failed
        for item in order:
            if not generated[item] or (again and failed[item] & _GENERATION_FAILED):
                yield item

    def served(self, order: Iterable[int]) -> Iterator[int]:
        """Of these items those that the target answered."""
        for item in order:
            if self._generated[item] and not self._failed[item] & _GENERATION_FAILED:
                yield item

    def to_score(self, order: Iterable[int], *, again: bool) -> Iterator[int]:
        """Of these items those that have an answer to be scored; `again`: also where an evaluator failed."""
        generated, scored, failed = self._generated, self._scored, self._failed
        for item in order:
            is_open = not scored[item] or (again and failed[item])
            if is_open and generated[item] and not failed[item] & _GENERATION_FAILED:
                yield item

    def finished(self, order: Iterable[int], *, again: bool) -> Iterator[int]:
        """Of these items those of which nothing is left to do; with `again` not those that failed."""
        for item in order:
            if self.is_done(item) and not (again and self._failed[item]):
                yield item

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
        """What the target answered so far, also what it was asked about once more since."""
        for offsets in (self._generated, self._void):
            for at in offsets:
                if at:
                    yield self._log.read(at)

    def replaced(self) -> Iterator[dict[str, Any]]:
        """How the target failed where it was asked once more since."""
        for at in self._void:
            yield self._log.read(at)

    def _take(self, kind: int, item: int, offset: int, *, failed: bool) -> None:
        before = self._failed[item]
        was_done = bool(self._scored[item]) or before == _GENERATION_FAILED
        if kind == GENERATED:
            if self._generated[item]:
                self._void.append(self._generated[item])
            self._generated[item], self._scored[item] = offset, 0
            self._failed[item] = _GENERATION_FAILED if failed else 0
            self.done += failed - was_done
        elif before == _GENERATION_FAILED:
            return  # It is of a later answer, whose frame is damaged.
        else:
            self._scored[item] = offset
            self._failed[item] = _SCORING_FAILED if failed else 0
            self.done += not was_done
        self.failed += failed - bool(before)
