"""One metric of RAGAS as a row of data: what it is called here and there, what it takes, asks and gives.

It must not know RAGAS, which it names by text.
"""

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
"""RAGAS' names of what a metric takes, and the field of a record that each is read from; with two names of our own."""

ARGUMENTS = MappingProxyType({"conversation": "user_input", "summarized": "reference_contexts"})
"""RAGAS' own names of those two, which mean another thing in most metrics."""


YES_NO = Output(kind="pass")
"""Of a metric that is 1 or 0 and no number in between."""


class Setting(NamedTuple):
    """A param of an evaluator, which is an argument of the metric's own constructor unless the row says otherwise."""

    name: str
    hint: Any
    default: Any = inspect.Parameter.empty


class Row(NamedTuple):
    """One metric.

    Args:
        name: of the evaluator.
        metric: the name of its class; with a dot before it, of `ragas.metrics`, else of `ragas.metrics.collections`.
        summary: one sentence.
        takes: what it needs, by RAGAS' names.
        may_take: what it reads where a record has it.
        asks: of the kernel.
        output: what it gives.
        settings: its params.
        fixed: further arguments of the constructor.
        way: "metric" calls `ascore` with what it takes; "sample" and "dialogue" hand an older metric a sample of one
            turn or of several; "prompt" fills the user's own prompt.
        may_be_empty: which of the lists that it takes may be empty.
        version: to be raised whenever a score may change.
        embeds_ahead: whether it asks for vectors where it cannot wait for them, so that they are fetched before.
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
        """The fields that a record must have."""
        return tuple(dict.fromkeys(NEEDS[name] for name in self.takes))

    @property
    def is_older(self) -> bool:
        """Whether the class stands in `ragas.metrics` only."""
        return self.metric.startswith(".")


def choice(name: str, *values: str, about: str) -> Setting:
    """A param that takes one of some words, by default the first."""
    return Setting(name, Annotated[Literal[values], Param(about)], values[0])


def number(
    name: str, default: float, about: str, *, minimum: float | None = None, maximum: float | None = None
) -> Setting:
    """A param that takes a number."""
    return Setting(name, Annotated[float, Param(about, minimum, maximum)], default)
