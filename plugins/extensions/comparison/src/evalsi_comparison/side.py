"""Owns what is kept of one run: a state and a value for each record, trial and metric, and a mark of each input.

Of the texts nothing is kept. It must not know the other run, nor how values are compared.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal, cast

import msgspec

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.records.mapping import MISSING, reach

from .results_lines import ResultsLines

Kind = Literal["pass", "number", "label"]
Content = Any


class State(IntEnum):
    """How an item ended for an evaluator."""

    ABSENT = 0
    SCORED = 1
    SKIPPED = 2
    ERROR = 3
    CANCELLED = 4


_FIELDS = ("id", "input", "output", "reference")
STATES = {"scored": State.SCORED, "skipped": State.SKIPPED, "error": State.ERROR, "cancelled": State.CANCELLED}


class _Score(msgspec.Struct):
    name: str
    value: float | None = None
    passed: bool | None = None
    label: str | None = None


class _ScoreError(msgspec.Struct):
    name: str


class _Result(msgspec.Struct):
    record_id: str
    evaluator: str
    outcome: str
    trial: int = 1
    scores: list[_Score] = []
    score_errors: list[_ScoreError] = []


class _Run(msgspec.Struct):
    trial: int = 1


class _Provenance(msgspec.Struct):
    run: _Run | None = None


class Record(msgspec.Struct):
    """What is read of a record."""

    id: str
    input: Content = None
    output: Content = None
    reference: Content = None
    metadata: dict[str, Any] = {}
    provenance: _Provenance | None = None

    @property
    def trial(self) -> int:
        """Which of the record's trials this is, from 1."""
        return self.provenance.run.trial if self.provenance is not None and self.provenance.run is not None else 1


class Items:
    """The items of both runs: each record and trial has a place, the same in both.

    Attributes:
        records: the ids of the records by their places.
        record_of: for each item the place of its record.
        trials: for each item its trial.
    """

    def __init__(self) -> None:
        self.records: list[str] = []
        self.record_of = array("l")
        self.trials = array("H")
        self._record_places: dict[str, int] = {}
        self._places: dict[str | tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self.trials)

    def record(self, record_id: str) -> int:
        """The place of a record, a new one where it has none."""
        place = self._record_places.get(record_id)
        if place is None:
            place = self._record_places[record_id] = len(self.records)
            self.records.append(record_id)
        return place

    def place(self, record_id: str, trial: int) -> int:
        """The place of an item, a new one where it has none."""
        key = record_id if trial == 1 else (record_id, trial)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.trials)
            self.record_of.append(self.record(record_id))
            self.trials.append(trial)
        return place


class Column:
    """One metric over the items: values, numbers and verdicts alike as floats, labels as their number in `labels`."""

    def __init__(self, evaluator: str, kind: Kind) -> None:
        self.evaluator = evaluator
        self.kind = kind
        self.values = array("d")
        self.labels: dict[str, int] = {}

    def put(self, place: int, score: _Score) -> None:
        """Keep a score; a score of another kind is left out, so that its item counts as not scored."""
        value = _value(score, self)
        if value is not None:
            if place >= len(self.values):
                _grow(self.values, place, math.nan)
            self.values[place] = value

    def padded(self, count: int) -> array[float]:
        """A value for each of so many places, NaN where there is none."""
        _grow(self.values, count - 1, math.nan)
        return self.values


