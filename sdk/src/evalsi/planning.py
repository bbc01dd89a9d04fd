"""The `plan` and `reduce` requests of a judge evaluator: records to questions, replies to scores.

The caller asks the questions and passes the replies.
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
    """Return `["planned", {"requests": […]}]` for each record, or its outcome if it is skipped or fails."""

    def plan(index: int, record: Record) -> list[Any]:
        opened.check_needs(record)
        return [PLANNED, {"requests": [question.to_body() for question in opened.instance.plan(record)]}]

    return _each(opened, records, plan)


def reduce_records(
    opened: Opened, records: Sequence[dict[str, Any]], replies: Sequence[Sequence[Mapping[str, Any]]]
) -> list[list[Any]]:
    """Return the outcome of each record from the replies to its questions.

    Args:
        opened: the evaluator.
        records: the records, as passed to `plan_records`.
        replies: the replies for each record, in the order of its questions, as in a response to `judge.ask`.

    Raises:
        ValueError: the numbers of records and lists of replies differ.
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
    # Keep every traceback, so that equal records always give equal answers.
    opened = opened._replace(raised=None)
    for index, wire in enumerate(records):
        try:
            answers.append(step(index, Record.from_wire(wire)))
        except FAULTS as error:
            answers.append(failed(0, index, opened, error)[2:])
    return answers
