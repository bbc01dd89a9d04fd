"""The sides of a comparison with a baseline: means, values by record where pairs are needed, and how they were made.

It must not know what a gate says of the difference, nor how a results file is read or pairs are tested: an extension
does (`evalsi-comparison`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

_encode = json.JSONEncoder(sort_keys=True).encode

RecordValues = dict[str, tuple[float, ...]]
"""The values of one metric: record → one for each of its trials that was scored; a pass is 1.0, a failure 0.0."""


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
        asked: the sum of `mark_of` all records: what was asked, whatever was answered; None where nobody looked.
        evaluators: instance → its entry in the manifest.
        judge: the models by their roles, None where there were none.
        level: confidence level of the run's intervals.
        clusters: record → its cluster, where the run's records come in clusters.
    """

    name: str
    means: Mapping[str, Mean]
    slices: Mapping[tuple[str, str], Mapping[str, Mean]]
    values: Mapping[str, RecordValues]
    dataset: tuple[Any, Any]
    asked: int | None
    evaluators: Mapping[str, Mapping[str, Any]]
    judge: Any
    level: float
    clusters: Mapping[str, str] = {}


class PairedDifference(NamedTuple):
    """The test of candidate minus baseline over the records that both scored.

    Args:
        low, high: ends of the interval of the mean difference; None where it is undefined.
        p: two-sided p-value of this test alone; None where a single pair tells nothing.
        test: name of the test, as a sentence writes it.
        mean: the mean difference.
        pairs: number of records that both runs scored.
        clusters: number of clusters they are in; None where records count one by one.
        unpaired: number of records that only one run scored.
        is_same: whether no record differs.
    """

    low: float | None
    high: float | None
    p: float | None
    test: str
    mean: float
    pairs: int
    clusters: int | None
    unpaired: int
    is_same: bool


class PairedTest(Protocol):
    """Compares baseline and candidate record by record."""

    def __call__(
        self,
        base: RecordValues,
        cand: RecordValues,
        level: float,
        clusters: Mapping[str, str] | None = None,
        *,
        of_verdicts: bool,
    ) -> PairedDifference | None:
        """Test the mean difference.

        Args:
            base, cand: values of the two runs.
            level: confidence level of the interval.
            clusters: record → its cluster; None or empty where records count one by one.
            of_verdicts: whether the metric is pass/fail.

        Returns:
            The test, or None where no record was scored by both, or a value is too large.
        """


class Baseline(NamedTuple):
    """A results file that gates compare with, and the test for its pairs with this run."""

    side: Measured
    test: PairedTest


BaselineReader = Callable[[Path, str, Collection[str]], Baseline]
"""Reads a results file: its path, as the gate writes it, and the metrics for which the values of records are needed."""


def side(
    name: str,
    manifest: Mapping[str, Any],
    summaries: Iterable[Mapping[str, Any]],
    slices: Iterable[Mapping[str, Any]],
    values: Mapping[str, RecordValues],
    *,
    asked: int | None = None,
    clusters: Mapping[str, str] | None = None,
) -> Measured:
    """One side, from what a results file says or will say.

    Args:
        name: how a sentence calls it: the path as the gate writes it, or "this run".
        manifest: of the run, as JSON.
        summaries: of the whole run, as JSON.
        slices: of its parts, as JSON.
        values: metric → values by record, of those metrics for which pairs are needed.
        asked: the sum of `mark_of` each record in each of its trials; None where nobody looked.
        clusters: record → its cluster; None where records do not come in clusters.

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
        asked and asked // manifest.get("trials", 1),
        {one["name"]: one for one in manifest["evaluators"]},
        judge and judge["roles"],
        manifest["summary"]["confidence_level"],
        clusters or {},
    )


def mark_of(record_id: str, asked: Any, reference: Any) -> int:
    """What tells the id, input and reference of a record from others; the marks of all records add up to the data's.

    Answers that were recorded are a part of the data too, and differ between two runs that ask the same.
    """
    return int.from_bytes(hashlib.sha256(_encode([record_id, asked, reference]).encode()).digest(), "big")


def _means(summaries: Iterable[Mapping[str, Any]]) -> dict[str, Mean]:
    return {one["metric"]: Mean(*(one[field] for field in Mean._fields)) for one in summaries}
