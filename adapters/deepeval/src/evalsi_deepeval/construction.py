"""Our params as what DeepEval's classes take: enums, rubrics, tools, graphs and pydantic classes.

What does not depend on a record is made once, when a session is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import deepeval.metrics
from deepeval.metrics.g_eval import Rubric
from deepeval.test_case import MultiTurnParams, SingleTurnParams, ToolCall, ToolCallParams

from evalsi_deepeval.json_models import json_model
from evalsi_deepeval.judge_model import JudgeModel
from evalsi_deepeval.metrics import Metric
from evalsi_deepeval.tool_calls import Call, named_calls

_NOT_DEEPEVALS = ("chatbot_role", "other")


def framework_class(metric: Metric) -> Any:
    """The metric's class in DeepEval."""
    return getattr(deepeval.metrics, metric.framework_class)


def made_settings(metric: Metric, params: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments of the metric's class, but for the model.

    Raises:
        ValueError, TypeError, KeyError: a value that DeepEval refuses.
    """
    made = {name: _made(metric, name, value) for name, value in params.items() if name not in _NOT_DEEPEVALS}
    return {**made, "name": metric.name} if "name" in metric.fixed else made


def framework_metric(metric: Metric, settings: Mapping[str, Any], model: JudgeModel) -> Any:
    """A metric object for one record; DeepEval writes into it, and into lists that it is given."""
    own = {name: list(value) if isinstance(value, list) else value for name, value in settings.items()}
    if "model" in metric.fixed:
        own["model"] = model
    if "lenient" in metric.fixed:
        own["strict_mode"] = False
    return framework_class(metric)(**own)


def tool_call(call: Call) -> ToolCall:
    """A call, or a tool that there was, as DeepEval has it."""
    return ToolCall(name=call.name, description=call.description, input_parameters=call.arguments, output=call.output)


def shown_fields(metric: Metric, params: Mapping[str, Any]) -> set[str]:
    """The parts of the test case that the params name for the judge to see."""
    if "dag" in params:
        return set(_named_in(params["dag"]))
    return set(params.get("evaluation_params", ())) if metric.name != "tool-correctness" else set()


def _made(metric: Metric, name: str, value: Any) -> Any:
    if value is None:
        return None
    if name == "evaluation_params":
        return [_enum(metric)(one) for one in value]
    make = _MAKERS.get(name)
    return value if make is None else make(metric, value)


def _enum(metric: Metric) -> Any:
    if metric.name == "tool-correctness":
        return ToolCallParams
    return MultiTurnParams if metric.shape == "conversation" else SingleTurnParams


def _rubric(_: Metric, tables: list[dict[str, Any]]) -> list[Rubric]:
    return [Rubric(**table) for table in tables]


def _tools(_: Metric, listed: list[Any]) -> list[ToolCall]:
    return [tool_call(tool) for tool in named_calls(listed, "available_tools")]


def _dag(metric: Metric, document: dict[str, Any]) -> Any:
    """The graph. To a geval in it DeepEval gives the model of the record's metric, to no metric of another class."""
    nodes = {name: _with_model(node, name) for name, node in dict(document.get("nodes") or {}).items()}
    graph = deepeval.metrics.DeepAcyclicGraph
    return graph.from_dict({**document, "nodes": nodes}, multiturn=metric.shape == "conversation")


def _with_model(node: Any, name: str) -> Any:
    child = node.get("child") if isinstance(node, dict) else None
    if not isinstance(child, dict) or child.get("type") not in ("metric", "geval"):
        return node
    if child["type"] == "metric":
        raise ValueError(f"the node {name!r} ends in another metric. End it in a score, a node or a geval.")
    return {**node, "child": {**child, "model": JudgeModel()}}


def _named_in(part: Any) -> Iterator[str]:
    """The parts of the test case that a graph's nodes name."""
    if isinstance(part, dict):
        named = part.get("evaluation_params")
        yield from named if isinstance(named, list) else ()
        for inner in part.values():
            yield from _named_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _named_in(inner)


_MAKERS: dict[str, Callable[[Metric, Any], Any]] = {
    "rubric": _rubric,
    "available_tools": _tools,
    "dag": _dag,
    "expected_schema": lambda _, schema: json_model(schema),
}
