"""What a gate compares with: a results file read for its means, and for values by record where pairs are needed.

It must not know what a gate says of the difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.results_members import members
from evalsi_kernel.summaries import Summary

_CODE = "config.baseline"
_MEND = "Name a file that `evalsi run --output` or `evalsi eval --output` wrote."
_SCHEMA_VERSION = 1
_LONG = ("results", "records", "judge_replies")
_HEADS = {"schema_version", "manifest", "summaries"}


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


def measured(manifest: Mapping[str, Any], summaries: Sequence[Summary], values: Mapping[str, RecordValues]) -> Measured:
    """This run's own side.

    Args:
        manifest: as it goes into results.json.
        summaries: of the whole run.
        values: of each metric of `GatePlan.paired_metrics`.
    """
    return _side("this run", manifest, [one.to_dict() for one in summaries], [], values)


def read_baseline(path: Path, name: str, paired: Collection[str] = ()) -> Measured:
    """Read a results file.

    Args:
        path: of the file.
        name: as the gate writes it.
        paired: the metrics for which the values of records are needed; without any, results and records are not kept.

    Raises:
        ConfigError: `config.baseline`; it is not there, or no results file of a form that is known.
    """
    head: dict[str, Any] = {}
    values = {metric: RecordValues() for metric in paired}
    try:
        for member, value in members(path, _LONG):
            if member not in _LONG:
                head[member] = value
            elif member == "results" and values:
                _take(value, values)
            elif head.keys() >= _HEADS and (not values or any(map(len, values.values()))):
                break  # the rest of the file, which may be long, holds nothing that is needed
        if head["schema_version"] != _SCHEMA_VERSION:
            raise ValueError(f"its form is {head['schema_version']!r}, and {_SCHEMA_VERSION} is known here")
        return _side(name, head["manifest"], head["summaries"], head.get("slices") or [], values)
    except OSError as error:
        raise ConfigError(
            f"The baseline {name} cannot be read: {error.strerror or error}.", "Check the path.", code=_CODE
        ) from error
    except KeyError as error:
        raise ConfigError(f"The baseline {name} is no results file: it has no {error}.", _MEND, code=_CODE) from error
    except ValueError as error:
        raise ConfigError(f"The baseline {name} is no results file: {error}.", _MEND, code=_CODE) from error
    except (TypeError, AttributeError) as error:
        what = "a part of it is not of the form of one"
        raise ConfigError(f"The baseline {name} is no results file: {what}.", _MEND, code=_CODE) from error


def _take(result: Mapping[str, Any], values: Mapping[str, RecordValues]) -> None:
    for score in result.get("scores", ()):
        wanted = values.get(score["name"])
        value = score.get("passed", score.get("value"))
        if wanted is not None and value is not None:
            wanted.add(result["record_id"], float(value))


def _side(
    name: str,
    manifest: Mapping[str, Any],
    summaries: Iterable[Mapping[str, Any]],
    slices: Iterable[Mapping[str, Any]],
    values: Mapping[str, RecordValues],
) -> Measured:
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
    return {
        one["metric"]: Mean(one["mean"], one["n"], one["errors"], one["skipped"], one["evaluator"]) for one in summaries
    }
