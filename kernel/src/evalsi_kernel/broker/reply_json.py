"""JSON in a judge's reply: the whole of it, or the objects that stand in its prose. One pass, whatever the text.

It must not know a schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any, Final, NamedTuple, NoReturn

from evalsi_kernel.checking.value_schema import same
from evalsi_kernel.records.contents import is_deeper

FENCE = "```"
MAX_LEVELS = 64
MAX_BRACED = 1_000
_LANGUAGE = re.compile(r"[\w+-]*(?=\s|[\[{])")
# A string that never ends takes the rest, so that no quote of it is looked at twice.
_IN_OBJECT = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL)
_GLANCE = 64
_OPENS = re.compile(r"(?:\A|\n)[ \t]*(?:```[\w+-]*[ \t]*)?\Z")
_CLOSES = re.compile(r"[ \t]*(?:```)?[ \t\r]*(?:\n|\Z)")


class NoJson(ValueError):
    """The text is not strict JSON; why, as the rest of a sentence."""


class Placed(NamedTuple):
    """An object in prose, where it stands, and whether it has lines of its own, as what a sentence quotes does not."""

    value: dict[str, Any]
    alone: bool
    start: int = 0
    end: int = 0


def strict_json(text: str) -> Any:
    """The value of a text that is JSON to the letter: no NaN, no number beyond a float, no key twice in an object.

    Raises:
        NoJson: it is not.
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise NoJson("it is nested too deep") from None
    except json.JSONDecodeError as error:
        # Some of these messages end in "at" themselves.
        fault = error.msg.removesuffix(" at")
        raise NoJson(f"it is not JSON: {fault} at character {error.pos + 1:,}") from None
    except NoJson:
        raise
    except ValueError:
        # All that json refuses besides is an integer of more digits than Python reads.
        raise NoJson("it has a number of too many digits") from None
    if isinstance(value, dict | list) and is_deeper(value, MAX_LEVELS):
        raise NoJson("it is nested too deep")
    return value


def without_fence(text: str) -> str:
    """The text inside the one code fence that it is; any other text without the blanks around it."""
    bare = text.strip("\ufeff \t\r\n")
    if not (bare.startswith(FENCE) and bare.endswith(FENCE) and len(bare) >= 2 * len(FENCE)):
        return bare
    inside = bare[len(FENCE) : -len(FENCE)]
    language = _LANGUAGE.match(inside)
    return inside[language.end() if language else 0 :].strip()


def objects_in(text: str) -> list[Placed]:
    """The different JSON objects of a prose, at most two: whoever looks for one needs not see a third.

    What stands inside another object is never one of them, nor is what stands inside of braces that are no JSON.

    Raises:
        NoJson: there are more braces, or deeper ones, than any verdict has in it or around it.
    """
    found: list[Placed] = []
    for number, (start, end) in enumerate(_braced(text)):
        if number == MAX_BRACED:
            raise NoJson(f"more than {MAX_BRACED:,} pairs of braces stand in it")
        try:
            value = strict_json(text[start:end])
        except NoJson:
            continue
        placed = Placed(value, _is_alone(text, start, end), start, end)
        for index, known in enumerate(found):
            if same(known.value, value):
                found[index] = known._replace(alone=known.alone or placed.alone)
                break
        else:
            found.append(placed)
        if len(found) == 2:
            break
    return found


def _braced(text: str) -> Iterator[tuple[int, int]]:
    """The spans from a brace to the one that closes it, none inside another; none after a brace that nothing closes."""
    start = text.find("{")
    while start >= 0:
        depth = 0
        for token in _IN_OBJECT.finditer(text, start):
            depth += {"{": 1, "}": -1}.get(token.group(), 0)
            if depth == 0:
                break
            if depth > MAX_LEVELS:
                raise NoJson("it is nested too deep")
        else:
            return
        yield start, token.end()
        start = text.find("{", token.end())


def _is_alone(text: str, start: int, end: int) -> bool:
    """Whether nothing else is on the lines of a span but a fence, and it is no item of a list."""
    # A glance to both sides: however long the text, an object costs no more than itself.
    before, after = text[max(0, start - _GLANCE) : start], text[end : end + _GLANCE]
    opens = _OPENS.search(before)
    if opens is None or (opens.start() == 0 and start > _GLANCE and not before.startswith("\n")):
        return False
    if not _CLOSES.match(after) or (len(after) == _GLANCE and "\n" not in after):
        return False
    return not before.rstrip().endswith("[") and not after.lstrip().startswith(("]", ","))


def _refuse_constant(name: str) -> NoReturn:
    raise NoJson(f"{name} is no JSON value")


def _finite_float(written: str) -> float:
    number = float(written)
    if not isfinite(number):
        raise NoJson("it has a number beyond the range of a float")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read: dict[str, Any] = {}
    for key, value in pairs:
        if key in read:
            raise NoJson(f"an object has the key {key!r:.60} twice")
        read[key] = value
    return read


# Made once: that takes as long as a verdict's text takes to be read.
_DECODER: Final = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_without_doubles
)
