"""Create a RAGAS metric from its row and score records with it.

Imports RAGAS, so load it only when an evaluator is opened. Failures that RAGAS swallows are raised here, and results
without a number become errors or skips.
"""

from __future__ import annotations

import copy
import string
from collections.abc import Callable, Mapping
from math import inf, isfinite, isnan
from typing import Any, NamedTuple

from evalsi_ragas.stand_ins import put_in_place, switch_off

put_in_place()

import ragas._analytics  # noqa: E402 -- the stand-ins come first.
import ragas.metrics  # noqa: E402
import ragas.metrics.collections  # noqa: E402
from ragas import MultiTurnSample, SingleTurnSample  # noqa: E402
from ragas.messages import AIMessage, HumanMessage, ToolCall, ToolMessage  # noqa: E402
from ragas.metrics._aspect_critic import SUPPORTED_ASPECTS  # noqa: E402

from evalsi import Context, ParamError, Record, Score, Skip  # noqa: E402
from evalsi_ragas.conversations import Call, Turn, calls_of, conversation  # noqa: E402
from evalsi_ragas.fields import references, taken  # noqa: E402
from evalsi_ragas.hooks import Embedder, Judge  # noqa: E402
from evalsi_ragas.row import ARGUMENTS, Row  # noqa: E402

switch_off(ragas._analytics)

# Cosines and BLEU can exceed their range by a rounding error (1.0000000000000004), which the kernel would reject.
_ROUNDING = 1e-6
_NO_QUOTATIONS = "No quoted spans found in response"


class Verdict(NamedTuple):
    """The result of RAGAS for one reference, and the ids of the judge replies behind it."""

    value: float | str
    reason: str
    refs: list[str]


class Scorer:
    """A metric with its params.

    Args:
        row: row of the metric.
        settings: all params by name.

    Raises:
        evalsi.ParamError: RAGAS rejects a value.
    """

    def __init__(self, row: Row, settings: Mapping[str, Any]) -> None:
        self._row = row
        self._template = _made(row, settings)
        self._places = _places(settings["prompt"], row) if row.way == "prompt" else frozenset()

    async def score(self, record: Record, ctx: Context) -> Score:
        """Return the score of a record; with several references, the best one.

        Raises:
            evalsi.Skip: the record lacks a field, or there is nothing to judge.
            evalsi.AskError: a model gave no answer.
            ValueError: a field or an answer is not what RAGAS reads.
        """
        given = self._given(record)
        verdicts: list[Verdict] = []
        reason = ""
        for reference in references(self._row, record):
            try:
                verdicts.append(
                    await self._verdict(given | ({} if reference is None else {"reference": reference}), ctx)
                )
            except Skip as skip:
                reason = str(skip)
        if not verdicts:
            raise Skip(reason)
        return self._score(verdicts)

    def _given(self, record: Record) -> dict[str, Any]:
        row = self._row
        given = taken(row, record)
        if "reference_tool_calls" in given:
            given["reference_tool_calls"] = [_tool_call(call) for call in calls_of(given["reference_tool_calls"])]
        if "conversation" in row.takes:
            turns = conversation(record)
            # RAGAS gives 0 here, while its other tool metric gives 1.
            if row.metric == "ToolCallF1" and not given["reference_tool_calls"] and not any(one.calls for one in turns):
                raise Skip("no tool calls: none is expected and none was made")
            given["conversation"] = [_message(turn) for turn in turns]
        if row.way == "prompt":
            for name in self._places - {"reference"}:
                if name not in given:
                    raise Skip(f"record has no {name}, for which the prompt has a place")
        return {ARGUMENTS.get(name, name): value for name, value in given.items()}

    async def _verdict(self, given: dict[str, Any], ctx: Context) -> Verdict:
        judge, embedder = Judge(ctx), Embedder(ctx)
        metric = copy.copy(self._template)
        if hasattr(metric, "llm"):
            metric.llm = judge
        if getattr(metric, "embeddings", None) is not None:
            metric.embeddings = embedder
        if self._row.embeds_ahead:
            await embedder.know([given["reference"] or " ", given["response"] or " "])
        try:
            value, reason = await self._asked(metric, given, judge)
        except Exception:
            _raise_first(judge, embedder)
            raise
        _raise_first(judge, embedder)
        return Verdict(self._checked(value, reason), reason, judge.refs)

    async def _asked(self, metric: Any, given: dict[str, Any], judge: Judge) -> tuple[Any, str]:
        way = self._row.way
        # Call private methods: the public ones of older metrics log each score to a telemetry file of the user.
        if way == "sample":
            return await metric._single_turn_ascore(SingleTurnSample(**given), []), ""
        if way == "dialogue":
            return await metric._multi_turn_ascore(MultiTurnSample(**given), []), ""
        if way == "prompt":
            missing = self._places - given.keys()
            if missing:
                raise Skip(f"record has no {', '.join(sorted(missing))}, for which the prompt has a place")
            given = {name: given[name] for name in self._places} | {"llm": judge}
        result = await metric.ascore(**given)
        if way == "prompt" and (wrong := metric.validate_result_value(result.value)):
            raise ValueError(f"the judge answered off the scale: {wrong}")
        return result.value, result.reason or ""

    def _checked(self, value: Any, reason: str) -> float | str:
        """Validate the result of a metric and clamp rounding errors to its range.

        Raises:
            evalsi.Skip: a metric without a judge had nothing to count.
            ValueError: the result is not a number or is out of range.
        """
        output = self._row.output
        if output.kind == "label":
            return str(value)
        if reason == _NO_QUOTATIONS:
            raise Skip("no quotations: the output has none that is long enough")
        number = float(value)
        if isnan(number) and not self._row.asks:
            raise Skip(f"RAGAS has no number for it{': ' + reason if reason else ''}")
        low = -inf if output.minimum is None else output.minimum
        high = inf if output.maximum is None else output.maximum
        if not isfinite(number) or not low - _ROUNDING <= number <= high + _ROUNDING:
            raise ValueError(f"RAGAS gave {number!r}, which is no score of {self._row.name}")
        if output.kind == "pass" and number not in (0.0, 1.0):
            raise ValueError(f"RAGAS gave {number!r}, which is neither 0 nor 1")
        return min(max(number, low), high)

    def _score(self, verdicts: list[Verdict]) -> Score:
        """Return the best verdict as a score; for labels, which have no order, the first."""
        best = verdicts[0]
        for verdict in verdicts[1:]:
            if isinstance(verdict.value, float) and isinstance(best.value, float):
                is_better = verdict.value > best.value
                if self._row.output.higher_is_better is False:
                    is_better = verdict.value < best.value
                best = verdict if is_better else best
        refs = [ref for verdict in verdicts for ref in verdict.refs]
        metadata = {"replies": refs} if refs else None
        if isinstance(best.value, str):
            return Score(label=best.value, explanation=best.reason or None, metadata=metadata)
        if self._row.output.kind == "pass":
            return Score(passed=best.value == 1.0, explanation=best.reason or None, metadata=metadata)
        return Score(value=best.value, explanation=best.reason or None, metadata=metadata)


