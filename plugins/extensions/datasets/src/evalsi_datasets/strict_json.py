"""Owns the careful reading of JSON: what is refused, at which character, and what to do about it.

It is the slow authority behind the fast readers; it must not know files or lines.
"""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any

MAX_DEPTH = 100
FEW = 100
"""So many records at the beginning are looked at for names that stand twice: in all of them it would cost a tenth."""
# What Python reads of an integer, unless it is told otherwise.
_MAX_DIGITS = 4_300

_TOKEN = re.compile(
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|(?P<open>[\[{])|(?P<close>[\]}])|(?P<word>-?Infinity|NaN)|(?P<number>-?\d[\d.eE+-]*)',
    re.DOTALL,
)
# Every escape is taken in turn, so that a backslash that is itself escaped begins none.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_MAYBE_CUT = re.compile(r"[\w\s\\.,:+-]*")

# Behind a value of an array that is not the last one.
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*(?=[^]\s])")

_FAULTS = {
    "Expecting value": ("a value is missing, or is none that JSON knows", "Write text in double quotes, or null."),
    "Expecting ',' delimiter": ("a comma or a closing bracket is missing before this", "Add it."),
    "Expecting ':' delimiter": ("a colon is missing before this", "Add it."),
    "Expecting property name enclosed in double quotes": (
        "a name in double quotes is missing",
        "Put names in double quotes, and no comma before a closing bracket.",
    ),
    "Unterminated string starting at": ("the text that begins here is never closed", "Close it with a double quote."),
    "Invalid control character at": (
        "a control character stands raw in a text",
        "Write it as an escape, such as \\n or \\t.",
    ),
    "Invalid \\escape": ("no such escape is known", "Write a backslash as \\\\."),
    "Invalid \\uXXXX escape": ("\\u is not followed by four hexadecimal digits", "Write a backslash as \\\\."),
}


class JsonFault(Exception):
    """What is wrong with a JSON text.

    Args:
        position: 0-based index of the character.
        message: what is wrong, without a full stop.
        hint: what to do.
        cut_off: whether the text is right so far, and more of it could make it whole.
    """

    def __init__(self, position: int, message: str, hint: str, *, cut_off: bool = False) -> None:
        super().__init__(message)
        self.position = position
        self.message = message
        self.hint = hint
        self.cut_off = cut_off


def read_value(text: str, start: int = 0) -> tuple[Any, int]:
    """Read the JSON value that begins at `start`, where no white space stands; no object in it has a name twice.

    Returns:
        The value, and the index after it.

    Raises:
        JsonFault: there is no such value, or it is one that a record cannot carry.
    """
    try:
        value, end = _CAREFUL.raw_decode(text, start)
    except (ValueError, RecursionError) as cause:
        raise _explain(text, start, cause) from cause
    fault = _find_in_tokens(text, start, end) if _is_deep(value, text, start, end) else None
    if fault is None and _SURROGATE.search(text, start, end):
        fault = _lone_surrogate(text, start, end)
    if fault is not None:
        raise fault
    return value, end


def value_end(text: str, start: int) -> int:
    """Return the index after the JSON value that begins at `start`, also where a record cannot carry it.

    Raises:
        JsonFault: it is no JSON; `cut_off` says whether more text could make it whole.
    """
    try:
        end = _LENIENT.raw_decode(text, start)[1]
    except json.JSONDecodeError as cause:
        is_cut = cause.msg.startswith("Unterminated") or _MAYBE_CUT.fullmatch(text, cause.pos) is not None
        raise JsonFault(cause.pos, cause.msg, "", cut_off=is_cut) from cause
    except (ValueError, RecursionError) as cause:
        raise JsonFault(start, str(cause), "") from cause
    return end


def read_listed(text: str, start: int) -> tuple[list[Any], int]:
    """Read the values of an array from `start` on that are plainly right and have another one behind them.

    Returns:
        The values, and the index of the first that `read_value` should judge.
    """
    values: list[Any] = []
    may_hold_surrogates = _SURROGATE.search(text, start) is not None
    while True:
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return values, start
        comma = _COMMA.match(text, end)
        if (
            comma is None
            or _is_deep(value, text, start, end)
            or (may_hold_surrogates and _lone_surrogate(text, start, end))
        ):
            return values, start
        values.append(value)
        start = comma.end()


