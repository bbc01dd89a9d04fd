"""The pure form of a judge evaluator on the wire: `plan` makes questions of records, `reduce` scores of replies.

It asks nothing by itself: whoever calls it brings the replies. It must not know frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalsi.judging import replies_of
from evalsi.opened import Opened, reduced
from evalsi.record import Record
from evalsi.scoring import FAULTS, failed, outcome

PLANNED = "planned"


def plan_records(opened: Opened, records: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """For each record `["planned", {"requests": […]}]`, or the outcome of one that no question is asked about."""

    def plan(index: int, record: Record) -> list[Any]:
        opened.check_needs(record)
        return [PLANNED, {"requests": [question.to_body() for question in opened.instance.plan(record)]}]

    return _each(opened, records, plan)


def reduce_records(
    opened: Opened, records: Sequence[dict[str, Any]], replies: Sequence[Sequence[Mapping[str, Any]]]
) -> list[list[Any]]:
    """For each record its outcome, from the replies to its questions in their order; raises `ValueError`.

    Args:
        opened: the evaluator.
        records: as they were planned.
        replies: of each record, as `judge.ask` is answered.
    """
    if len(replies) != len(records):
        raise ValueError(f"{len(records)} records came with {len(replies)} lists of replies")

    def reduce(index: int, record: Record) -> list[Any]:
        of_record = replies_of({"replies": list(replies[index])}, len(replies[index]))
        return outcome(0, index, opened, reduced(opened.instance, record, of_record))[2:]

    return _each(opened, records, reduce)


def _each(
    opened: Opened, records: Sequence[dict[str, Any]], step: Callable[[int, Record], list[Any]]
) -> list[list[Any]]:
    answers = []
    # The same records are to give the same answer each time: every error has its traceback.
    opened = opened._replace(raised=None)
    for index, wire in enumerate(records):
        try:
            answers.append(step(index, Record.from_wire(wire)))
        except FAULTS as error:
            answers.append(failed(0, index, opened, error)[2:])
    return answers
