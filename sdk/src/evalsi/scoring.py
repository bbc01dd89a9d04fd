"""The scoring loop: run opened evaluators on records and add the outcomes to the buffer.

Exceptions of evaluators become outcomes; only those that end the process propagate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from math import inf, isfinite
from time import monotonic
from typing import Any

from evalsi.binding import FieldTypeError
from evalsi.item_buffer import MAX_ITEMS, VERDICT_KEYS, Item, ItemBuffer
from evalsi.judging import AskError
from evalsi.opened import Opened
from evalsi.progress import MASK, open_cells
from evalsi.record import Record
from evalsi.score import ERROR, SCORED, SKIPPED, Bare, ScoreError, Skip, bare_verdicts, scores_of
from evalsi_protocol.errors import LocalMisuse, WireError, sendable
from evalsi_protocol.values import check_value

STATE = "state"
SLOW_S = 0.001
"""Synchronous evaluations report their duration from this number of seconds; asynchronous ones always do."""
Sessions = Sequence[tuple[int, Opened]]
# sys.exit() in an evaluator is an error of that evaluation and must not end the pack.
FAULTS = (Exception, SystemExit)


class Running:
    """The records being scored now, for the answer to a ping."""

    __slots__ = ("asynchronous", "cells", "current", "holding")

    def __init__(self) -> None:
        # Shared with the kernel, which reads them while the interpreter is blocked.
        self.cells = open_cells()
        self.current: tuple[int, int, int, float] | None = None
        # Async evaluations in progress: (request, index, session) → start time.
        self.asynchronous: dict[tuple[int, int, int], float] = {}
        # Returns the async evaluation that occupies the loop's thread, if any.
        self.holding: Callable[[], tuple[int, int, int] | None] = lambda: None

    def report(self) -> list[dict[str, Any]]:
        """Return request, index, session and elapsed milliseconds of each record in progress.

        The record that occupies the thread comes first: if nothing progresses, it is the cause.
        """
        holding = self.holding()
        running = [(*key, since) for key, since in self.asynchronous.copy().items()]
        running.sort(key=lambda one: one[:3] != holding)
        current = self.current
        if current is not None:
            running.append(current)
        now = monotonic()
        return [
            {"request": request, "index": index, "session": session, "ms": int((now - since) * 1000)}
            for request, index, session, since in running
        ]


def score_records(
    request_id: int,
    records: Sequence[dict[str, Any]],
    sessions: Sessions,
    buffer: ItemBuffer,
    *,
    running: Running,
    is_cancelled: Callable[[int], bool],
) -> bool:
    """Score every record with every session, in order. Return False if the request was cancelled meanwhile."""
    # This loop is the hot path: names are bound once, and bare verdicts, the most common result, skip all checks.
    from_wire, clock = Record.from_wire, monotonic
    all_needs = {need for _, opened in sessions for need in opened.definition.needs}
    checks_all = any(opened.asks_in_text for _, opened in sessions)
    columns = [column.outcomes for column in buffer.open_columns([number for number, _ in sessions])]
    prepared = [
        (number, number & MASK, opened, opened.score, _verdicts(opened), outcomes.append)
        for (number, opened), outcomes in zip(sessions, columns, strict=True)
    ]
    oldest: list[Any] = columns[0] if columns else []
    slow_s, most = SLOW_S if buffer.takes_durations else inf, MAX_ITEMS // max(1, len(columns))
    cells = running.cells
    cells[0] = request_id & MASK
    now = clock()
    try:
        for index, wire in enumerate(records):
            if is_cancelled(request_id):
                return False
            record, has_all = from_wire(wire), not checks_all and all_needs <= wire.keys()
            for session, cell, opened, score, verdicts, add in prepared:
                # The end of one evaluation is the start of the next, to read the clock once per evaluation.
                since = now
                running.current = (request_id, index, session, since)
                cells[2] = cell
                cells[1] = index + 1
                try:
                    if not has_all:
                        opened.check_needs(record)
                    result = score(record)
                    now = clock()
                    if type(result) in verdicts and now - since < slow_s and isfinite(result):
                        add(result)
                    else:
                        add(_settled(session, index, opened, result, took_s=now - since, slow_s=slow_s))
                        now = clock()
                except FAULTS as error:
                    took_s = clock() - since
                    item = failed(session, index, opened, error)
                    add(item if took_s < slow_s else timed(item, took_s))
                    now = clock()
            if now >= buffer.due_at or len(oldest) >= most:
                buffer.flush()
                now = clock()
    finally:
        running.current = None
        cells[1] = 0
    return True


def _verdicts(opened: Opened) -> Collection[type]:
    """Return the types of results that are bare verdicts."""
    if opened.definition.scope != "record":
        return ()
    return VERDICT_KEYS if opened.promise is None else VERDICT_KEYS.keys() & opened.promise.types


def _settled(
    session: int, index: int, opened: Opened, result: Any, *, took_s: float, slow_s: float
) -> Item | Bare | bool | float:
    """Return the column entry for a result: only the verdicts if it has nothing else."""
    if took_s >= slow_s:
        return timed(outcome(session, index, opened, result), took_s)
    if opened.definition.scope == "dataset":
        return outcome(session, index, opened, result)
    opened.check_result(result)
    bare = bare_verdicts(result)
    return outcome(session, index, opened, result) if bare is None else bare


def score_one(session: int, index: int, opened: Opened, record: Record) -> Item:
    """Return the outcome of a synchronous evaluator for one record."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, opened.score(record))
    except FAULTS as error:
        return failed(session, index, opened, error)


