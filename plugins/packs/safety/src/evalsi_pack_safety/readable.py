"""A text as a reader takes it: digits, dashes and blanks of all scripts as ASCII's, invisible characters gone.

Whoever searches it gets places in the original back.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple

_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_FULL_WIDTH = range(0xFF01, 0xFF5F)


class Readable(NamedTuple):
    """A text and the way back from it.

    Args:
        text: as a reader takes it.
        places: of each character the place in the original, and its length at the end; None where all stand where
            they stood.
    """

    text: str
    places: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text stands in the original."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1 if end > start else self.places[start]


class _Forms(dict[int, int | None]):
    """For `str.translate`: what becomes of a character. Filled as characters come."""

    def __missing__(self, code_point: int) -> int | None:
        self[code_point] = form = _form(chr(code_point))
        return form


_FORMS = _Forms()


def readable(text: str) -> Readable:
    """The readable form of a text."""
    if text.isascii():
        return Readable(text)
    form = text.translate(_FORMS)
    if len(form) == len(text):
        return Readable(form)
    places = [place for place, character in enumerate(text) if _FORMS[ord(character)] is not None]
    return Readable(form, [*places, len(text)])


def _form(character: str) -> int | None:
    code_point = ord(character)
    if code_point < 128:
        return code_point
    category = unicodedata.category(character)
    # Variation selectors are marks, and the Hangul fillers are letters; all are as invisible as category Cf.
    if category == "Cf" or character in _INVISIBLE or 0xFE00 <= code_point <= 0xFE0F:
        return None
    if category == "Nd":
        return ord("0") + unicodedata.digit(character)
    if category == "Zs":
        return ord(" ")
    if category == "Pd" or character == "−":
        return ord("-")
    if category in ("Zl", "Zp"):
        return ord("\n")
    return code_point - 0xFEE0 if code_point in _FULL_WIDTH else code_point
