"""Owns which records of a results file a condition holds of, and what of them a dataset keeps.

It must not know where the dataset lies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.conditions import Condition, ConditionError

from .results import Results
from .values import objects, one_object, text

VARIABLES: Final = ("scores", "errored", "trial", "record")
"""What `--when` may name: metric → value, whether anything failed, the trial from 1 on, and the record."""
_ASKED = ("id", "input", "reference", "context", "metadata")
_ANSWERED = ("output", "trajectory", "usage", "check")
_Key = tuple[str, int]


class Promotion(NamedTuple):
    """The rows that a dataset is to get.

    Args:
        source: the run's id, or the file's name.
        rows: one a record, of the first trial that the condition holds of.
        answers: how many answers were looked at, one a record and trial.
        open: of how many of them the condition says neither yes nor no.
        reason: why, of the first of these.
    """

    source: str
    rows: list[dict[str, Any]]
    answers: int
    open: int
    reason: str


class _Judged(NamedTuple):
    """What the evaluators said of an answer."""

    scores: dict[str, Any]
    failed: list[str]


def promotion(results: Results, condition: Condition, *, includes_outputs: bool) -> Promotion:
    """Choose the records of a results file.

    Args:
        results: the file.
        condition: over `VARIABLES`.
        includes_outputs: whether rows keep what was answered, too.

    Raises:
        ConfigError: the file cannot be read or is no results file; or the condition has no answer for any of it.
    """
    judged = _judged(results)
    manifest = results.head.manifest
    source = text(manifest.get("run_id")) or results.path.name
    kept = (*_ASKED, *_ANSWERED) if includes_outputs else _ASKED
    rows: dict[str, dict[str, Any]] = {}
    answers, reasons = 0, list[str]()
    for name, record in results.entries():
        if name != "records":
            continue
        answers += 1
        record_id, trial = key = _key_of(record)
        try:
            if record_id not in rows and condition.holds(_values(record, trial, judged.get(key))):
                rows[record_id] = _row(record, kept, {"run": source, "trial": trial})
        except ConditionError as error:
            reasons.append(str(error))
    if reasons and len(reasons) == answers:
        metrics = sorted({metric for one in judged.values() for metric in one.scores})
        raise ConfigError(
            f"The condition `{condition.source}` has no answer for any record: {reasons[0]}",
            f"The metrics of {results.path} are: {', '.join(metrics) or 'none'}.",
            code="config.condition",
        )
    return Promotion(source, list(rows.values()), answers, len(reasons), reasons[0] if reasons else "")


def _judged(results: Results) -> dict[_Key, _Judged]:
    """What was said of each answer; what an evaluator says of the data as a whole is of none."""
    found: dict[_Key, _Judged] = {}
    for name, result in results.entries():
        record_id = text(result.get("record_id"))
        if name != "results" or not record_id:
            continue
        one = found.setdefault((record_id, _trial(result.get("trial"))), _Judged({}, []))
        if result.get("outcome") == "error" or result.get("score_errors"):
            one.failed.append(text(result.get("evaluator")))
        for score in objects(result.get("scores")):
            value = score.get("value", score.get("label"))
            one.scores[text(score.get("name"))] = float(score["passed"]) if "passed" in score else value
    return found


def _values(record: Mapping[str, Any], trial: int, judged: _Judged | None) -> dict[str, Any]:
    has_failed = one_object(one_object(record.get("provenance")).get("run")).get("error") is not None
    return {
        "scores": {} if judged is None else judged.scores,
        "errored": has_failed or bool(judged and judged.failed),
        "trial": trial,
        "record": record,
    }


def _row(record: Mapping[str, Any], kept: tuple[str, ...], promoted: Mapping[str, Any]) -> dict[str, Any]:
    """A record as a dataset holds it: what was asked, and where it comes from."""
    origin = {key: value for key, value in one_object(record.get("provenance")).items() if key != "run"}
    row = {key: record[key] for key in kept if key in record}
    return {**row, "provenance": {**origin, "promoted": promoted}}


def _key_of(record: Mapping[str, Any]) -> _Key:
    run = one_object(one_object(record.get("provenance")).get("run"))
    return text(record.get("id")), _trial(run.get("trial"))


def _trial(value: Any) -> int:
    return value if type(value) is int else 1