async def score_one_async(session: int, index: int, opened: Opened, record: Record) -> Item:
    """Return the outcome of an asynchronous evaluator for one record."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, await opened.score(record))
    except FAULTS as error:
        return failed(session, index, opened, error)


def timed(item: Item, took_s: float) -> Item:
    """Return the item with the wall-clock duration of its evaluation. States carry no duration."""
    return item if item[2] == STATE else [*item, round(took_s * 1000, 3) or 0.001]


def outcome(session: int, index: int, opened: Opened, result: Any) -> Item:
    """Return the item for an evaluator's result. Raise `ScoreError` if it is not a score or cannot be encoded."""
    if opened.definition.scope == "dataset":
        check_travels(result, "state")
        return [session, index, STATE, {"state": result}]
    opened.check_result(result)
    scores = scores_of(result)
    for place, score in enumerate(scores):
        if "error" in score:
            scores[place] = wire_of_failed(opened, score)
        # Name and value were already checked when the score was created.
        elif "metadata" in score or "cost_usd" in score:
            check_travels(score, "score")
    return [session, index, SCORED, scores]


def wire_of_failed(opened: Opened, score: dict[str, Any]) -> dict[str, Any]:
    """Return the wire form of a score whose number is not finite: its name and the error."""
    metric = score.get("name") or opened.definition.name
    error = WireError("pack.bad_score", f"{opened.definition.name}: {metric}: {score['error']}", ScoreError.hint)
    return {**({"name": score["name"]} if "name" in score else {}), "error": error.to_body()}


def failed(session: int, index: int, opened: Opened, error: BaseException) -> Item:
    """Return the item for an exception of an evaluator: a skip, the kernel's error, or an error with the exception."""
    if isinstance(error, Skip):
        return [session, index, SKIPPED, {"reason": sendable(str(error) or "the evaluator skipped the record")}]
    if isinstance(error, AskError):
        return [session, index, ERROR, error.error.to_body()]
    name = opened.definition.name
    if isinstance(error, ScoreError):
        wire = WireError("pack.bad_score", f"{name}: {error}", error.hint)
    elif isinstance(error, FieldTypeError):
        wire = WireError("record.field", f"{name}: {error}", error.hint, "record")
    else:
        from evalsi import fault_log  # Imported late, to start faster: only errors need it.

        message, where = str(error), fault_log.where_of(error)
        wire = WireError(
            "pack.evaluator_raised",
            f"{name} raised {type(error).__name__}{': ' + message if message else ''}",
            f"It was raised in {where}." if where else "",
            traceback=fault_log.first_of(opened.raised, error),
        )
    return [session, index, ERROR, wire.to_body()]


def check_travels(value: Any, what: str) -> None:
    """Raise `ScoreError` if a value cannot be encoded."""
    try:
        check_value(value)
    except LocalMisuse as misuse:
        raise ScoreError(f"the {what} cannot be sent. {misuse.error.message}") from misuse
