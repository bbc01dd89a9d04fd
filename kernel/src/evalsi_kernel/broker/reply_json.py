"""Find JSON in a judge's reply: the whole reply, or objects within its prose, in linear time."""

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
# An unterminated string consumes the rest, so that no quote is scanned twice.
_IN_OBJECT = re.compile(r'"(?:[^"\\]|\\.)*+"?|[{}]', re.DOTALL)
_GLANCE = 64
_OPENS = re.compile(r"(?:\A|\n)[ \t]*(?:```[\w+-]*[ \t]*)?\Z")
_CLOSES = re.compile(r"[ \t]*(?:```)?[ \t\r]*(?:\n|\Z)")


class NoJson(ValueError):
    """The text is not strict JSON; the message is the rest of a sentence."""


class Placed(NamedTuple):
    """A JSON object within prose.

    Args:
        value: the object.
        alone: whether it has lines of its own, unlike an object quoted within a sentence.
        start: where it begins in the text.
        end: where it ends.
    """

    value: dict[str, Any]
    alone: bool
    start: int = 0
    end: int = 0


def strict_json(text: str) -> Any:
    """Parse strict JSON: no NaN, no number beyond the range of a float, no duplicate keys.

    Raises:
        NoJson: the text is not strict JSON.
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
        # The only other ValueError of json: an integer with more digits than Python converts.
        raise NoJson("it has a number of too many digits") from None
    if isinstance(value, dict | list) and is_deeper(value, MAX_LEVELS):
        raise NoJson("it is nested too deep")
    return value


def without_fence(text: str) -> str:
    """Return the content of a text that is one code fence; any other text stripped of surrounding blanks."""
    bare = text.strip("\ufeff \t\r\n")
    if not (bare.startswith(FENCE) and bare.endswith(FENCE) and len(bare) >= 2 * len(FENCE)):
        return bare
    inside = bare[len(FENCE) : -len(FENCE)]
    language = _LANGUAGE.match(inside)
    return inside[language.end() if language else 0 :].strip()


def objects_in(text: str) -> list[Placed]:
    """Return the different JSON objects within prose, at most two, since a second one makes the verdict ambiguous.

    Objects nested in another object, or inside of braces that are not JSON, do not count.

    Raises:
        NoJson: there are too many pairs of braces, or they are nested too deep.
    """
    found: list[Placed] = []
    for number, (start, end) in enumerate(_braced(text)):
        if number == MAX_BRACED:
            raise NoJson(f"it has more than {MAX_BRACED:,} pairs of braces")
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
    """Yield the outermost spans from a brace to its closing one; stop at a brace that is never closed."""
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
    """Return whether a span shares its lines with nothing but a fence, and is not an element of a list."""
    # Look only this far to both sides, so that the cost does not depend on the length of the text.
    before, after = text[max(0, start - _GLANCE) : start], text[end : end + _GLANCE]
    opens = _OPENS.search(before)
    if opens is None or (opens.start() == 0 and start > _GLANCE and not before.startswith("\n")):
        return False
    if not _CLOSES.match(after) or (len(after) == _GLANCE and "\n" not in after):
        return False
    return not before.rstrip().endswith("[") and not after.lstrip().startswith(("]", ","))


def _refuse_constant(name: str) -> NoReturn:
    raise NoJson(f"{name} is not a JSON value")


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


# Created once, because creating a decoder takes as long as parsing a verdict.
_DECODER: Final = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_finite_float, object_pairs_hook=_without_doubles
)
