"""Describe a RAGAS metric as a row of data: names, inputs, params and output."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from evalsi import Output, Param

Way = Literal["metric", "sample", "dialogue", "prompt"]

NEEDS = MappingProxyType(
    {
        "user_input": "input",
        "response": "output",
        "retrieved_contexts": "context",
        "reference": "reference",
        "conversation": "output",
        "summarized": "context",
        "reference_contexts": "metadata.reference_contexts",
        "reference_tool_calls": "metadata.reference_tool_calls",
        "reference_topics": "metadata.reference_topics",
        "retrieved_context_ids": "metadata.retrieved_context_ids",
        "reference_context_ids": "metadata.reference_context_ids",
        "rubrics": "metadata.rubrics",
    }
)
"""The record field for each input of a metric. Inputs have RAGAS' names, except `conversation` and `summarized`."""

ARGUMENTS = MappingProxyType({"conversation": "user_input", "summarized": "reference_contexts"})
"""RAGAS' names of these two inputs, which have another meaning in most metrics."""


YES_NO = Output(kind="pass")
"""Output of a metric that is either 0 or 1."""


class Setting(NamedTuple):
    """A param of an evaluator: an argument of the metric's constructor, unless it is adapted in `scoring`."""

    name: str
    hint: Any
    default: Any = inspect.Parameter.empty


class Row(NamedTuple):
    """A metric of RAGAS.

    Args:
        name: name of the evaluator.
        metric: class name, in `ragas.metrics` if it starts with a dot, else in `ragas.metrics.collections`.
        summary: one sentence.
        takes: required inputs, by RAGAS' names.
        may_take: optional inputs.
        asks: kinds of models that the metric asks through the kernel.
        output: output of the evaluator.
        settings: its params.
        fixed: further arguments of the constructor.
        way: "metric" calls `ascore` with the inputs; "sample" and "dialogue" give an older metric a sample of one
            turn or of several; "prompt" fills the user's own prompt.
        may_be_empty: required lists that may be empty.
        embeds_ahead: whether the metric asks for vectors synchronously, so that they are fetched in advance.
        version: increased whenever a score may change.
    """

    name: str
    metric: str
    summary: str
    takes: tuple[str, ...]
    may_take: tuple[str, ...] = ()
    asks: tuple[str, ...] = ("judge",)
    output: Output = Output(minimum=0.0, maximum=1.0)
    settings: tuple[Setting, ...] = ()
    fixed: Mapping[str, Any] = MappingProxyType({})
    way: Way = "metric"
    may_be_empty: tuple[str, ...] = ()
    embeds_ahead: bool = False
    version: int = 1

    @property
    def needs(self) -> tuple[str, ...]:
        """Return the fields that a record must have."""
        return tuple(dict.fromkeys(NEEDS[name] for name in self.takes))

    @property
    def is_older(self) -> bool:
        """Return whether the class exists only in `ragas.metrics`."""
        return self.metric.startswith(".")


def choice(name: str, *values: str, about: str) -> Setting:
    """Return a param that takes one of the given words; the first is the default."""
    return Setting(name, Annotated[Literal[values], Param(about)], values[0])


def number(
    name: str, default: float, about: str, *, minimum: float | None = None, maximum: float | None = None
) -> Setting:
    """Return a param that takes a number."""
    return Setting(name, Annotated[float, Param(about, minimum, maximum)], default)
