"""Call a module's functions in batches of a few milliseconds; if a batch fails, call them for each record alone.

Repeating a call is safe because a module's functions are pure, so a fault only affects the record that caused it.
Thread-safe.
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
"""The batch size grows after a batch that took less than `QUICK_S` and shrinks after more than `SLOW_S`."""
BATCH_S: Final = 1.0
"""Timeout of a batch. After it, each record is called alone with the full timeout of a record."""
SHARE_OF_LIMIT: Final = 0.9
"""Share of the kernel's timeout that a module may use, so that it stops before the kernel ends the process."""
MAX_STUCK: Final = 10
AGGREGATE_FACTOR: Final = 10


class Instance(Protocol):
    """A live instance; may be used by one thread at a time."""

    def call(self, function: str, body: bytes, *, seconds: float, records: int = 1) -> bytes:
        """Call a function with a body and return its answer; raises `GuestFault`."""
        ...


class Instances(Protocol):
    """Factory of the instances of one module."""

    @property
    def clock(self) -> Clock:
        """The clock of the instances' deadlines."""
        ...

    def instance(self) -> Instance:
        """Return a new instance; raises `GuestFault`."""
        ...


class Task(NamedTuple):
    """Records of one request for one evaluator.

    Args:
        function: the export to call.
        opened: the evaluator.
        records: the records as MessagePack.
        places: index of each record in its request.
        key: field of the answer that contains the outcomes.
        admitted: kinds of outcome that are allowed.
        replies: judge replies of each record as MessagePack; None if the function takes none.
        about: ids of the request and the session, for `Calls.running`.
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
        """Return the request body for the records from `start` up to `stop`."""
        entries = {**self.opened.head, "records": pack_array(self.records[start:stop], stop - start)}
        if self.replies is not None:
            entries["replies"] = pack_array(self.replies[start:stop], stop - start)
        return pack_map(entries)


class Calls:
    """Calls a module's functions, with one instance for each concurrent caller."""

    def __init__(self, code: Instances, first: Instance) -> None:
        self._code = code
        self._free = [first]
        self._batch: dict[tuple[str, str], int] = {}
        self._running: dict[int, tuple[int, int, int, float]] = {}
        self._stuck = 0

    def close(self) -> None:
        """Stop the clock. No call may follow."""
        self._code.clock.close()

    def running(self) -> list[dict[str, Any]]:
        """Return the record that each caller is working on and for how many milliseconds, longest first."""
        now = monotonic()
        entries = sorted(self._running.copy().values(), key=lambda one: one[3])
        return [
            {"request": request, "session": session, "index": index, "ms": int((now - since) * 1000)}
            for request, session, index, since in entries
        ]

    def outcomes(self, task: Task, is_wanted: Callable[[], bool]) -> Iterator[tuple[int, list[Any]]]:
        """Yield the outcomes of a task in order, in parts: the index of the part's first record, and its outcomes.

        Stops early when `is_wanted` returns False.
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
        """Return the outcome of a dataset evaluator, given the states of all records."""
        body = pack_map({**opened.head, "states": Packed(pack(states))})
        seconds = opened.record_timeout_s * AGGREGATE_FACTOR * SHARE_OF_LIMIT
        try:
            with self._at(*about, 0):
                answer = read_answer(self._called("evalsi_aggregate", body, seconds, max(1, len(states))))
        except GuestFault as fault:
            return failed(fault.error)
        return settled([answer.get("outcome"), answer.get("payload")], frozenset({"scored", "skipped", "error"}))

    def _together(self, task: Task, start: int, stop: int) -> list[Any] | None:
        """Return the outcomes of a batch; None if it failed and its records must be called one by one."""
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
    """Return the end index of a batch of at most `count` records and `MAX_BATCH_BYTES` (but at least one record)."""
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
