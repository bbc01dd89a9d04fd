"""Owns the first reading of a results file: every result and record folded into columns, reasons and counts.

It must not keep a text of a record, nor know what is good or bad.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .columns import ERROR, NONE, OUTCOMES, Column, Kind, Marks, Numbers, Rows
from .head import Head
from .reasons import Reasons
from .results import Results
from .values import number, objects, one_object

_USED = ("latency_ms", "cost_usd", "input_tokens", "output_tokens")
_MOST_TRIALS = 1_000_000
_ENTRY = Mapping[str, Any]


class Folded(NamedTuple):
    """What the file says of every row.

    Args:
        head: of the file.
        rows: the records, each in each trial.
        columns: the scores by metric.
        whole: metrics of the data as a whole, by name.
        marks: the outcomes by evaluator.
        refs: evaluator → its reference with its version.
        errors, skips: grouped by what they say.
        usage: what the target's answers took, by `latency_ms`, `cost_usd`, `input_tokens` and `output_tokens`.
        times_ms: evaluator → how long it took for each row, where most of its results say so.
        records: how many records the file holds, each trial counted.
        replies: how many raw replies of models.
    """

    head: Head
    rows: Rows
    columns: Mapping[str, Column]
    whole: Mapping[str, _ENTRY]
    marks: Mapping[str, Marks]
    refs: Mapping[str, str]
    errors: Reasons
    skips: Reasons
    usage: Mapping[str, Numbers]
    times_ms: Mapping[str, Numbers]
    records: int
    replies: int

    def rows_with(self, mark: int) -> int:
        """How many rows have an outcome from any evaluator."""
        return sum(any(marks[row] == mark for marks in self.marks.values()) for row in range(len(self.rows)))


def fold(results: Results) -> Folded:
    """Read the file once.

    Raises:
        ConfigError: the file cannot be read, or is no results file.
    """
    folding = _Folding()
    take = {"results": folding.result, "records": folding.record, "judge_replies": folding.reply}
    for name, entry in results.entries():
        take[name](entry)
    return folding.folded(results.head)


def trial_of(record: _ENTRY) -> int:
    """The trial that a record of the file stands for."""
    run = one_object(one_object(record.get("provenance")).get("run"))
    return whole_trial(run.get("trial"))


def whole_trial(trial: Any) -> int:
    """The number of a trial, from 1 on; 1 where none is told."""
    return trial if type(trial) is int and 0 < trial <= _MOST_TRIALS else 1


class _Folding:
    def __init__(self) -> None:
        self._rows = Rows()
        self._columns: dict[str, Column] = {}
        self._whole: dict[str, _ENTRY] = {}
        self._marks: dict[str, Marks] = {}
        self._refs: dict[str, str] = {}
        self._errors = Reasons()
        self._skips = Reasons()
        self._usage = {name: Numbers() for name in _USED}
        self._times_ms: dict[str, Numbers] = {}
        self._records = 0
        self._replies = 0

    def folded(self, head: Head) -> Folded:
        return Folded(
            head, self._rows, self._columns, self._whole, self._marks, self._refs, self._errors, self._skips,
            {name: numbers for name, numbers in self._usage.items() if numbers.known()}, self._most_known_times(),
            self._records, self._replies,
        )  # fmt: skip

    def result(self, result: _ENTRY) -> None:
        record_id = str(result.get("record_id") or "")
        evaluator = str(result.get("evaluator"))
        mark = OUTCOMES.get(str(result.get("outcome")), ERROR)
        if evaluator not in self._marks:
            self._marks[evaluator] = Marks()
            self._refs[evaluator] = str(result.get("evaluator_ref") or evaluator)
        row = -1
        if record_id:
            row = self._rows.place(record_id, whole_trial(result.get("trial")))
            self._marks[evaluator][row] = mark
            if (took_ms := number(result.get("duration_ms"))) is not None:
                self._times_ms.setdefault(evaluator, Numbers())[row] = took_ms
        if mark == OUTCOMES["scored"]:
            for score in objects(result.get("scores")):
                self._score(row, evaluator, score)
            for error in objects(result.get("score_errors")):
                self._errors.add(row, {"record_id": record_id, "evaluator": error.get("name"), "error": error})
        else:
            (self._errors if mark == ERROR else self._skips).add(row, result)

    def record(self, record: _ENTRY) -> None:
        self._records += 1
        row = self._rows.place(str(record.get("id")), trial_of(record))
        usage = record.get("usage")
        if isinstance(usage, dict):
            for name, numbers in self._usage.items():
                if (value := number(usage.get(name))) is not None:
                    numbers[row] = value

    def reply(self, reply: _ENTRY) -> None:
        self._replies += 1

    def _most_known_times(self) -> dict[str, Numbers]:
        """Without evaluators that never wait, of which a result says how long it took only where that was unusual."""
        rows = {evaluator: len(self._rows) - marks.count(NONE) for evaluator, marks in self._marks.items()}
        return {one: times for one, times in self._times_ms.items() if 2 * len(times.known()) > rows[one]}

    def _score(self, row: int, evaluator: str, score: _ENTRY) -> None:
        metric = str(score.get("name"))
        if row < 0:
            self._whole[metric] = score
            return
        kind: Kind = "number" if "value" in score else "pass" if "passed" in score else "label"
        column = self._columns.get(metric)
        if column is None:
            column = self._columns[metric] = Column(evaluator, kind)
        if kind != column.kind:
            # Two kinds under one name have no mean; the first one's stays.
            return
        if kind == "label":
            column[row] = column.labels.setdefault(str(score.get("label")), len(column.labels))
        elif (value := number(score["value"] if kind == "number" else float(score["passed"] is True))) is not None:
            column[row] = value
