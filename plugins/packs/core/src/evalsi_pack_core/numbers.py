"""The last number of a text, read as a person would: a whole token, with its separators, sign, currency and percent.

- A number is a whole token between white space, `=` or a word's colon: `618` does not hold 18, and `37abc`, `1.2.3`,
  `2024-01-05`, `12:30` and `3/4` hold none.
- What stands around it does not belong to it: brackets, quotes, Markdown's stars, full stops, tags, LaTeX's boxes:
  `(37)!`, `**42**`, `<answer>42</answer>`, `\\boxed{42}`. Nor do letters of scripts that glue words to numbers.
- Thousands stand in groups of three after a comma, dot, apostrophe, underscore, no-break or thin space, or in the
  Indian groups of two. A plain space separates numbers.
- A comma is decimal only where it cannot separate thousands: `3,14` is 3.14 and `1.234,5` is 1234.5; `1,234` is 1234.
- Currency and percent signs are units and are left out: `US$5` is 5, `50%` is 50.
- Every script's decimal digits count, as do `−` (U+2212), `1.5e3`, `1.5 × 10^3` and `1.5×10³`.
- A number that no float can hold, such as `1e999`, is none, and none before it stands in for it.
"""

from __future__ import annotations

import re
from math import inf, isinf

from evalsi_pack_core.plain_figures import plain_figures

_DIGIT = re.compile(r"\d", re.ASCII)
_PLAIN = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_EXACT_DIGITS = 15

# 1.5 × 10^3, as text and as LaTeX have it; plain figures have ^3 for ³.
_POWER_OF_TEN = re.compile(
    r"(?:(?<=\d)\s*(?:[×x*·]|\\times|\\cdot)\s*|(?<![\w.,^*)}])(?P<alone>))"
    r"10(?:\^|\*\*)\{?([+-]?\d+)\}?(?!\w|\.\d)",
    re.ASCII,
)
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;:]|,\{\})(?=\d{3})")

_LABEL = re.compile(r'.*":|[^/]*=|[^\d/]*:')
_TAG = r"</?[A-Za-z][\w-]*/?>"
_WRAPPER = r"\\(?:boxed|fbox|text|textbf|mathrm|mathbf|mathit|mathsf)(?=\{)"
_CURRENCY = "USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|BRL|KRW"
_EDGE = r"""["'`*_~()\[\]{}<>;:!?|#%$\\≈≤≥≠→⇒]"""
_BEFORE = rf"(?:{_TAG}|{_WRAPPER}|[A-Z]{{1,3}}(?=\$)|(?:{_CURRENCY}|Rs\.?)(?=[\d.])|{_EDGE})*+"
# A dot or comma before the digits may be the decimal one; behind them it ends a sentence. A sign may stand before or
# after the currency: -$5, $-5. Possessive, so that no token takes more than linear time.
_BEHIND = rf"(?:{_TAG}|{_CURRENCY}|{_EDGE}|[.,])*+"
_TOKEN = re.compile(rf"{_BEFORE}(?:([+-]){_BEFORE})?([\d.,_'eE+-]*\d){_BEHIND}", re.ASCII)

# A shape of digits and separators, its grouping and its decimal mark. The first that fits the whole figure counts.
_SHAPES = tuple(
    (re.compile(shape, re.ASCII), grouping, decimal)
    for shape, grouping, decimal in (
        (r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", ",", "."),
        (r"[1-9]\d{0,2}(?:\.\d{3})+,\d+|[1-9]\d{0,2}(?:\.\d{3}){2,}", ".", ","),
        (r"[1-9]\d{0,2}(?:_\d{3})+(?:[.,]\d+)?", "_", ","),
        (r"[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?", ",", "."),
        (r"(?![1-9]\d{0,2},\d{3}(?!\d))\d+,\d+(?:[eE][+-]?\d+)?", "_", ","),
    )
)


def last_number(text: str) -> float | None:
    """The last number of the text; None where it holds none, or one that no float can hold.

    A whole number too long for a float's digits is an int, so that it stays exact.
    """
    if not text.isascii():
        text = plain_figures(text)
    if "10^" in text or "10**" in text:
        text = _POWER_OF_TEN.sub(_with_exponent, text)
    for token in reversed(text.split()):
        if token.isalpha():
            continue
        number = _number(token)
        if number is not None:
            return None if isinf(number) else number
    return None


def _number(token: str) -> float | None:
    if _PLAIN.fullmatch(token):
        return _value(token)
    if not _DIGIT.search(token):
        return None
    label = _LABEL.match(token)
    body = token[label.end() :] if label else token
    if "\\" in body or "{" in body:
        body = _LATEX_COMMA.sub("_", body)
    found = _TOKEN.fullmatch(body)
    if found is None:
        return None
    sign, figure = found[1] or "", found[2].replace("'", "_")
    if _PLAIN.fullmatch(figure):
        return _value(sign + figure)
    for shape, grouping, decimal in _SHAPES:
        if shape.fullmatch(figure):
            return _value(sign + figure.replace(grouping, "").replace(decimal, "."))
    return None


def _value(python: str) -> float:
    """The number itself; infinite where it is out of a float's range."""
    value = float(python)
    if len(python) > _MOST_EXACT_DIGITS and value not in (inf, -inf) and python.lstrip("+-").isdecimal():
        return int(python)
    return value


def _with_exponent(power: re.Match[str]) -> str:
    return f"{'' if power['alone'] is None else '1'}e{power[2]}"