def metric_class(row: Row) -> Any:
    """Return the RAGAS class of a row's metric."""
    if row.is_older:
        name = row.metric.removeprefix(".")
        # Importing an older class from the module gives a deprecation warning; this dict holds the same classes.
        older = ragas.metrics._DEPRECATED_METRICS
        return older[name] if name in older else getattr(ragas.metrics, name)
    return getattr(ragas.metrics.collections, row.metric)


def _made(row: Row, settings: Mapping[str, Any]) -> Any:
    make = metric_class(row)
    arguments = {**row.fixed, **_ADAPTED.get(row.name, dict)(settings)}
    nobody = Context(_Nobody())
    if "judge" in row.asks and not row.is_older:
        arguments["llm"] = Judge(nobody)
    if "embed" in row.asks:
        arguments["embeddings"] = Embedder(nobody)
    try:
        return make(**arguments)
    except (TypeError, ValueError) as error:
        raise ParamError(next(iter(settings), row.name), f"RAGAS does not take it: {error}") from error


class _Nobody:
    """Channel of the template metric, which is only copied and must never ask a model."""

    def ask(self, method: str, body: dict[str, Any]) -> Any:
        raise AssertionError(f"{method} was asked for no record.")


def _places(prompt: str, row: Row) -> frozenset[str]:
    """Return the names of the placeholders in a prompt.

    Raises:
        evalsi.ParamError: the prompt is not a valid template or has an unknown placeholder.
    """
    known = (*row.takes, *row.may_take)
    try:
        named = {name for _, name, _, _ in string.Formatter().parse(prompt) if name is not None}
    except ValueError as error:
        raise ParamError("prompt", f"{error}; write {{{{ and }}}} for braces that are meant as such") from error
    strange = sorted(named - set(known))
    if strange:
        raise ParamError("prompt", f"it has a place for {strange[0]!r}; there are {', '.join(known)}")
    return frozenset(named)


def _message(turn: Turn) -> Any:
    if turn.speaker == "human":
        return HumanMessage(content=turn.text)
    if turn.speaker == "tool":
        return ToolMessage(content=turn.text)
    return AIMessage(content=turn.text, tool_calls=[_tool_call(call) for call in turn.calls] or None)


def _tool_call(call: Call) -> Any:
    return ToolCall(name=call.name, args=call.args)


def _raise_first(judge: Judge, embedder: Embedder) -> None:
    """Raise the first failure of a model, if any."""
    for failure in (judge.failure, embedder.failure):
        if failure is not None:
            raise failure


# -- params that differ from the constructor's arguments ---------------------------------------------------------------


def _correctness(settings: Mapping[str, Any]) -> dict[str, Any]:
    weight = float(settings["factuality_weight"])
    return {"weights": [weight, 1.0 - weight], "beta": float(settings["beta"])}


def _similarity(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"distance_measure": ragas.metrics.collections.DistanceMeasure(settings["distance"])}


def _criterion(settings: Mapping[str, Any]) -> dict[str, Any]:
    ready = {aspect.name: aspect.definition for aspect in SUPPORTED_ASPECTS}
    definition = settings["definition"]
    return {"definition": ready.get(definition, definition)}


def _discrete(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {"prompt": settings["prompt"], "allowed_values": list(settings["allowed_values"])}


def _numeric(settings: Mapping[str, Any]) -> dict[str, Any]:
    least, most = float(settings["minimum"]), float(settings["maximum"])
    if least >= most:
        raise ParamError("minimum", f"{least:g} is not less than the maximum, {most:g}")
    return {"prompt": settings["prompt"], "allowed_values": (least, most)}


_ADAPTED: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "answer-correctness": _correctness,
    "string-similarity": _similarity,
    "aspect-critic": _criterion,
    "aspect-critic-of-conversation": _criterion,
    "discrete-metric": _discrete,
    "numeric-metric": _numeric,
}
