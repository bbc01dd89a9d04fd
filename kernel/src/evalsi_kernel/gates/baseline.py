"""The sides of a comparison with a baseline: means, values by record where pairs are needed, and how they were made.

It must not know what a gate says of the difference, nor how a results file is read: an extension does
(`evalsi-comparison`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple


class RecordValues:
    """The values of one metric by record: the mean over the trials that were scored.

    Attributes:
        is_binary: whether every value so far was a whole pass or failure of the only trial of its record.
    """

    __slots__ = ("_sums", "is_binary")

    def __init__(self) -> None:
        self._sums: dict[str, float | list[float]] = {}
        self.is_binary = True

    def __len__(self) -> int:
        return len(self._sums)

    def add(self, record_id: str, value: float) -> None:
        """Take in the value of one trial; a pass is 1.0, a failure 0.0."""
        before = self._sums.get(record_id)
        if before is None:
            self._sums[record_id] = value
            self.is_binary = self.is_binary and value in (0.0, 1.0)
            return
        self.is_binary = False
        total, count = before if isinstance(before, list) else (before, 1.0)
        self._sums[record_id] = [total + value, count + 1.0]

    def means(self) -> dict[str, float]:
        """The mean of each record."""
        return {
            record_id: one[0] / one[1] if isinstance(one, list) else float(one) for record_id, one in self._sums.items()
        }


class Mean(NamedTuple):
    """What a summary says of a metric's mean; None where nothing was scored, and for labels."""

    mean: float | None
    n: int
    errors: int
    skipped: int
    evaluator: str


class Measured(NamedTuple):
    """One side of a comparison.

    Args:
        name: how a sentence calls it: the path as the gate writes it, or "this run".
        means: of each metric.
        slices: (metadata key, value) → the same, of those records.
        values: metric → values by record, of those metrics for which pairs are needed.
        dataset: hash and number of the records, as (sha256, records).
        evaluators: instance → what scored: its ref with the version, and its params.
        judge: the models by their roles, None where there were none.
        level: confidence level of the run's intervals.
    """

    name: str
    means: Mapping[str, Mean]
    slices: Mapping[tuple[str, str], Mapping[str, Mean]]
    values: Mapping[str, RecordValues]
    dataset: tuple[Any, Any]
    evaluators: Mapping[str, tuple[Any, Any]]
    judge: Any
    level: float


BaselineReader = Callable[[Path, str, Collection[str]], Measured]
"""Reads a results file: its path, as the gate writes it, and the metrics for which the values of records are needed."""


def side(
    name: str,
    manifest: Mapping[str, Any],
    summaries: Iterable[Mapping[str, Any]],
    slices: Iterable[Mapping[str, Any]],
    values: Mapping[str, RecordValues],
) -> Measured:
    """One side, from what a results file says or will say.

    Args:
        name: how a sentence calls it: the path as the gate writes it, or "this run".
        manifest: of the run, as JSON.
        summaries: of the whole run, as JSON.
        slices: of its parts, as JSON.
        values: metric → values by record, of those metrics for which pairs are needed.

    Raises:
        KeyError: something is missing; also TypeError or AttributeError where it is not of the form of a results file.
    """
    dataset = manifest["dataset"]
    judge = manifest.get("judge")
    return Measured(
        name,
        _means(summaries),
        {(one["by"], one["value"]): _means(one["summaries"]) for one in slices},
        values,
        (dataset["sha256"], dataset["records"]),
        {one["name"]: (one["ref"], one["params"]) for one in manifest["evaluators"]},
        judge and judge["roles"],
        manifest["summary"]["confidence_level"],
    )


def _means(summaries: Iterable[Mapping[str, Any]]) -> dict[str, Mean]:
    return {one["metric"]: Mean(*(one[field] for field in Mean._fields)) for one in summaries}
