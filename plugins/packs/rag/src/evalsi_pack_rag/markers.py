"""Citation markers in a line of text: [1], [1, 2], [1-3], and their like in other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

# Digits of any script; numbers of four digits are years: [2024].
_NUMBER = r"\d{1,3}"
# Hyphens, dashes and minus signs; commas and semicolons; brackets: those of Latin, Arabic and East Asian text.
_DASH = r"\s?[\-\u2010-\u2014\u2212\uff0d]\s?"
_COMMA = r"\s?[,;\u060c\u3001\uff0c\uff1b]\s?"
_RANGE = rf"{_NUMBER}(?:{_DASH}{_NUMBER})?"
_MARKER = re.compile(rf"[\[\uff3b\u3010]\s?({_RANGE}(?:{_COMMA}{_RANGE})*)\s?[\]\uff3d\u3011]")
_ITEM = re.compile(rf"({_NUMBER})(?:{_DASH}({_NUMBER}))?")
# What spans more is a range of something else, such as a scale.
_WIDEST_RANGE = 20


class Marker(NamedTuple):
    """One marker.

    Args:
        written: as it stands in the text.
        numbers: that it cites, in order; a range is every number of it.
        start: where it begins.
        end: where it ends.
    """

    written: str
    numbers: tuple[int, ...]
    start: int
    end: int


def markers_of(text: str) -> Iterator[Marker]:
    """The markers of a text, from left to right."""
    for found in _MARKER.finditer(text):
        numbers = _numbers(found[1])
        if numbers:
            yield Marker(found[0], numbers, *found.span())


def _numbers(inside: str) -> tuple[int, ...]:
    """The numbers of one marker; none where a range of it is too wide or runs backwards."""
    numbers: list[int] = []
    for item in _ITEM.finditer(inside):
        first, last = int(item[1]), int(item[2] or item[1])
        if not 0 <= last - first < _WIDEST_RANGE:
            return ()
        numbers += range(first, last + 1)
    return tuple(numbers)
