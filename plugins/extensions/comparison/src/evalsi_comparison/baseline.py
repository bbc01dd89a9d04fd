"""Owns reading a results file for a gate that compares with it: means, and values by record where pairs are needed.

It must not know what a gate says of the difference.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.baseline import Baseline, RecordValues, mark_of, side

from .results_lines import ResultsLines
from .significance import paired_difference

_CODE = "config.baseline"
_HINT = "Name a file that `evalsi run --output` or `evalsi eval --output` wrote."


class _Score(msgspec.Struct):
    name: str
    value: float | None = None
    passed: bool | None = None


class _Result(msgspec.Struct):
    record_id: str
    scores: list[_Score] = []


class _Record(msgspec.Struct):
    id: str
    input: Any = None
    reference: Any = None


def read_baseline(path: Path, name: str, paired: Collection[str] = ()) -> Baseline:
    """Read a results file.

    Args:
        path: of the file.
        name: as the gate writes it.
        paired: the metrics for which the values of records are needed.

    Raises:
        ConfigError: `config.baseline`; it is not there, is cut off or damaged, or is no results file of a form that is
            known.
    """
    called = f"The baseline {name}"
    lines = ResultsLines(path, called, _CODE)
    head, values = lines.head, dict[str, RecordValues]((metric, {}) for metric in paired)
    try:
        found = side(name, head["manifest"], head["summaries"], head.get("slices") or [], values, asked=_asked(lines))
    except KeyError as error:
        raise ConfigError(f"{called} is no results file: it has no {error}.", _HINT, code=_CODE) from error
    except (TypeError, AttributeError) as error:
        what = "a part of it is not of the form of one"
        raise ConfigError(f"{called} is no results file: {what}.", _HINT, code=_CODE) from error
    if values:
        _read_values(lines, values)
    return Baseline(found, paired_difference)


def _asked(lines: ResultsLines) -> int:
    """The sum of the marks of all records, each in each of its trials."""
    decode = msgspec.json.Decoder(_Record).decode
    try:
        records = map(decode, lines.elements("records"))
        return sum(mark_of(one.id, one.input, one.reference) for one in records)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise lines.damaged("one of its records", error) from error


def _read_values(lines: ResultsLines, values: dict[str, RecordValues]) -> None:
    decode = msgspec.json.Decoder(_Result).decode
    try:
        for line in lines.elements("results"):
            result = decode(line)
            for score in result.scores:
                value = score.value if score.passed is None else float(score.passed)
                of_metric = values.get(score.name)
                if value is not None and of_metric is not None:
                    of_metric[result.record_id] = (*of_metric.get(result.record_id, ()), value)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise lines.damaged("one of its results", error) from error
