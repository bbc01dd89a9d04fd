"""The hot loop: records through opened evaluators, outcomes into the buffer.

Whatever an evaluator raises becomes an outcome here; only what ends a process leaves. It must not know frames.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any

from evalsi.context import AskError
from evalsi.item_buffer import Item, ItemBuffer
from evalsi.opened import Opened
from evalsi.record import Record
from evalsi.score import ERROR, SCORED, SKIPPED, ScoreError, Skip, scores_of

STATE = "state"
Sessions = Sequence[tuple[int, Opened]]


class Running:
    """What is being scored at the moment, for the answer to a ping."""

    __slots__ = ("current",)

    def __init__(self) -> None:
        self.current: tuple[int, int, int, float] | None = None

    def report(self) -> list[dict[str, Any]]:
        """The request, index and session that run now and for how many milliseconds."""
        current = self.current
        if current is None:
            return []
        request, index, session, since = current
        return [{"request": request, "index": index, "session": session, "ms": int((monotonic() - since) * 1000)}]


def score_records(
    request_id: int,
    records: Sequence[dict[str, Any]],
    sessions: Sessions,
    buffer: ItemBuffer,
    running: Running,
    is_cancelled: Callable[[int], bool],
) -> bool:
    """Score every record with every session, in order; returns False when the request was cancelled on the way."""
    for index, wire in enumerate(records):
        if is_cancelled(request_id):
            return False
        record = Record.from_wire(wire)
        items: list[Item] = []
        for session, opened in sessions:
            running.current = (request_id, index, session, monotonic())
            items.append(score_one(session, index, opened, record))
        buffer.add_many(items)
    running.current = None
    return True


def score_one(session: int, index: int, opened: Opened, record: Record) -> Item:
    """One outcome of a synchronous evaluator."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, opened.score(record))
    except Exception as error:
        return failed(session, index, opened, error)


async def score_one_async(session: int, index: int, opened: Opened, record: Record) -> Item:
    """One outcome of an asynchronous evaluator."""
    try:
        opened.check_needs(record)
        return outcome(session, index, opened, await opened.score(record))
    except Exception as error:
        return failed(session, index, opened, error)


def outcome(session: int, index: int, opened: Opened, result: Any) -> Item:
    """The item for what an evaluator returned; raises `ScoreError` when it is no score."""
    if opened.definition.scope == "dataset":
        return [session, index, STATE, {"state": result}]
    return [session, index, SCORED, scores_of(result)]


def failed(session: int, index: int, opened: Opened, error: Exception) -> Item:
    """The item for what an evaluator raised: a skip, the kernel's own error, or an error that names the exception."""
    if isinstance(error, Skip):
        return [session, index, SKIPPED, {"reason": str(error) or "the evaluator skipped the record"}]
    if isinstance(error, AskError):
        return [session, index, ERROR, error.error.to_body()]
    name = opened.definition.name
    if isinstance(error, ScoreError):
        body = _error_body("pack.bad_score", f"{name}: {error}", "Return a Score with a finite value.")
    else:
        traceback.print_exception(error, limit=-6, file=sys.stderr)
        message = str(error)
        body = _error_body(
            "pack.evaluator_raised",
            f"{name} raised {type(error).__name__}{': ' + message if message else ''}",
            "See the pack's stderr for the place.",
        )
    return [session, index, ERROR, body]


def _error_body(code: str, message: str, mend: str) -> dict[str, Any]:
    return {"code": code, "message": message, "mend": mend, "blame": "pack", "retry": "no"}
