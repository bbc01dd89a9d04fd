"""What the code of an evaluator says that it returns, and whether a result is that.

A text that comes where a number was promised would be a label that nobody meant. It must not know the wire's frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from evalsi.score import Score, ScoreError, scores_of, shown
from evalsi.signatures import EMPTY, returned_by

_SCORE = "score"
_LISTS = (list, tuple, Sequence, Iterable)
# To Python True is a number too, and 1 is neither True nor False.
_KEYS: dict[type, tuple[str, ...]] = {
    bool: ("passed",),
    int: ("value", "passed"),
    float: ("value", "passed"),
    str: ("label",),
    Score: (_SCORE,),
}
_TYPES: dict[str, tuple[type, ...]] = {
    "passed": (bool,),
    "value": (float, int),
    "label": (str,),
    _SCORE: (Score, list),
}


class BrokenPromise(ScoreError):
    """A result of another kind than the evaluator's code says that it returns."""

    hint = "Return what the function says that it returns, or change what it says after its ->."


class Promise(NamedTuple):
    """What an evaluator says that it returns.

    Args:
        told: as its code has it, such as "float".
        keys: the verdicts that are meant by it: passed, value, label; and "score" for scores of any verdict.
        types: the types that need no further look.
    """

    told: str
    keys: frozenset[str]
    types: frozenset[type]

    def check(self, result: Any) -> None:
        """See that a result is as was said; raises `ScoreError`."""
        if type(result) in self.types:
            return
        is_score = isinstance(result, (Score, list, tuple))
        if is_score and _SCORE in self.keys:
            return
        # Whoever makes scores, for one that said "float", keeps to it with a Score's value too.
        if any(self.keys.isdisjoint(wire) for wire in scores_of(result) if "error" not in wire):
            raise BrokenPromise(f"The evaluator says that it returns {self.told}, and returned {shown(result)}.")


def promise_of(function: Callable[..., Any]) -> Promise | None:
    """What a function or method says that it returns; None where it says nothing, or nothing of results' kinds."""
    annotation, names = returned_by(function)
    if annotation is EMPTY:
        return None
    try:
        holder = SimpleNamespace(__annotations__={"return": annotation})
        hint = get_type_hints(holder, names, include_extras=True)["return"]
    except (AttributeError, NameError, SyntaxError, TypeError):
        # A name that only type checkers see: what it stands for is not known here.
        return None
    keys = _keys(hint)
    if not keys:
        return None
    told = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
    return Promise(told, frozenset(keys), frozenset(one for key in keys for one in _TYPES[key]))


def _keys(hint: Any) -> set[str]:
    """The verdicts that a type stands for, None apart; empty where it could stand for anything."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _keys(arguments[0])
    if origin is Literal:
        return _all_of(type(value) for value in arguments)
    if origin in (Union, UnionType):
        return _all_of(arguments)
    if origin in _LISTS:
        return _all_of(one for one in arguments if one is not Ellipsis) & {_SCORE}
    if isinstance(hint, type):
        return next(({*keys} for kind, keys in _KEYS.items() if issubclass(hint, kind)), set())
    return set()


def _all_of(hints: Iterable[Any]) -> set[str]:
    """Of several types, all that they stand for together; empty where one could stand for anything."""
    found = [_keys(hint) for hint in hints if hint is not type(None)]
    return set().union(*found) if all(found) else set()
