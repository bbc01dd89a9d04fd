"""A chunk of records on its way through the kernel, and the outcomes that come back for it.

Outcomes stand in columns, one a session, each as long as the chunk. It must not know where they come from.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed, pack_array, split_array
from evalsi_protocol.methods import OUTCOMES, VERDICTS

Outcome = tuple[str, Any]
"""What an item says of a record: the outcome's name and its payload."""

RunColumn = tuple[str, str, list[Any]]
"""One score of a run's records: its name, the key of its verdicts, and the verdicts."""

# Of a bare pass or fail, the commonest outcomes, all records share one.
PASSED: Outcome = ("scored", [{"passed": True}])
FAILED: Outcome = ("scored", [{"passed": False}])

_OUTCOMES = frozenset(OUTCOMES)
_ANSWERED_TWICE = WireError(
    "pack.answered_twice", "The pack answered twice for this record, so neither answer counts.", "Mend the pack."
)


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


class Flight:
    """A part of a chunk that one pack process was asked to score.

    Args:
        chunk: the chunk.
        sessions: the sessions asked.
        indices: the records asked, as positions in the chunk; None means all.
        suspect: whether it is asked again after a crash that one of its records may have caused; it then goes alone, so
            that the next crash tells more.
    """

    __slots__ = ("chunk", "fault", "indices", "request_id", "sessions", "suspect")

    def __init__(
        self, chunk: Chunk, sessions: tuple[int, ...], indices: list[int] | None = None, *, suspect: bool = False
    ) -> None:
        self.chunk = chunk
        self.sessions = sessions
        self.indices = indices
        self.request_id = 0
        self.fault = ""
        self.suspect = suspect

    @property
    def size(self) -> int:
        """How many outcomes were asked for."""
        return len(self.sessions) * (len(self.chunk.ids) if self.indices is None else len(self.indices))

    def packed_records(self) -> Packed:
        """The records asked, as one msgpack array."""
        if self.indices is None:
            return self.chunk.packed_array
        return pack_array([self.chunk.packed[index] for index in self.indices], len(self.indices))

    def take(self, items: list[list[Any]]) -> None:
        """Take the items that came for this flight; one that cannot be is a fault, and costs its own record only."""
        if self._take_in_turn(items):
            return
        columns, indices = self.chunk.columns, self.indices
        fresh = 0
        for item in items:
            try:
                session, position, kind, payload = item[:4]
                if position < 0 or kind not in OUTCOMES:
                    raise ValueError(kind)
                index = position if indices is None else indices[position]
                column = columns[session]
                previous = column[index]
            except (KeyError, IndexError, ValueError, TypeError):
                self.fault = f"it sent the item {str(item)[:200]}, which answers nothing that was asked"
                continue
            if previous is None:
                column[index] = (kind, payload)
                fresh += 1
            else:
                column[index] = ("error", _ANSWERED_TWICE.to_body())
        self.chunk.answered(fresh)

    def _take_in_turn(self, items: list[list[Any]]) -> bool:
        """The quick way, for items that answer one record after the other, each with every session in turn.

        That is how a pack that computes sends them. False leaves everything to the slow way, with nothing taken yet.
        """
        width = len(self.sessions)
        if self.indices is not None or not items or len(items) % width:
            return False
        taken = []
        try:
            start, count = items[0][1], len(items) // width
            for offset in range(width):
                sessions, positions, kinds, payloads = zip(*items[offset::width], strict=True)
                column = self.chunk.columns[sessions[0]]
                if (
                    set(sessions) != {self.sessions[offset]}
                    or positions != tuple(range(start, start + count))
                    or not _OUTCOMES.issuperset(kinds)
                    or column[start : start + count] != [None] * count
                ):
                    return False
                taken.append((column, zip(kinds, payloads, strict=True)))
        except (TypeError, ValueError, IndexError, KeyError):
            return False
        for column, outcomes in taken:
            column[start : start + count] = outcomes
        self.chunk.answered(len(items))
        return True

    def take_runs(self, runs: list[Any]) -> None:
        """Take the runs that came for this flight: each means its items, and so do the faults in it."""
        for run in runs:
            read = _read_run(run)
            if read is None or not self._take_run(*read):
                self.fault = f"it sent the run {str(run)[:200]}, which answers nothing that was asked"

    def _take_run(self, session: Any, first: int, columns: list[RunColumn]) -> bool:
        """Whether all of a run was of records that were asked; of the others nothing is even looked at."""
        count = len(columns[0][2])
        start, end = max(first, 0), min(first + count, len(self.chunk.ids if self.indices is None else self.indices))
        column = self.chunk.columns.get(session)
        if column is None or start >= end:
            return not count
        outcomes = _outcomes([(name, key, values[start - first : end - first]) for name, key, values in columns])
        if self.indices is None and column[start:end] == [None] * (end - start):
            column[start:end] = outcomes
            self.chunk.answered(end - start)
        else:
            self.take([[session, place, *outcome] for place, outcome in enumerate(outcomes, start)])
        return end - start == count

    def open_pairs(self) -> list[tuple[int, int]]:
        """The pairs of session and index that have no outcome yet, in the order of the records."""
        indices = range(len(self.chunk.ids)) if self.indices is None else self.indices
        columns = self.chunk.columns
        return [(session, index) for index in indices for session in self.sessions if columns[session][index] is None]

    def again(self) -> list[Flight]:
        """What is still to be asked."""
        return self._asking(self.open_pairs(), suspect=False)

    def halves(self) -> list[Flight]:
        """What is still to be asked, cut in two by records, or by sessions when one record is left."""
        pairs = self.open_pairs()
        indices = sorted({index for _, index in pairs})
        if len(indices) > 1:
            middle = indices[len(indices) // 2]
            parts = ([pair for pair in pairs if pair[1] < middle], [pair for pair in pairs if pair[1] >= middle])
        else:
            middle = len(pairs) // 2
            parts = (pairs[:middle], pairs[middle:])
        return [flight for part in parts for flight in self._asking(part, suspect=True)]

    def _asking(self, pairs: list[tuple[int, int]], *, suspect: bool) -> list[Flight]:
        """Flights that ask for these pairs and no other: one that hung, or ended the process, would do so again."""
        lacking: dict[int, list[int]] = {}
        for session, index in pairs:
            lacking.setdefault(index, []).append(session)
        alike: dict[tuple[int, ...], list[int]] = {}
        for index, sessions in lacking.items():
            alike.setdefault(tuple(sessions), []).append(index)
        return [Flight(self.chunk, sessions, indices, suspect=suspect) for sessions, indices in alike.items()]


def _read_run(run: Any) -> tuple[Any, int, list[RunColumn]] | None:
    """The session, the first place and the columns of a run; None where it has not the form of one."""
    try:
        session, first, given = run[:3]
        columns = [(name, key, values) for name, key, values in given]
        is_run = type(first) is int and all(
            type(name) is str and key in VERDICTS and type(values) is list for name, key, values in columns
        )
        hash(session)
        return (session, first, columns) if is_run and len({len(values) for _, _, values in columns}) == 1 else None
    except (TypeError, ValueError):
        return None


def _outcomes(columns: list[RunColumn]) -> list[Outcome]:
    """The outcome of each record of a run."""
    (name, key, values), *others = columns
    if not others and not name and key == "passed" and set(map(type, values)) == {bool}:
        return [PASSED if value else FAILED for value in values]
    scores = [
        [{"name": name, key: value} for value in values] if name else [{key: value} for value in values]
        for name, key, values in columns
    ]
    return [("scored", [*of_record]) for of_record in zip(*scores, strict=True)]