def is_too_deep(value: Any) -> bool:
    """Whether arrays and objects of a JSON value are nested deeper than `MAX_DEPTH` levels."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if type(outer) is dict else outer)
            if type(inner) is dict or type(inner) is list
        ]
        if not level:
            return False
    return True


def kind_of(value: Any) -> str:
    """What a JSON value is, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    for kind, words in ((str, "text"), (list, "an array"), (dict, "an object")):
        if isinstance(value, kind):
            return words
    return "a number"


def _explain(text: str, start: int, cause: ValueError | RecursionError) -> JsonFault:
    if not isinstance(cause, json.JSONDecodeError):
        fault = _find_in_tokens(text, start, len(text))
        if isinstance(cause, _Repeated):
            fault = JsonFault(
                start, f'"{_short(cause.name)}" stands twice in one object', "Keep the one that is meant."
            )
        return fault or JsonFault(start, f"it cannot be read: {cause}", "Write it as JSON.")
    message, hint = _FAULTS.get(cause.msg, (cause.msg[:1].lower() + cause.msg[1:], "Write it as JSON."))
    if cause.msg.startswith("Unterminated") or _MAYBE_CUT.fullmatch(text, cause.pos):
        return JsonFault(cause.pos, message, hint, cut_off=True)
    earlier = _find_in_tokens(text, start, cause.pos) or _lone_surrogate(text, start, cause.pos)
    return earlier or JsonFault(cause.pos, message, hint)


def _find_in_tokens(text: str, start: int, end: int) -> JsonFault | None:
    """The first thing that JSON's grammar lets pass, or Python's reader does, and a record cannot carry."""
    depth = 0
    for token in _TOKEN.finditer(text, start, end):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
            if depth > MAX_DEPTH:
                return JsonFault(
                    token.start(),
                    f"arrays and objects are nested deeper than {MAX_DEPTH} levels",
                    "Flatten the record, or write the deep part as text.",
                )
        elif kind == "close":
            depth -= 1
        elif kind == "word":
            return JsonFault(token.start(), f"{token[0]} is no JSON number", "Write null or leave the field out.")
        elif kind == "number" and not _is_in_range(token[0]):
            return JsonFault(
                token.start(), f"{_short(token[0])} is too large a number", "Write a smaller one, or write it as text."
            )
    return None


def _is_deep(value: Any, text: str, start: int, end: int) -> bool:
    # Code and LaTeX hold many brackets in texts that are nested in nothing; only what holds so many is walked.
    brackets = text.count("[", start, end) + text.count("{", start, end) if end - start > 2 * MAX_DEPTH else 0
    return brackets > MAX_DEPTH and is_too_deep(value)


def _lone_surrogate(text: str, start: int, end: int) -> JsonFault | None:
    for escape in _ESCAPE.finditer(text, start, end):
        if escape["lone"]:
            return JsonFault(
                escape.start(),
                f"{escape[0]} is half of a surrogate pair, which no text can hold",
                "Write the whole character, or leave it out.",
            )
    return None


def _is_in_range(number: str) -> bool:
    digits = number.removeprefix("-")
    if digits.isdigit():
        return len(digits) <= _MAX_DIGITS
    try:
        return isfinite(float(number))
    except ValueError:
        # No number at all; the grammar's own fault tells of it.
        return True


def _short(number: str) -> str:
    return number if len(number) <= 24 else f"{number[:12]}… ({len(number)} characters)"


class _OutOfRange(ValueError):
    """A number that JSON can write and a float cannot hold, or a word such as NaN."""


class _Repeated(ValueError):
    """A name that stands twice in an object."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _object(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        names = [name for name, _ in members]
        raise _Repeated(next(name for place, name in enumerate(names) if name in names[:place]))
    return made


def _finite(number: str) -> float:
    value = float(number)
    if not isfinite(value):
        raise _OutOfRange(number)
    return value


def _refuse_word(word: str) -> Any:
    raise _OutOfRange(word)


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_word)
_CAREFUL = json.JSONDecoder(parse_float=_finite, parse_constant=_refuse_word, object_pairs_hook=_object)
# Python refuses an integer of very many digits, so that none is made of it.
_LENIENT = json.JSONDecoder(parse_int=float, object_pairs_hook=lambda _: None)
