"""Records through a module's functions: in batches that take a few milliseconds, and singly where a batch fails.

What is wrong with a batch costs nobody but the record that is at fault, since a module's functions are pure: records
are asked again of a fresh instance. Any thread may call. It must not know frames or sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol

from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed, pack, pack_array, pack_map
from evalsi_wasm.answers import failed, outcomes_in, read_answer, settled
from evalsi_wasm.description import Opened
from evalsi_wasm.engine import Clock
from evalsi_wasm.faults import GuestFault

MAX_BATCH: Final = 256
MAX_BATCH_BYTES: Final = 1024 * 1024
QUICK_S, SLOW_S = 0.005, 0.02
"""A batch that took less than the one is followed by a larger one, one that took more than the other by a smaller."""
BATCH_S: Final = 1.0
"""How long a batch may take before its records are asked singly, each with all the time that a record has."""
SHARE_OF_LIMIT: Final = 0.9
"""A module is stopped a little before the kernel would end its process."""
MAX_STUCK: Final = 10
AGGREGATE_FACTOR: Final = 10


class Instance(Protocol):
    """One live instance, which belongs to one thread at a time."""

    def call(self, function: str, body: bytes, *, seconds: float, records: int = 1) -> bytes:
        """The answer of a function to a body; raises `GuestFault`."""
        ...


class Instances(Protocol):
    """What makes instances of one module."""

    @property
    def clock(self) -> Clock:
        """Counts while one of them runs."""
        ...

    def instance(self) -> Instance:
        """A fresh one; raises `GuestFault`."""
        ...


class Task(NamedTuple):
    """Records of one request for one evaluator.

    Args:
        function: the export to call.
        opened: the evaluator.
        records: in MessagePack.
        places: the index of each in its request.
        key: what the answer calls its outcomes.
        admitted: the kinds of outcome that there may be.
        replies: of each record, in MessagePack, where the function takes any.
        about: the request and the session, for whoever asks what runs.
    """

    function: str
    opened: Opened
    records: Sequence[bytes]
    places: Sequence[int]
    key: str
    admitted: frozenset[str]
    replies: Sequence[bytes] | None = None
    about: tuple[int, int] = (0, 0)

    def body(self, start: int, stop: int) -> Packed:
        """What the function is handed of these records."""
        entries = {**self.opened.head, "records": pack_array(self.records[start:stop], stop - start)}
        if self.replies is not None:
            entries["replies"] = pack_array(self.replies[start:stop], stop - start)
        return pack_map(entries)


class Calls:
    """Calls of one module's functions, on as many instances as there are callers at once."""

    def __init__(self, code: Instances, first: Instance) -> None:
        self._code = code
        self._free = [first]
        self._batch: dict[tuple[str, str], int] = {}
        self._running: dict[int, tuple[int, int, int, float]] = {}
        self._stuck = 0

    def close(self) -> None:
        """Ask nothing more; the clock of its deadlines stops."""
        self._code.clock.close()

    def running(self) -> list[dict[str, Any]]:
        """What each caller is at, and for how many milliseconds, the longest first."""
        now = monotonic()
        entries = sorted(self._running.copy().values(), key=lambda one: one[3])
        return [
            {"request": request, "session": session, "index": index, "ms": int((now - since) * 1000)}
            for request, session, index, since in entries
        ]

    def outcomes(self, task: Task, is_wanted: Callable[[], bool]) -> Iterator[tuple[int, list[Any]]]:
        """The outcomes of a task's records, in their order: each time the first one's number, and some of them.

        Ends early when they are no longer wanted.
        """
        start, kind = 0, (task.function, str(task.opened.table["name"]))
        while start < len(task.records) and is_wanted():
            stop = _stop(task.records, start, self._batch.get(kind, 1))
            began = monotonic()
            found = self._together(task, start, stop)
            if found is None:
                self._batch[kind] = 1
                for number in range(start, stop):
                    if not is_wanted():
                        return
                    yield number, [self._alone(task, number)]
            else:
                self._batch[kind] = _next_size(stop - start, self._batch.get(kind, 1), monotonic() - began)
                yield start, found
            start = stop

    def aggregate(self, opened: Opened, states: Sequence[Any], about: tuple[int, int]) -> list[Any]:
        """The outcome of all records, from their states."""
        body = pack_map({**opened.head, "states": Packed(pack(states))})
        seconds = opened.record_timeout_s * AGGREGATE_FACTOR * SHARE_OF_LIMIT
        try:
            with self._at(*about, 0):
                answer = read_answer(self._called("evalsi_aggregate", body, seconds, max(1, len(states))))
        except GuestFault as fault:
            return failed(fault.error)
        return settled([answer.get("outcome"), answer.get("payload")], frozenset({"scored", "skipped", "error"}))

    def _together(self, task: Task, start: int, stop: int) -> list[Any] | None:
        """The outcomes of several records, or None where they have to be asked singly."""
        if stop - start == 1:
            return [self._alone(task, start)]
        seconds = min(BATCH_S, task.opened.record_timeout_s / 4)
        try:
            return self._settled(task, start, stop, seconds)
        except GuestFault:
            return None

    def _alone(self, task: Task, number: int) -> list[Any]:
        if self._stuck >= MAX_STUCK:
            message = f"{MAX_STUCK} records took the module too long, and it is not asked any more."
            return failed(WireError("pack.timeout", message, "Correct an endless loop, or raise record_timeout_s."))
        try:
            seconds = task.opened.record_timeout_s * SHARE_OF_LIMIT
            (outcome,) = self._settled(task, number, number + 1, seconds)
        except GuestFault as fault:
            self._stuck += fault.error.code == "pack.timeout"
            return failed(fault.error)
        return list(outcome)

    def _settled(self, task: Task, start: int, stop: int, seconds: float) -> list[Any]:
        with self._at(*task.about, task.places[start]):
            answer = read_answer(self._called(task.function, task.body(start, stop), seconds, stop - start))
        return [settled(one, task.admitted) for one in outcomes_in(answer, task.key, stop - start)]

    def _called(self, function: str, body: bytes, seconds: float, records: int) -> bytes:
        guest = self._free.pop() if self._free else self._code.instance()
        try:
            answer = guest.call(function, body, seconds=seconds, records=records)
        except GuestFault as fault:
            if not fault.is_fatal:
                self._free.append(guest)
            raise
        self._free.append(guest)
        return answer

    @contextmanager
    def _at(self, request: int, session: int, index: int) -> Iterator[None]:
        me = threading.get_ident()
        self._running[me] = (request, session, index, monotonic())
        try:
            yield
        finally:
            del self._running[me]


def _stop(records: Sequence[bytes], start: int, count: int) -> int:
    """Where a batch ends: after so many records, or before they are too large together."""
    size, stop = 0, start
    for record in records[start : start + count]:
        size += len(record)
        if stop > start and size > MAX_BATCH_BYTES:
            break
        stop += 1
    return stop


def _next_size(asked: int, aimed_at: int, took_s: float) -> int:
    if took_s > SLOW_S:
        return max(1, asked // 2)
    return min(MAX_BATCH, aimed_at * 2) if took_s < QUICK_S and asked >= aimed_at else aimed_at
