"""The last number of a text, read as a person would: a whole token, with its separators, sign, currency and percent.

- A number is a whole token between white space, `=` or a word's colon: `618` does not hold 18, and `37abc`, `1.2.3`,
  `2024-01-05`, `12:30` and `3/4` hold none.
- What stands around it does not belong to it: brackets, quotes, Markdown's stars, full stops: `(37)!`, `$1,284.00.`
- Thousands stand in groups of three after a comma, dot, apostrophe, underscore, no-break or thin space, or in the
  Indian groups of two. A plain space separates numbers.
- A comma is decimal only where it cannot separate thousands: `3,14` is 3.14 and `1.234,5` is 1234.5; `1,234` is 1234.
- Currency and percent signs are units and are left out: `50%` is 50.
- Every script's decimal digits count, as do `−` (U+2212) and an exponent.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable

_JOINED = re.compile("(?<=\\d)[\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
# A dot or comma before the digits may be the decimal one; behind them it ends a sentence.
_BEFORE = "\"'`*_~()[]{}<>«»“”‘’„;:!?…≈%‰$€£¥₹₩₽¢\\"
_BEHIND = _BEFORE + ".,"
_LABEL = re.compile(r"[^\d=]*[:=]|.*=")
_PLAIN = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?")

# A shape of digits and separators, and how to take it to Python's own. The first that fits the whole token counts.
_SHAPES: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (_PLAIN, lambda body: body),
    (re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?"), lambda body: body.replace(",", "")),
    (re.compile(r"[1-9]\d{0,2}(?:\.\d{3}){2,}(?:,\d+)?"), lambda body: body.replace(".", "").replace(",", ".")),
    (re.compile(r"[1-9]\d{0,2}\.\d{3},\d+"), lambda body: body.replace(".", "").replace(",", ".")),
    (re.compile(r"[1-9]\d{0,2}(?:[_'’]\d{3})+(?:[.,]\d+)?"), lambda body: _ungrouped(body).replace(",", ".")),
    (re.compile(r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?"), lambda body: body.replace(",", "")),
    (re.compile(r"\d+,\d+(?:[eE][+-]?\d+)?"), lambda body: body.replace(",", ".")),
)


def last_number(text: str) -> float | None:
    """The last number of the text, or None where it holds none."""
    if not text.isascii():
        text = _levelled(text)
    for token in reversed(text.split()):
        if token.isalpha():
            continue
        number = _number(token)
        if number is not None:
            return number
    return None


def _number(token: str) -> float | None:
    if _PLAIN.fullmatch(token):
        return _finite(token)
    label = _LABEL.match(token)
    body = token[label.end() :] if label else token
    # A sign may stand before or after the currency: -$5, $-5.
    body = body.lstrip(_BEFORE).rstrip(_BEHIND)
    sign = ""
    if body[:1] in ("-", "+"):
        sign = body[0]
        body = body[1:].lstrip(_BEFORE)
    for shape, to_python in _SHAPES:
        if shape.fullmatch(body):
            return _finite(sign + to_python(body))
    return None


def _finite(python: str) -> float | None:
    value = float(python)
    return value if math.isfinite(value) else None


def _ungrouped(body: str) -> str:
    return body.replace("_", "").replace("'", "").replace("’", "")


def _levelled(text: str) -> str:
    """Unicode's digits, minus and grouping spaces in ASCII; what else is compatible stays as it is."""
    joined = _JOINED.sub("_", text.replace("−", "-"))
    return "".join(map(_ascii_digit, joined))


def _ascii_digit(character: str) -> str:
    if character.isascii():
        return character
    digit = unicodedata.decimal(character, None)
    return (
        str(digit)
        if digit is not None
        else unicodedata.normalize("NFKC", character)
        if "！" <= character <= "～"
        else character
    )
