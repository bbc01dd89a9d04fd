"""What a gate compares with: a results file read for its means, and for values by record where pairs are needed.

It must not know what a gate says of the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.summaries import Summary


class RecordValues:
    """The values of one metric by record: the mean over the trials that were scored."""

    def __init__(self) -> None:
        raise NotImplementedError

    def add(self, record_id: str, value: float) -> None:
        """Take in the value of one trial; a pass is 1.0, a failure 0.0."""
        raise NotImplementedError


class Measured(NamedTuple):
    """One side of a comparison.

    Args:
        name: how a sentence calls it: the path, or "this run".
        means: metric → what its summary says, `{n, mean, errors, skipped, kind, evaluator}`.
        slices: (key, value) → the same.
        dataset: `sha256` and `records` of the data.
        evaluators: instance → its ref with version, and its params.
        values: metric → values by record, of those metrics for which pairs are asked.
    """

    name: str
    means: Mapping[str, Mapping[str, Any]]
    slices: Mapping[tuple[str, str], Mapping[str, Mapping[str, Any]]]
    dataset: Mapping[str, Any]
    evaluators: Mapping[str, tuple[str, Mapping[str, Any]]]
    values: Mapping[str, RecordValues]


def measured(manifest: Mapping[str, Any], summaries: Sequence[Summary], values: Mapping[str, RecordValues]) -> Measured:
    """This run's own side: its manifest, as it goes into results.json, and its summaries."""
    raise NotImplementedError


def read_baseline(path: Path, name: str, paired: Collection[str]) -> Measured:
    """Read a results file.

    Args:
        path: of the file.
        name: as the gate writes it.
        paired: the metrics for which the values of records are needed.

    Raises:
        ConfigError: `config.baseline`; it is not there, or no results file.
    """
    raise NotImplementedError
