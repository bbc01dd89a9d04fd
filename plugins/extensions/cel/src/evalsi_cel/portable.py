"""Owns the engine on `cel-python`, for machines without a wheel of the other, which tests hold against this one.

It must not know what a condition is for. The library has no bounds of its own: here are some on depth, time and size.
"""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import celpy
import lark
from celpy import celtypes
from celpy.celparser import CELParseError
from celpy.evaluation import Activation, CELEvalError, Evaluator, base_functions

from evalsi_kernel.gates.conditions import ConditionError

from .language import BadSource

# cel-expr-python refuses what is nested deeper than 32; each level is about eight rules of the grammar.
_MAX_DEPTH = 32
_MAX_S = 1.0
_MAX_SIZE = 1_000_000
_NESTING = ("paren_expr", "unary", "list_lit")
_CHAINS = ("conditionaland", "conditionalor")
_LOOPS = ("all", "exists", "exists_one", "filter", "map")
_FUNCTIONS = frozenset(name for name in base_functions if name.isidentifier()) | {"dyn", "has"}
_NUMBERS = (celtypes.IntType, celtypes.UintType, celtypes.DoubleType)


class _TooMuch(Exception):
    """An evaluation went past a bound."""


def compile_source(source: str, variables: Sequence[str]) -> PortableProgram:
    """Compile a source in which each variable holds a value of any type; raises `BadSource`."""
    limit = sys.getrecursionlimit()
    try:
        environment = celpy.Environment()
        tree = environment.compile(source)
        if _depth(tree) > _MAX_DEPTH:
            raise BadSource(f"is nested deeper than {_MAX_DEPTH} levels")
        for name in _free_names(tree, frozenset(variables)):
            raise BadSource(f"cannot be read: undeclared reference to '{name}'", name)
        return PortableProgram(environment, tree)
    except CELParseError as error:
        place = f" at line {error.line}, column {error.column}" if error.line is not None else ""
        raise BadSource(f"cannot be read{place}: syntax error") from error
    except RecursionError as error:
        raise BadSource(f"is nested deeper than {_MAX_DEPTH} levels") from error
    finally:
        # The library raises it for the whole process.
        sys.setrecursionlimit(limit)


class PortableProgram:
    """A compiled expression; each evaluation has a state of its own, so threads may share it."""

    def __init__(self, environment: celpy.Environment, tree: lark.Tree[Any]) -> None:
        self._runner = _Runner(environment, tree, _OVERRIDES)

    def value(self, values: Mapping[str, Any]) -> Any:
        """What it is for these values; raises `ConditionError`."""
        try:
            return _plain(self._runner.evaluate({name: _cel(value) for name, value in values.items()}))
        except CELEvalError as error:
            raise ConditionError(_sentence(error)) from error
        except _TooMuch as error:
            raise ConditionError(str(error)) from error
        except RecursionError as error:
            raise ConditionError("It is nested too deeply.") from error
        except (ValueError, TypeError, OverflowError, KeyError, IndexError) as error:
            raise ConditionError(f"It cannot be evaluated: {error}.") from error


class _BoundedEvaluator(Evaluator):
    """Ends at a time; what a loop evaluates ends with the whole."""

    def __init__(self, ast: lark.Tree[Any], activation: Activation, ends_at: float) -> None:
        super().__init__(ast, activation)
        self._ends_at = ends_at

    def sub_evaluator(self, ast: lark.Tree[Any]) -> Evaluator:
        return _BoundedEvaluator(ast, self.activation, self._ends_at)

    def visit(self, tree: lark.Tree[Any]) -> Any:
        if time.monotonic() > self._ends_at:
            raise _TooMuch(f"It takes longer than {_MAX_S:g} s.")
        return super().visit(tree)


class _Runner(celpy.InterpretedRunner):
    def evaluate(self, context: Any) -> Any:
        return _BoundedEvaluator(self.ast, self.new_activation(), time.monotonic() + _MAX_S).evaluate(context)


# -- what a source names ----------------------------------------------------------------------------------------------


def _depth(tree: lark.Tree[Any]) -> int:
    """How deeply expressions stand within expressions; rules with one part, and chains of && or ||, are no deeper."""
    deepest, waiting = 0, [(tree, 0)]
    while waiting:
        one, depth = waiting.pop()
        deepest = max(deepest, depth)
        is_deeper = len(one.children) > 1 or one.data in _NESTING
        for child in one.children:
            if isinstance(child, lark.Tree):
                is_chain = child.data == one.data and one.data in _CHAINS
                waiting.append((child, depth + (is_deeper and not is_chain)))
    return deepest


