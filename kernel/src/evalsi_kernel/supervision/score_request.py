"""One request to a pack process to score records, and the validation of its results. Packs are not trusted."""

from __future__ import annotations

from math import inf
from typing import Any

from evalsi_kernel.records.chunks import FAILED, PASSED, Chunk, Outcome
from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed, pack_array
from evalsi_protocol.methods import OUTCOMES, VERDICTS

RunColumn = tuple[str, str, list[Any]]
"""One score of a run of records: its name, the key of its verdicts, and the verdicts."""

_OUTCOMES = frozenset(OUTCOMES)
_ANSWERED_TWICE = WireError(
    "pack.answered_twice", "The pack answered twice for this record, so neither answer counts.", "Fix the pack."
)


class ScoreRequest:
    """A request to one pack process to score a batch of records, or a part of it.

    Args:
        chunk: the batch.
        sessions: the evaluator sessions.
        indices: positions of the records in the batch; None means all.
        suspect: whether it is repeated after a crash that one of its records may have caused. It is then sent alone, so
            that another crash narrows down the record.
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
        """Number of outcomes requested."""
        return len(self.sessions) * (len(self.chunk.ids) if self.indices is None else len(self.indices))

    def has(self, session: object, record_id: object) -> bool:
        """Return whether the request includes this record for this session."""
        return session in self.sessions and record_id in self.chunk.ids

    def packed_records(self) -> Packed:
        """Return the requested records as one msgpack array."""
        if self.indices is None:
            return self.chunk.packed_array
        return pack_array([self.chunk.packed[index] for index in self.indices], len(self.indices))

    def take(self, items: list[list[Any]]) -> None:
        """Take the outcomes that arrived for this request; an invalid one is a fault that only affects its record."""
        if self._take_in_turn(items):
            return
        columns, indices = self.chunk.columns, self.indices
        fresh = 0
        for item in items:
            try:
                session, position, kind, payload, *more = item
                if position < 0 or kind not in OUTCOMES:
                    raise ValueError(kind)
                index = position if indices is None else indices[position]
                column = columns[session]
                previous = column[index]
            except (KeyError, IndexError, ValueError, TypeError):
                self.fault = f"it sent the item {str(item)[:200]}, which does not match the request"
                continue
            if previous is None:
                column[index] = (kind, payload)
                fresh += 1
                if more and type(more[0]) in (int, float) and 0 < more[0] < inf:
                    self.chunk.durations.setdefault(session, {})[index] = more[0]
            else:
                column[index] = ("error", _ANSWERED_TWICE.to_body())
                self.chunk.durations.get(session, {}).pop(index, None)
        self.chunk.answered(fresh)

    def _take_in_turn(self, items: list[list[Any]]) -> bool:
        """Take outcomes in the order of records, each record with all sessions in turn: the fast path.

        Packs that compute their scores send them in this order. Return False, with nothing taken, in any other case.
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
        """Take the runs that arrived for this request; a run stands for the outcomes of consecutive records."""
        for run in runs:
            read = _read_run(run)
            if read is None or not self._take_run(*read):
                self.fault = f"it sent the run {str(run)[:200]}, which does not match the request"

    def _take_run(self, session: Any, first: int, columns: list[RunColumn]) -> bool:
        """Take the part of a run that was requested; return whether all of it was."""
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
        """Return the pairs of session and index without an outcome, in the order of the records."""
        indices = range(len(self.chunk.ids)) if self.indices is None else self.indices
        columns = self.chunk.columns
        return [(session, index) for index in indices for session in self.sessions if columns[session][index] is None]

    @property
    def is_narrowed_down(self) -> bool:
        """Whether a single outcome is missing, so that any fault is due to that record."""
        return len(self.open_pairs()) == 1

    def fail(self, error: WireError) -> None:
        """Set this error as the outcome of everything that has none."""
        for session, index in self.open_pairs():
            self.chunk.fail(session, index, error)

    def again(self) -> list[ScoreRequest]:
        """Return requests for what is missing."""
        return self._asking(self.open_pairs(), suspect=False)

    def halves(self) -> list[ScoreRequest]:
        """Return requests for what is missing, in two parts by records, or by sessions where one record is left."""
        pairs = self.open_pairs()
        indices = sorted({index for _, index in pairs})
        if len(indices) > 1:
            middle = indices[len(indices) // 2]
            parts = ([pair for pair in pairs if pair[1] < middle], [pair for pair in pairs if pair[1] >= middle])
        else:
            middle = len(pairs) // 2
            parts = (pairs[:middle], pairs[middle:])
        return [request for part in parts for request in self._asking(part, suspect=True)]

    def _asking(self, pairs: list[tuple[int, int]], *, suspect: bool) -> list[ScoreRequest]:
        """Return requests for exactly these pairs, so that a record that crashed or hung is not requested again."""
        lacking: dict[int, list[int]] = {}
        for session, index in pairs:
            lacking.setdefault(index, []).append(session)
        alike: dict[tuple[int, ...], list[int]] = {}
        for index, sessions in lacking.items():
            alike.setdefault(tuple(sessions), []).append(index)
        return [ScoreRequest(self.chunk, sessions, indices, suspect=suspect) for sessions, indices in alike.items()]


def _read_run(run: Any) -> tuple[Any, int, list[RunColumn]] | None:
    """Return the session, first index and columns of a run; None where it is malformed."""
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
    """Return the outcome of each record of a run."""
    (name, key, values), *others = columns
    if not others and not name and key == "passed" and set(map(type, values)) == {bool}:
        return [PASSED if value else FAILED for value in values]
    scores = [
        [{"name": name, key: value} for value in values] if name else [{key: value} for value in values]
        for name, key, values in columns
    ]
    return [("scored", [*of_record]) for of_record in zip(*scores, strict=True)]
