"""Check results against the declared return type of an evaluator.

Otherwise a string returned in place of a number would silently become a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from evalsi.score import Score, ScoreError, scores_of, shown
from evalsi.signatures import EMPTY, returned_by

_SCORE = "score"
_LISTS = (list, tuple, Sequence, Iterable)
# bool is a subclass of int, so a declared int or float also allows True and False, but not the reverse.
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
    """A result does not have the declared return type."""

    hint = "Return the declared type, or change the return annotation."


class Promise(NamedTuple):
    """The declared return type of an evaluator.

    Args:
        declared: the annotation as text, such as "float".
        keys: verdicts that it allows: "passed", "value", "label"; "score" allows scores with any verdict.
        types: types that need no further check.
    """

    declared: str
    keys: frozenset[str]
    types: frozenset[type]

    def check(self, result: Any) -> None:
        """Raise `ScoreError` if a result does not have the declared type."""
        if type(result) in self.types:
            return
        is_score = isinstance(result, (Score, list, tuple))
        if is_score and _SCORE in self.keys:
            return
        # A Score with a value also satisfies the annotation "float".
        if any(self.keys.isdisjoint(wire) for wire in scores_of(result) if "error" not in wire):
            raise BrokenPromise(
                f"The evaluator declares the return type {self.declared}, but returned {shown(result)}."
            )


def promise_of(function: Callable[..., Any]) -> Promise | None:
    """Return the declared return type of a function or method; None if there is none, or none that scores use."""
    annotation, names = returned_by(function)
    if annotation is EMPTY:
        return None
    try:
        holder = SimpleNamespace(__annotations__={"return": annotation})
        hint = get_type_hints(holder, names, include_extras=True)["return"]
    except (AttributeError, NameError, SyntaxError, TypeError):
        # A name defined only for type checkers, which cannot be resolved at run time.
        return None
    keys = _keys(hint)
    if not keys:
        return None
    declared = annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
    return Promise(declared, frozenset(keys), frozenset(one for key in keys for one in _TYPES[key]))


def _keys(hint: Any) -> set[str]:
    """Return the verdicts that a type allows, ignoring None; empty if it allows any."""
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
    """Return the verdicts that any of several types allows; empty if one of them allows any."""
    found = [_keys(hint) for hint in hints if hint is not type(None)]
    return set().union(*found) if all(found) else set()
