"""Owns what people wrote as labels, and of which kind they are: pass or fail, numbers, or texts.

It must not know where labels stand in the data, nor what an evaluator says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.contents import shown

LabelKind = Literal["pass", "number", "text"]

PASS, FAIL = "pass", "fail"
_PASS_WORDS = {"pass": True, "true": True, "1": True, "fail": False, "false": False, "0": False}
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)


class Label(NamedTuple):
    """What people say of one record.

    Args:
        record_id: of the record.
        written: the label as it stands in the data: true or false, a number, or a text that is not blank.
        place: where it stands, for a sentence: "labelled.jsonl, line 3".
    """

    record_id: str
    written: Any
    place: str


class Reading(NamedTuple):
    """One kind of labels: what it is called, and how a label is read as it."""

    kind: LabelKind
    name: str
    read: Callable[[Any], bool | float | str | None]


def is_blank(written: Any) -> bool:
    """Whether there is no label."""
    return written is None or (isinstance(written, str) and not written.strip())


def as_pass(written: Any) -> bool | None:
    """Pass or fail: true and false, 1 and 0, or these words and "pass" and "fail" as text; None for anything else."""
    if isinstance(written, bool):
        return written
    if isinstance(written, str):
        return _PASS_WORDS.get(written.strip().lower())
    return bool(written) if written in (0, 1) else None


def as_number(written: Any) -> float | None:
    """A finite number, also one that a text holds, as cells of a table do; None for anything else."""
    if isinstance(written, bool):
        return None
    if isinstance(written, str) and _NUMBER.fullmatch(written.strip()):
        written = float(written)
    return float(written) if isinstance(written, int | float) and math.isfinite(written) else None


def as_text(written: Any) -> str | None:
    """A text without the white space around it; None for anything else."""
    return written.strip() if isinstance(written, str) else None


def as_written(written: Any) -> str:
    """A label as a sentence shows it: text without quotes, true and false as JSON has them."""
    return written.strip() if isinstance(written, str) else json.dumps(written, ensure_ascii=False)


READINGS = (
    Reading("pass", "pass or fail", as_pass),
    Reading("number", "numbers", as_number),
    Reading("text", "texts", as_text),
)
"""In the order in which they are tried: labels that all say 0 or 1 are pass and fail, unless a scale is named."""


def kinds_of(labels: Sequence[Label]) -> tuple[LabelKind, ...]:
    """The kinds that every label can be read as, the likeliest first.

    Args:
        labels: at least one.

    Raises:
        DatasetError: there is none; the message names the first two labels that do not go together.
    """
    possible: tuple[Reading, ...] = READINGS
    first = labels[0]
    for label in labels:
        fitting = tuple(reading for reading in READINGS if reading.read(label.written) is not None)
        if not fitting:
            raise DatasetError(
                f"{label.place}: the label is {shown(label.written)}.",
                "Make it pass or fail, a number, or a text, one a record; inside of an object, name it with dots.",
            )
        left = tuple(reading for reading in possible if reading in fitting)
        if not left:
            raise DatasetError(
                f"The labels are of mixed kinds: {shown(first.written)} ({first.place}) and "
                f"{shown(label.written)} ({label.place}).",
                "Make them all pass or fail, all numbers, or all texts.",
            )
        if left != possible:
            possible, first = left, label
    return tuple(reading.kind for reading in possible)
