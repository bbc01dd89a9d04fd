"""Owns what is known of every row in little memory: a number an outcome and a score, however long the file is.

A row is one record in one trial. It must not know texts, nor what is good or bad.
"""

from __future__ import annotations

from array import array
from math import isnan, nan
from typing import Literal

NONE, SCORED, SKIPPED, ERROR, CANCELLED = range(5)
OUTCOMES = {"scored": SCORED, "skipped": SKIPPED, "error": ERROR, "cancelled": CANCELLED}
Kind = Literal["pass", "number", "label"]


class Rows:
    """The rows in the order in which they came, found by record and trial."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.trials = array("i")
        self._places: dict[tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def place(self, record_id: str, trial: int) -> int:
        """The row's place; a new one where it is not known yet."""
        key = (record_id, trial)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.ids)
            self.ids.append(record_id)
            self.trials.append(trial)
        return place

    def find(self, record_id: str, trial: int) -> int | None:
        """The row's place; None where it is not known."""
        return self._places.get((record_id, trial))


class Numbers:
    """A number a row; NaN where there is none."""

    def __init__(self) -> None:
        self._values = array("d")

    def __getitem__(self, row: int) -> float:
        return self._values[row] if row < len(self._values) else nan

    def __setitem__(self, row: int, value: float) -> None:
        if row == len(self._values):
            self._values.append(value)
            return
        _lengthen(self._values, row, nan)
        self._values[row] = value

    def known(self) -> list[float]:
        """Those that are numbers, in the order of the rows."""
        return [value for value in self._values if not isnan(value)]


class Column(Numbers):
    """The scores of one metric: a pass is 1, a failure 0, a label its place among the labels.

    Args:
        evaluator: that gives the metric.
        kind: of its first score.
    """

    def __init__(self, evaluator: str, kind: Kind) -> None:
        super().__init__()
        self.evaluator = evaluator
        self.kind: Kind = kind
        self.labels: dict[str, int] = {}

    def label(self, row: int) -> str | None:
        """The label of a row; None where it has none."""
        value = self[row]
        return None if isnan(value) else list(self.labels)[int(value)]


class Marks:
    """The outcome of one evaluator a row."""

    def __init__(self) -> None:
        self._values = array("b")

    def __getitem__(self, row: int) -> int:
        return self._values[row] if row < len(self._values) else NONE

    def __setitem__(self, row: int, value: int) -> None:
        if row == len(self._values):
            self._values.append(value)
            return
        _lengthen(self._values, row, NONE)
        self._values[row] = value

    def count(self, mark: int) -> int:
        """How many rows have it."""
        return self._values.count(mark)


def _lengthen(values: array[float] | array[int], row: int, empty: float) -> None:
    missing = row + 1 - len(values)
    if missing > 0:
        values.extend(array(values.typecode, [empty]) * missing)  # type: ignore[arg-type]