class Side:
    """One run, read.

    Args:
        lines: of its results file.
        items: places of items, shared with the other run.
        cluster_by: the metadata key of clusters.

    Attributes:
        head: everything but results, records and replies.
        columns: by metric, in the order of the summaries.
        whole: values of evaluators that score the data as a whole, by metric.
        inputs, references: by the record's place a mark of the input and of the reference; 0 where there is none.
        clusters: by the record's place its cluster, where one is asked for.
        seen: by the record's place 1 where the run has it.

    Raises:
        ConfigError: as `ResultsLines` raises; or an element is damaged, or a record has no cluster.
    """

    def __init__(self, lines: ResultsLines, items: Items, cluster_by: str | None = None) -> None:
        self.lines = lines
        self.head: Mapping[str, Any] = lines.head
        self.columns: dict[str, Column] = {}
        self.states: dict[str, bytearray] = {}
        self._failed: dict[str, set[int]] = {}
        self.whole: dict[str, float | str] = {}
        self.inputs = array("q")
        self.references = array("q")
        self.clusters: dict[int, str] = {}
        self.seen = bytearray()
        self._cluster_by = cluster_by
        for summary in self.summaries.values():
            self._column(summary["metric"], summary["evaluator"], summary["kind"])
        self._read_results(items)
        self._read_records(items)

    @property
    def path(self) -> Path:
        """Where it was read from."""
        return self.lines.path

    @property
    def manifest(self) -> Mapping[str, Any]:
        """What ran."""
        return cast(Mapping[str, Any], self.head["manifest"])

    @property
    def summaries(self) -> dict[str, Mapping[str, Any]]:
        """The summaries by metric."""
        return summaries_of(self.lines)

    def states_of(self, metric: str, count: int) -> bytearray:
        """How each of so many items ended for a metric: an evaluator may score an item and give no such value."""
        column = self.columns[metric]
        states = bytearray(self.states.get(column.evaluator, b"").ljust(count, bytes([State.ABSENT])))
        for place, value in enumerate(column.padded(count)):
            if value != value and states[place] == State.SCORED:  # noqa: PLR0124 (NaN, and a call costs more)
                states[place] = State.ABSENT
        for place in self._failed.get(metric, ()):
            states[place] = State.ERROR
        return states

    def records(self) -> Iterator[Record]:
        """Every record, read again; raises `ConfigError` where one is damaged."""
        decode = msgspec.json.Decoder(Record).decode
        try:
            for line in self.lines.elements("records"):
                yield decode(line)
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise self.lines.damaged("one of its records", error) from error

    def _read_results(self, items: Items) -> None:
        decode = msgspec.json.Decoder(_Result).decode
        try:
            for line in self.lines.elements("results"):
                self._take(decode(line), items)
        except (msgspec.MsgspecError, UnicodeError, OverflowError) as error:
            raise self.lines.damaged("one of its results", error) from error

    def _take(self, result: _Result, items: Items) -> None:
        if not result.record_id:
            for score in result.scores:
                self.whole[score.name] = score.label if score.label is not None else _number(score) or 0.0
            return
        place = items.place(result.record_id, result.trial)
        states = self.states.get(result.evaluator)
        if states is None:
            states = self.states[result.evaluator] = bytearray()
        if place >= len(states):
            _grow(states, place, State.ABSENT)
        states[place] = STATES.get(result.outcome, State.ERROR)
        for score in result.scores:
            self._column(score.name, result.evaluator, _kind(score)).put(place, score)
        for error in result.score_errors:
            self._failed.setdefault(error.name, set()).add(place)

    def _read_records(self, items: Items) -> None:
        encode = msgspec.json.Encoder(order="deterministic").encode
        for record in self.records():
            place = items.record(record.id)
            if place >= len(self.seen):
                _grow(self.seen, place, 0)
            self.seen[place] = 1
            for marks, content in ((self.inputs, record.input), (self.references, record.reference)):
                if place >= len(marks):
                    _grow(marks, place, 0)
                # The same text has the same mark however its JSON is written.
                marks[place] = 0 if content is None else hash(encode(content)) or 1
            if self._cluster_by is not None:
                self.clusters[place] = self._cluster(record, self._cluster_by)

    def _cluster(self, record: Record, key: str) -> str:
        path = tuple(key.split("."))
        value = reach(record.metadata, path)
        if value is MISSING:
            value = reach({name: getattr(record, name) for name in _FIELDS}, path)
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, str | int | float):
            raise ConfigError(
                f"{self.path}: record {record.id!r} has no text or number {key!r} in its metadata to cluster by.",
                "Give every record one, or cluster by another key.",
            )
        # JSON does not tell 1 from 1.0.
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    def _column(self, metric: str, evaluator: str, kind: Kind) -> Column:
        column = self.columns.get(metric)
        if column is None:
            column = self.columns[metric] = Column(evaluator, kind)
        return column


def summaries_of(lines: ResultsLines) -> dict[str, Mapping[str, Any]]:
    """The summaries of a file by metric; raises `ConfigError` where one is none."""
    needed = ("evaluator", "kind", "metric")
    summaries = lines.head["summaries"]
    if not all(isinstance(one, dict) and all(isinstance(one.get(name), str) for name in needed) for one in summaries):
        raise lines.damaged("one of its summaries", ValueError(f"it lacks one of {', '.join(needed)}"))
    return {one["metric"]: one for one in summaries}


def _kind(score: _Score) -> Kind:
    return "pass" if score.passed is not None else "number" if score.value is not None else "label"


def _value(score: _Score, column: Column) -> float | None:
    if _kind(score) != column.kind:
        return None
    if score.label is not None:
        return float(column.labels.setdefault(score.label, len(column.labels)))
    return _number(score)


def _number(score: _Score) -> float | None:
    return float(score.passed) if score.passed is not None else score.value


def _grow(cells: Any, place: int, filler: float) -> None:
    """Make room for a place."""
    cells.extend([filler] * (place + 1 - len(cells)))