def _free_names(tree: lark.Tree[Any], bound: frozenset[str]) -> Iterator[str]:
    """Names that are neither declared, nor the variable of a loop around them, nor a known function."""
    kind, children = tree.data, tree.children
    known = {"ident": bound | _FUNCTIONS, "ident_arg": _FUNCTIONS, "dot_ident_arg": _FUNCTIONS}.get(kind)
    if known is not None and str(children[0]) not in known:
        yield str(children[0])
    elif kind == "member_dot_arg":
        yield from _free_names(children[0], bound)
        method = str(children[1])
        if method not in _FUNCTIONS and method not in _LOOPS:
            yield method
        inside = children[2] if len(children) > 2 else None
        if method in _LOOPS and inside is not None:
            variable, *rest = inside.children
            names = {str(token) for token in variable.scan_values(lambda _: True)}
            for one in rest:
                yield from _free_names(one, bound | names)
        elif inside is not None:
            yield from _free_names(inside, bound)
    else:
        for child in children:
            if isinstance(child, lark.Tree):
                yield from _free_names(child, bound)


# -- functions that differ from the library's -------------------------------------------------------------------------


def _compared(name: str, compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    """A comparison that takes numbers of different types, as the other engine does for values of any type."""
    usual = base_functions[name]

    def compared(left: Any, right: Any) -> Any:
        if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
            return celtypes.BoolType(compare(_number(left), _number(right)))
        return usual(left, right)

    return compared


def _is_equal(left: Any, right: Any) -> bool:
    """Whether two values are equal, where numbers of different types may be, and values of other types are not."""
    if isinstance(left, _NUMBERS) and isinstance(right, _NUMBERS):
        return _number(left) == _number(right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_is_equal(item, right[key]) for key, item in left.items())
    # Some operations of the library give plain text or bytes back, which are equal to its own.
    alike = next((kind for kind in (str, bytes) if isinstance(left, kind)), type(left))
    return isinstance(right, alike) and bool(left == right)


def _equal(left: Any, right: Any) -> Any:
    return _failed(left, right) or celtypes.BoolType(_is_equal(left, right))


def _unequal(left: Any, right: Any) -> Any:
    return _failed(left, right) or celtypes.BoolType(not _is_equal(left, right))


def _in(item: Any, container: Any) -> Any:
    if isinstance(container, list) and not isinstance(item, CELEvalError):
        return celtypes.BoolType(any(_is_equal(item, one) for one in container))
    return base_functions["_in_"](item, container)


def _failed(*values: Any) -> CELEvalError | None:
    """The first value that is none, which the library hands on until something absorbs it."""
    return next((value for value in values if isinstance(value, CELEvalError)), None)


def _added(left: Any, right: Any) -> Any:
    if isinstance(left, (str, bytes, list)) and isinstance(right, (str, bytes, list)):
        size = len(left) + len(right)
        if size > _MAX_SIZE:
            raise _TooMuch(f"It makes a value of {size:,} characters or items.")
    return operator.add(left, right)


def _number(value: Any) -> int | float:
    return float(value) if isinstance(value, float) else int(value)


_OVERRIDES: dict[str, Any] = {
    "_<_": _compared("_<_", operator.lt),
    "_<=_": _compared("_<=_", operator.le),
    "_>_": _compared("_>_", operator.gt),
    "_>=_": _compared("_>=_", operator.ge),
    "_==_": _equal,
    "_!=_": _unequal,
    "_in_": _in,
    "_+_": _added,
}


def _cel(value: Any) -> Any:
    """A JSON value as the library's."""
    if isinstance(value, dict):
        return celtypes.MapType({celtypes.StringType(key): _cel(item) for key, item in value.items()})
    if isinstance(value, list):
        return celtypes.ListType(map(_cel, value))
    kinds = {bool: celtypes.BoolType, int: celtypes.IntType, float: celtypes.DoubleType, str: celtypes.StringType}
    return kinds[type(value)](value) if value is not None else None


def _plain(value: Any) -> Any:
    """A truth value as Python's; what else it may be is told by its kind alone."""
    return bool(value) if isinstance(value, celtypes.BoolType) else value


def _sentence(error: CELEvalError) -> str:
    text = str(error.args[0]) if error.args else "no reason given"
    first = text.split(" (in activation")[0].split(" applied to ")[0].replace("Token('RULE', ", "").replace(")", "")
    return f"{first[:1].upper()}{first[1:]}".rstrip(". ") + "."
