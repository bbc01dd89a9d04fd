"""A chunk of records on its way through the kernel, and the outcomes that come back for it.

Outcomes stand in columns, one a session, each as long as the chunk. It must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed, pack_array, split_array

Outcome = tuple[str, Any]
"""What an item says of a record: the outcome's name and its payload."""

# Of a bare pass or fail, the commonest outcomes, all records share one.
PASSED: Outcome = ("scored", [{"passed": True}])
FAILED: Outcome = ("scored", [{"passed": False}])


class Chunk:
    """Records in the order of the data.

    Args:
        packed_array: the records as one msgpack array.
        ids: each record's id.
        numbers: where each stands in the source.
        clusters: each record's cluster, or None without clusters.
        refusal: why these records cannot be sent to any pack; None where they can.
        record_ids: each record's id in the results, where `ids` tell its trials apart; None where they are the same.
        trials: the trial of each record; None where each is the first.

    Attributes:
        columns: session → each record's outcome, None as long as there is none.
        durations: session → index → how many milliseconds an evaluation took, of those that said so.
    """

    def __init__(
        self,
        packed_array: Packed,
        ids: list[str],
        numbers: list[int],
        clusters: list[str] | None = None,
        *,
        refusal: WireError | None = None,
        record_ids: list[str] | None = None,
        trials: list[int] | None = None,
    ) -> None:
        self.packed_array = packed_array
        self.ids = ids
        self.numbers = numbers
        self.clusters = clusters
        self.refusal = refusal
        self.record_ids = record_ids
        self.trials = trials
        self.columns: dict[int, list[Outcome | None]] = {}
        self.durations: dict[int, dict[int, float]] = {}
        self.unanswered = 0
        self.when_answered: Callable[[], None] | None = None

    @cached_property
    def packed(self) -> list[bytes]:
        """Each record's msgpack: of most chunks nobody needs it."""
        return split_array(self.packed_array)

    def part(self, start: int, end: int) -> Chunk:
        """The records from `start` up to `end`, nothing asked yet."""
        clusters = None if self.clusters is None else self.clusters[start:end]
        packed = pack_array(self.packed[start:end], end - start)
        return Chunk(packed, self.ids[start:end], self.numbers[start:end], clusters)

    def expect(self, sessions: tuple[int, ...]) -> None:
        """Make room for these sessions' outcomes."""
        for session in sessions:
            self.columns[session] = [None] * len(self.ids)
        self.unanswered += len(sessions) * len(self.ids)

    def put(self, session: int, index: int, outcome: Outcome) -> None:
        """Take the outcome of one record, which must not have one yet."""
        column = self.columns[session]
        if column[index] is None:
            column[index] = outcome
            self.answered(1)

    def fail(self, session: int, index: int, error: WireError) -> None:
        """End one record, which must not have an outcome yet, with this error."""
        self.put(session, index, ("error", error.to_body()))

    def answered(self, count: int) -> None:
        """So many more outcomes are there; tells whoever waits when they are all."""
        self.unanswered -= count
        if self.unanswered == 0 and count and self.when_answered is not None:
            self.when_answered()

    def cancel_unanswered(self, reason: str) -> None:
        """Give every record that has no outcome the outcome `cancelled`."""
        self.answer_all(("cancelled", {"reason": reason}))

    def answer_all(self, answer: Outcome) -> None:
        """Give every record that has no outcome this one."""
        for session, column in self.columns.items():
            for index, outcome in enumerate(column):
                if outcome is None:
                    self.put(session, index, answer)
