"""Whether a score can stand: one verdict, finite, of the declared name, kind and range, with only JSON beside it.

A pack is a stranger: nothing that its host loop may have checked is trusted. It must not know how scores add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple, cast

from evalsi_kernel.packs.pack_info import Kind, OutputInfo
from evalsi_kernel.records.chunks import FAILED, PASSED
from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.values import check_value

KINDS: dict[str, Kind] = {"passed": "pass", "value": "number", "label": "label"}
MAX_NAMES = 1_000
"""An evaluator that names a metric for every record would fill the memory."""

_NOTHING = type(None)
# What all records share that passed or failed and nothing more: told by identity, they need no other check.
_BARE = {id(PASSED[1]): True, id(FAILED[1]): False}
_FAULTS = (TypeError, KeyError, IndexError, AttributeError)


class BadScore(Exception):
    """A score that cannot stand, and why; `body` is the pack's own error, where it sent one."""

    def __init__(self, message: str, body: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.body = body


class Verdicts(NamedTuple):
    """One name's scores: the key that holds the verdict, and the verdicts."""

    name: str
    key: str
    values: list[Any]


class Checked(NamedTuple):
    """One record's scores: the verdicts of those that stand, and by name why others do not."""

    verdicts: list[Verdicts]
    failures: dict[str, BadScore]


class ScoreCheck:
    """Checks the scores of one evaluator.

    Args:
        outputs: what it declares; none leaves names and kinds to what comes first.
    """

    def __init__(self, outputs: Sequence[OutputInfo]) -> None:
        self._declared = {output.name: output for output in outputs}
        self._kinds: dict[str, str] = {output.name: output.kind for output in outputs}

    def columns(self, scored: list[Any]) -> list[Verdicts] | None:
        """The verdicts of records whose scores all look alike and can all stand; None when they do not or may not.

        This is the quick way, a pass over all records for each thing to check.
        """
        if id(scored[0]) in _BARE and self._fits("", "passed") and not self._is_too_many({""}):
            verdicts = [*map(_BARE.get, map(id, scored))]
            if None not in verdicts:
                self._kinds.setdefault("", "pass")
                return [Verdicts("", "passed", verdicts)]
        try:
            width = len(scored[0])
            if not width or set(map(len, scored)) != {width}:
                return None
            columns = []
            for position in range(width):
                column = self._column([scores[position] for scores in scored])
                if column is None:
                    return None
                columns.append(column)
        except _FAULTS:
            return None
        if len({column.name for column in columns}) < width or self._is_too_many(column.name for column in columns):
            return None
        for column in columns:
            self._kinds.setdefault(column.name, KINDS[column.key])
        return columns

    def record(self, payload: Any) -> Checked:
        """Check the scores of one record; one that cannot stand costs no other score of another name.

        Raises:
            BadScore: none of them can stand, or it cannot be told which metrics they are of.
        """
        if not isinstance(payload, list) or not payload:
            raise BadScore("it scored without a score")
        verdicts: list[Verdicts] = []
        failures: dict[str, BadScore] = {}
        for score in payload:
            name = self._name(score)
            try:
                verdicts.append(self._one(score, name))
            except BadScore as bad:
                failures[name] = bad
        if not verdicts:
            raise next(iter(failures.values()))
        names = {verdict.name for verdict in verdicts} | failures.keys()
        if len(names) < len(payload):
            raise BadScore("it gave two scores of one name")
        if self._is_too_many(names):
            raise BadScore(f"it gave scores of more than {MAX_NAMES:,} names")
        for verdict in verdicts:
            self._kinds.setdefault(verdict.name, KINDS[verdict.key])
        return Checked(verdicts, failures)

    def _column(self, scores: list[dict[str, Any]]) -> Verdicts | None:
        present = {key for shape in set(map(tuple, scores)) for key in shape}
        keys = present & KINDS.keys()
        names = {score.get("name") for score in scores}
        if len(keys) != 1 or len(names) != 1 or "error" in present:
            return None
        key, name = keys.pop(), names.pop() or ""
        if type(name) is not str or not self._fits(name, key):
            return None
        values = [score[key] for score in scores]
        types = set(map(type, values))
        if key == "passed":
            good = types == {bool}
        elif key == "label":
            good = types == {str}
        else:
            good = (
                types <= {float, int} and all(map(isfinite, values)) and self._in_range(name, min(values), max(values))
            )
        if not good:
            return None
        for extra in present - {"name", key}:
            if not _all_can_stand(extra, [score[extra] for score in scores if extra in score]):
                return None
        return Verdicts(name, key, values)

    def _name(self, score: Any) -> str:
        """The metric that a score is of; raises `BadScore` where it is of none that this evaluator can have."""
        if not isinstance(score, dict):
            raise BadScore(f"a score is {score!r:.80}, which is not a map")
        name = score.get("name") or ""
        if type(name) is not str:
            raise BadScore(f"the name of a score is {name!r:.80}, which is not text")
        if self._declared and name not in self._declared:
            raise self._misfit(name, "")
        return name

    def _one(self, score: dict[Any, Any], name: str) -> Verdicts:
        error = score.get("error")
        keys = [key for key in KINDS if score.get(key) is not None]
        if error is not None and not keys:
            body = WireError.from_body(error if isinstance(error, dict) else {}).to_body()
            raise BadScore(body["message"], body)
        if len(keys) != 1 or error is not None:
            raise BadScore("a score needs exactly one of value, passed and label")
        key = keys[0]
        value = score[key]
        if key == "passed" and type(value) is not bool:
            raise BadScore(f"passed is {value!r:.80}, which is not true or false")
        if key == "label" and type(value) is not str:
            raise BadScore(f"label is {value!r:.80}, which is not text")
        if key == "value" and (type(value) not in (int, float) or not isfinite(value)):
            raise BadScore(f"value is {value!r:.80}, which is not a finite number")
        if not self._fits(name, key):
            raise self._misfit(name, key)
        if key == "value" and not self._in_range(name, value, value):
            raise BadScore(f"value {value!r} is outside the declared range {_range_text(self._declared[name])}")
        for extra, part in score.items():
            if extra not in ("name", *KINDS) and not _all_can_stand(extra, [part]):
                raise BadScore(f"{extra!s:.80} is {part!r:.80}, which no score can have")
        return Verdicts(name, key, [value])

    def _fits(self, name: str, key: str) -> bool:
        kind = self._kinds.get(name)
        return kind == KINDS[key] if kind is not None else not self._declared

    def _misfit(self, name: str, key: str) -> BadScore:
        if name not in self._kinds:
            return BadScore(f"the score {name!r:.80} is not among the declared outputs")
        how = "is declared" if name in self._declared else "began"
        return BadScore(f"it returned a {KINDS[key]} where it {how} to return a {self._kinds[name]}")

    def _in_range(self, name: str, low: float, high: float) -> bool:
        output = self._declared.get(name)
        if output is None:
            return True
        return (output.minimum is None or low >= output.minimum) and (output.maximum is None or high <= output.maximum)

    def _is_too_many(self, names: Iterable[str]) -> bool:
        return len(self._kinds.keys() | names) > MAX_NAMES


def bad_score_error(ref: str, bad: BadScore | str) -> dict[str, Any]:
    """The error body for a score that cannot stand."""
    if isinstance(bad, BadScore) and bad.body is not None:
        return bad.body
    message = str(bad)
    return WireError("pack.bad_score", f"{ref}: {message}.", "Correct the evaluator, or what it declares.").to_body()


def _all_can_stand(key: str, values: list[Any]) -> bool:
    """Whether what stands beside a verdict can be kept: None, a text to explain it, a share of 1, or any JSON."""
    types = set(map(type, values)) - {_NOTHING}
    if key == "explanation":
        return types <= {str}
    if key == "confidence":
        return types <= {float, int} and all(0 <= value <= 1 for value in values if value is not None)
    try:
        check_value(cast(list[object], values))
    except LocalMisuse:
        return False
    return type(key) is str


def _range_text(output: OutputInfo) -> str:
    low = "-∞" if output.minimum is None else f"{output.minimum:g}"
    high = "∞" if output.maximum is None else f"{output.maximum:g}"
    return f"[{low}, {high}]"
