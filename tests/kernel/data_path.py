"""Rows, evaluators and outcomes, as the tests of the data path need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import msgpack

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.scores.tally import Tally

PASS = OutputInfo("", "pass", higher_is_better=True)


class Lines:
    """A source whose rows stand in lines, some at a time; `None` is a blank line."""

    unit = "line"
    may_block = False
    name = "qa.jsonl"

    def __init__(self, rows: Sequence[dict[str, Any] | None], *, at_once: int = 3) -> None:
        self._rows = [(number, row) for number, row in enumerate(rows, 1) if row is not None]
        self._at_once = at_once
        self.read = 0

    def chunks(self) -> Iterator[list[tuple[int, dict[str, Any]]]]:
        for start in range(0, len(self._rows), self._at_once):
            part = self._rows[start : start + self._at_once]
            self.read += len(part)
            yield part

    def sha256(self) -> str | None:
        return None


def records(*rows: dict[str, Any] | None, **options: Any) -> list[dict[str, Any]]:
    """The records of these rows, as they are on the wire."""
    return [msgpack.unpackb(packed) for chunk in Intake(Lines(rows), **options).chunks() for packed in chunk.packed]


def record(row: dict[str, Any], **options: Any) -> dict[str, Any]:
    """One record without its id."""
    (wire,) = records(row, **options)
    del wire["id"]
    return wire


def read(intake: Intake) -> Intake:
    """The intake after it read everything."""
    for _ in intake.chunks():
        pass
    return intake


def instance(
    name: str = "exact-match",
    *outputs: OutputInfo,
    session: int = 0,
    called: str = "",
    scope: Literal["record", "dataset"] = "record",
) -> Instance:
    return Instance(session, called or name, EvaluatorInfo(name, "core", "1", scope=scope, outputs=outputs))


def tally(*outputs: OutputInfo, clustered: bool = False, scope: Literal["record", "dataset"] = "record") -> Tally:
    return Tally(instance("judge", *outputs, scope=scope), 0.95, keep_values=False, clustered=clustered)


def scored(*scores: Any) -> Outcome:
    return "scored", list(scores)


def skipped(reason: str = "record has no reference") -> Outcome:
    return "skipped", {"reason": reason}


def failed(message: str = "it broke") -> Outcome:
    return "error", {"code": "pack.failed", "message": message, "hint": "", "source": "pack", "retry": "no"}


def chunk(rows: Sequence[dict[str, Any]], *columns: Sequence[Outcome | None]) -> Chunk:
    """The rows as one chunk, with these outcomes for the sessions 0, 1, …"""
    (made,) = Intake(Lines(rows, at_once=len(rows))).chunks()
    made.columns = {session: list(column) for session, column in enumerate(columns)}
    return made
