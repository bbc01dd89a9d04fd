"""An evaluator opened with params: one callable that takes a record, ready for the hot loop.

It must not know the wire; the host loop does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from evalsi.definition import Definition
from evalsi.record import Record
from evalsi.score import MissingField

if TYPE_CHECKING:
    from evalsi.context import Context


@dataclass(frozen=True, slots=True)
class Opened:
    """One session: `score` gives a record's result (or its state, at dataset scope); `instance` holds the params."""

    definition: Definition
    score: Callable[[Record], Any]
    is_async: bool
    instance: Any

    def check_needs(self, record: Record) -> None:
        """Skip a record that lacks a declared field; raises `MissingField`."""
        for need in self.definition.needs:
            if not record.has(need):
                raise MissingField(need)


def open_evaluator(definition: Definition, params: dict[str, Any], context: Context | None = None) -> Opened:
    """Bind the params.

    Raises:
        evalsi.ParamError: a class's constructor refused a value.
        TypeError: a param is missing or unknown.
    """
    target = definition.target
    if inspect.isclass(target):
        instance: Any = target(**params)
        method = instance.observe if definition.scope == "dataset" else instance.score
        bound = partial(method, ctx=context) if _takes_context(method) else method
        return Opened(definition, bound, inspect.iscoroutinefunction(method), instance)
    keywords = dict(params)
    if _takes_context(target):
        keywords["ctx"] = context
    bound = partial(target, **keywords) if keywords else target
    return Opened(definition, bound, _is_async(target), None)


def aggregate(opened: Opened, states: Sequence[Any]) -> Any:
    """The score of the whole from the states of its records."""
    instance = opened.instance
    if hasattr(instance, "combine"):
        return instance.combine(total(states))
    return instance.aggregate(states)


def total(states: Sequence[Sequence[float]]) -> list[float]:
    """The element-wise sum of additive states."""
    return [sum(column) for column in zip(*states, strict=True)]


def _takes_context(function: Callable[..., Any]) -> bool:
    return "ctx" in inspect.signature(function).parameters


def _is_async(target: Any) -> bool:
    call = getattr(type(target), "__call__", None)
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(call)
