"""The hot loop: records through opened evaluators, outcomes into the buffer.

Whatever an evaluator raises becomes an outcome here; only what ends a process leaves. It must not know frames.
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
"""An evaluation that takes at least so long tells how long; any quicker one only where its evaluator waits."""
Sessions = Sequence[tuple[int, Opened]]
# sys.exit() in an evaluator is a fault of the record's evaluation, not a wish of the pack to end.
FAULTS = (Exception, SystemExit)


class Running:
    """What is being scored at the moment, for the answer to a ping."""

    __slots__ = ("asynchronous", "cells", "current", "holding")

    def __init__(self) -> None:
        # Shared with the kernel, which reads them when the interpreter is held.
        self.cells = open_cells()
        self.current: tuple[int, int, int, float] | None = None
        # Of the async evaluators many run at once: (request, index, session) → since when.
        self.asynchronous: dict[tuple[int, int, int], float] = {}
        # Which of these holds the thread that they share, where one does.
        self.holding: Callable[[], tuple[int, int, int] | None] = lambda: None

    def report(self) -> list[dict[str, Any]]:
        """The request, index and session of each record that runs now, and for how many milliseconds.

        The one that holds up the others comes first: where nothing goes on, it is the one to source.
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
    """Score every record with every session, in order; returns False when the request was cancelled on the way."""
    # What runs for every record: names are bound once, and a bare verdict, the commonest result, is not looked into.
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
                # The end of one evaluation is the beginning of the next: the clock is read once for each.
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
    """The types of results that are verdicts by themselves."""
    if opened.definition.scope != "record":
        return ()
    return VERDICT_KEYS if opened.promise is None else VERDICT_KEYS.keys() & opened.promise.types


def _settled(
    session: int, index: int, opened: Opened, result: Any, *, took_s: float, slow_s: float
) -> Item | Bare | bool | float:
    """What stands for a result in its session's column: the verdicts alone where there is nothing else to say."""
    if took_s >= slow_s:
        return timed(outcome(session, index, opened, result), took_s)
    if opened.definition.scope == "dataset":
        return outcome(session, index, opened, result)
    opened.check_result(result)
    bare = bare_verdicts(result)
    return outcome(session, index, opened, result) if bare is None else bare


def score_one(session: int, index: int, opened: Opened, record: Record) -> Item:
    """One outcome of a synchronous evaluator."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, opened.score(record))
    except FAULTS as error:
        return failed(session, index, opened, error)


async def score_one_async(session: int, index: int, opened: Opened, record: Record) -> Item:
    """One outcome of an asynchronous evaluator."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, await opened.score(record))
    except FAULTS as error:
        return failed(session, index, opened, error)


def timed(item: Item, took_s: float) -> Item:
    """The item with how long its evaluation took, by the clock on the wall; a state is no result, and has none."""
    return item if item[2] == STATE else [*item, round(took_s * 1000, 3) or 0.001]


def outcome(session: int, index: int, opened: Opened, result: Any) -> Item:
    """The item for what an evaluator returned; raises `ScoreError` when it is no score or cannot travel."""
    if opened.definition.scope == "dataset":
        check_travels(result, "state")
        return [session, index, STATE, {"state": result}]
    opened.check_result(result)
    scores = scores_of(result)
    for place, score in enumerate(scores):
        if "error" in score:
            scores[place] = wire_of_failed(opened, score)
        # A plain score has a name and a value that were checked when it was made.
        elif "metadata" in score or "cost_usd" in score:
            check_travels(score, "score")
    return [session, index, SCORED, scores]


def wire_of_failed(opened: Opened, score: dict[str, Any]) -> dict[str, Any]:
    """The wire form of a score that is no finite number, among others that are: its name, and the error."""
    metric = score.get("name") or opened.definition.name
    error = WireError("pack.bad_score", f"{opened.definition.name}: {metric}: {score['error']}", ScoreError.hint)
    return {**({"name": score["name"]} if "name" in score else {}), "error": error.to_body()}


def failed(session: int, index: int, opened: Opened, error: BaseException) -> Item:
    """The item for what an evaluator raised: a skip, the kernel's own error, or an error that names the exception."""
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
        from evalsi import (
            fault_log,
        )  # Here and in the rest of the package: what only a fault needs, no start waits for.

        message, where = str(error), fault_log.where_of(error)
        wire = WireError(
            "pack.evaluator_raised",
            f"{name} raised {type(error).__name__}{': ' + message if message else ''}",
            f"It was raised in {where}." if where else "",
            traceback=fault_log.first_of(opened.raised, error),
        )
    return [session, index, ERROR, wire.to_body()]


def check_travels(value: Any, what: str) -> None:
    """Make sure that a value can be sent; raises `ScoreError`."""
    try:
        check_value(value)
    except LocalMisuse as misuse:
        raise ScoreError(f"the {what} cannot be sent. {misuse.error.message}") from misuse
