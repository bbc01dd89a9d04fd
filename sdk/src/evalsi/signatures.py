"""Read the arguments of a callable, and whether it is async, from its code object.

`inspect` does the same but takes longer to import than the whole package, so it is used only for other callables than
plain functions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Literal, NamedTuple

EMPTY = object()
"""Sentinel for a missing annotation or default."""
_OUR_MARK = {"__evalsi__"}
_HAS_VAR_POSITIONAL, _HAS_VAR_KEYWORD, _IS_COROUTINE = 0x04, 0x08, 0x80  # inspect.CO_VARARGS and so on.

ArgumentKind = Literal["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"]


class Argument(NamedTuple):
    """One argument of a callable. `annotation` and `default` are `EMPTY` if missing."""

    name: str
    kind: ArgumentKind
    annotation: Any
    default: Any


def arguments_of(target: Callable[..., Any]) -> dict[str, Argument]:
    """Return the arguments that a caller of the target may pass, by name, in order.

    Raises:
        TypeError: the target is not callable.
        ValueError: the target has no signature.
    """
    function = _plain_function(target)
    if function is None or (type(target) is MethodType and not function.__code__.co_argcount):
        return _as_inspect_says(target)
    names = list(_own_arguments(function).values())
    return {one.name: one for one in names[type(target) is MethodType :]}


def returned_by(target: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """Return a callable's return annotation, or `EMPTY`, and the globals to resolve it in.

    Wrappers give `EMPTY`, because the wrapped function's annotation need not apply to them.
    """
    while isinstance(target, partial):
        target = target.func
    function = _plain_function(target) or _plain_function(type(target).__call__)
    if function is None:
        return EMPTY, {}
    return function.__annotations__.get("return", EMPTY), function.__globals__


def is_async(target: Any) -> bool:
    """Return whether calling the target returns a coroutine."""
    function = _plain_function(target)
    if function is not None:
        return bool(function.__code__.co_flags & _IS_COROUTINE)
    from inspect import iscoroutinefunction  # Imported late: plain functions do not need it.

    return iscoroutinefunction(target) or iscoroutinefunction(type(target).__call__)


def _plain_function(target: Any) -> FunctionType | None:
    """Return the plain function of a function or method; None if attributes may change its signature."""
    function = target.__func__ if type(target) is MethodType else target
    # __wrapped__, __signature__ and the coroutine mark are all attributes.
    return function if type(function) is FunctionType and vars(function).keys() <= _OUR_MARK else None


def _own_arguments(function: FunctionType) -> dict[str, Argument]:
    code = function.__code__
    positional, named = code.co_argcount, code.co_kwonlyargcount
    names = iter(code.co_varnames)
    kinds: list[tuple[str, ArgumentKind]] = [
        (next(names), "positional_only" if place < code.co_posonlyargcount else "positional_or_keyword")
        for place in range(positional)
    ]
    keyword_only: list[tuple[str, ArgumentKind]] = [(next(names), "keyword_only") for _ in range(named)]
    if code.co_flags & _HAS_VAR_POSITIONAL:
        kinds.append((next(names), "var_positional"))
    kinds += keyword_only
    if code.co_flags & _HAS_VAR_KEYWORD:
        kinds.append((next(names), "var_keyword"))
    given = function.__defaults__ or ()
    defaults = dict(zip(code.co_varnames[positional - len(given) : positional], given, strict=True))
    defaults |= function.__kwdefaults__ or {}
    annotations = function.__annotations__
    return {name: Argument(name, kind, annotations.get(name, EMPTY), defaults.get(name, EMPTY)) for name, kind in kinds}


def _as_inspect_says(target: Callable[..., Any]) -> dict[str, Argument]:
    from inspect import Parameter, signature  # As above.

    def empty(value: Any) -> Any:
        return EMPTY if value is Parameter.empty else value

    kinds: dict[Any, ArgumentKind] = {
        Parameter.POSITIONAL_ONLY: "positional_only",
        Parameter.POSITIONAL_OR_KEYWORD: "positional_or_keyword",
        Parameter.VAR_POSITIONAL: "var_positional",
        Parameter.KEYWORD_ONLY: "keyword_only",
        Parameter.VAR_KEYWORD: "var_keyword",
    }
    return {
        name: Argument(name, kinds[one.kind], empty(one.annotation), empty(one.default))
        for name, one in signature(target).parameters.items()
    }
