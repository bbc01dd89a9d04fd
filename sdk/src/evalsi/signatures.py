"""What a callable takes and whether it is async, read from its code.

`inspect` tells the same and takes longer to load than all of this package; it is asked only about what is no plain
function. It must not know what an argument means.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import FunctionType, MethodType
from typing import Any, Literal, NamedTuple

EMPTY = object()
"""Stands for an annotation or a default that is not there."""
_OUR_MARK = {"__evalsi__"}
_HAS_VAR_POSITIONAL, _HAS_VAR_KEYWORD, _IS_COROUTINE = 0x04, 0x08, 0x80  # As `inspect` documents them.

ArgumentKind = Literal["positional_only", "positional_or_keyword", "var_positional", "keyword_only", "var_keyword"]


class Argument(NamedTuple):
    """One argument of a callable; `annotation` and `default` are `EMPTY` where there is none."""

    name: str
    kind: ArgumentKind
    annotation: Any
    default: Any


def arguments_of(target: Callable[..., Any]) -> dict[str, Argument]:
    """The arguments that whoever calls the target may give, by their names, in their order.

    Raises:
        TypeError, ValueError: it has no signature that Python could read.
    """
    function = _plain_function(target)
    if function is None or (type(target) is MethodType and not function.__code__.co_argcount):
        return _as_inspect_says(target)
    names = list(_own_arguments(function).values())
    return {one.name: one for one in names[type(target) is MethodType :]}


def returned_by(target: Callable[..., Any]) -> tuple[Any, dict[str, Any]]:
    """What a callable's own code says that it returns, or `EMPTY`, and the names among which that is to be read.

    What is wrapped says what the function within returns, which need not be what comes out.
    """
    while isinstance(target, partial):
        target = target.func
    function = _plain_function(target) or _plain_function(type(target).__call__)
    if function is None:
        return EMPTY, {}
    return function.__annotations__.get("return", EMPTY), function.__globals__


def is_async(target: Any) -> bool:
    """Whether calling the target gives a coroutine."""
    function = _plain_function(target)
    if function is not None:
        return bool(function.__code__.co_flags & _IS_COROUTINE)
    from inspect import iscoroutinefunction  # For the few that are no plain function.

    return iscoroutinefunction(target) or iscoroutinefunction(type(target).__call__)


def _plain_function(target: Any) -> FunctionType | None:
    """The function that is the target, or that it binds; None where more than its code says what it takes."""
    function = target.__func__ if type(target) is MethodType else target
    # A wrapper, a signature of its own and the mark of a coroutine are all attributes.
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
