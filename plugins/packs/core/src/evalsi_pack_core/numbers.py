"""The last number of a text, read as a person would: a whole token, with its separators, sign, currency and unit.

- A number is a whole token between white space, `=`, a word's colon or its dots: `618` does not hold 18. Letters within
  make it a name, which is no number: `37abc`, `3rd`, `v2`, `E12`, `COVID-19`.
- What stands around it does not belong to it: brackets, quotes, Markdown's stars, full stops, tags, LaTeX's boxes:
  `(37)!`, `**42**`, `<answer>42</answer>`, `\\boxed{42}`. Nor do letters of scripts that glue words to numbers.
- Thousands stand in groups of three after a comma, dot, apostrophe, underscore, no-break or thin space, or in the
  Indian groups of two. A plain space separates numbers, but for a group that begins with 0: `1 000` is 1000.
- A comma is decimal only where it cannot separate thousands: `3,14` is 3.14 and `1.234,5` is 1234.5; `1,234` is 1234.
- Units are left out: `US$5` is 5, `50%` is 50, `5kg` is 5, `$60/hour` is 60.
- Every script's decimal digits count, as do `−` (U+2212), `1.5e3`, `1.5 × 10^3`, fractions (`3/4`, `2 1/2`, `½`),
  `1.5k`, `2M` and `2 million`.
- Words and signs of magnitude count: `3 bn`, `5 hundred thousand`, `1 lakh`, `2 crore`, `5 Millionen`. A letter behind
  a space is one only beside a currency: `$1.5 M` is read, `1.5 M` and `1 crore 20 lakh` cannot be read.
- Values are exact: integers, or fractions of integers.
- Where the last number is none of these, as a date, a time, a range, a margin, a power, a set (`\\{1,3\\}`), or what
  could be two different numbers or is out of a float's range, it cannot be read, and no number before it stands in.
"""

from __future__ import annotations

import re
from fractions import Fraction
from math import isinf
from typing import NamedTuple

from evalsi_pack_core.compound_figures import SCALE, one_figure
from evalsi_pack_core.plain_figures import MULTIPLIERS, plain_figures

_DIGIT = re.compile(r"\d", re.ASCII)
_PLAIN = re.compile(r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_MOST_DIGITS = 1000
_NONZERO = re.compile(r"[.0]*[1-9]", re.ASCII)
# A set in LaTeX, \{1,3\}: there a comma always lists.
_SET = re.compile(r"\\\{\d[\d,]*,[\d,]*\\?\}", re.ASCII)

_LABEL = re.compile(r'.*":|[^/]*=|[^\d/]*(?::|\.\.)')
_TAG = r"</?[A-Za-z][\w-]*/?>"
_WRAPPER = r"\\(?:boxed|fbox|text|textbf|mathrm|mathbf|mathit|mathsf)(?=\{)"
_CURRENCY = "USD|EUR|GBP|JPY|CNY|INR|CHF|CAD|AUD|BRL|KRW"
_EDGE = r"""["'`*_~()\[\]{}<>;:!?|#%$\\≈≤≥≠→⇒]"""
_BEFORE = rf"(?:{_TAG}|{_WRAPPER}|[A-Z]{{1,3}}(?=\$)|(?:{_CURRENCY}|Rs\.?)(?=[\d.])|{_EDGE})*"
# A dot or comma before the digits may be the decimal one; behind them it ends a sentence. A sign may stand before or
# after the currency: -$5, $-5.
_BEHIND = rf"(?:{_TAG}|{_CURRENCY}|{_EDGE}|[.,+-])*"

_TIMES = {"": 0, "k": 3, "K": 3, "M": 6, "mn": 6, "B": 9, "bn": 9, "tn": 12}
_UNIT = (
    r"(?:[kcmnµμ]m|[kmµμ]?g|[mcd]?[lL]|mi|ft|in|yd|lbs?|oz|mph|kmh|kph|[kM]?W|kWh|k?cal|k?J|[kM]?V|mAh|A|N|k?Pa|"
    r"[kMG]?Hz|dB|[kKMGT]i?B|[mnµμ]s|secs?|mins?|h|hrs?|hours?|days?|px|rpm)"
)
_POWER = r"(?:\^?[23]|[²³])?"
_PER = r"(?:/(?:[A-Za-z]{2,}|[hsdgmLl])(?:\^?-?\d|[²³])?)"
_SUFFIX = (
    rf"(?:(?P<times>k|K|M|mn|B|bn|tn|{SCALE}\d+){_PER}*|{_UNIT}{_POWER}{_PER}*|ms?(?:\^?[23]|[²³])|m?{_PER}+|"
    # Metres or millions, seconds or a decade, times or the unknown, a time of day.
    r"(?P<unclear>m|s|x|[ap]\.?m))?"
)


def _whole(name: str, part: str) -> str:
    """A part that never gives back what it took; up to Python 3.11.4 `(?:…)*+` takes more than its alternatives do."""
    return rf"(?=(?P<{name}>{part}))(?P={name})"


_TOKEN = re.compile(
    rf"{_whole('before', _BEFORE)}(?:(?P<sign>[+-]){_whole('within', _BEFORE)})?"
    rf"(?P<figure>(?![eE]\d)[\d.,_'eE+-]*\d){_SUFFIX}{_whole('behind', _BEHIND)}",
    re.ASCII,
)

# What holds digits and is no number: it begins with a letter, or has some right behind its digits.
_NAME = re.compile(
    rf"(?![\W_]*\\(?:sqrt|[cdt]?frac|pi|pm)(?![A-Za-z]))[\W_]*+(?:[^\W\d]|\d[\d.,]*+(?![{MULTIPLIERS}])"
    r"['-]?[^\W\d][\w'-]*+[\W_]*+\Z)"
)
_MARKUP = re.compile(rf"{_TAG}|{_WRAPPER}", re.ASCII)

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


class UnreadableNumber(ValueError):
    """The last number of a text cannot be read as one number."""

    def __init__(self, token: str) -> None:
        self.token = token.replace(SCALE, "e")
        super().__init__(f"{self.token!r} cannot be read as one number")


class Figure(NamedTuple):
    """A number as it is written: its exact value before any percent sign, and whether there is one."""

    value: int | Fraction
    is_percent: bool = False


def last_number(text: str) -> int | Fraction | None:
    """Return the value of the last number of the text, a percent sign left out; None where it holds none.

    Raises:
        UnreadableNumber: as for `last_figure`.
    """
    figure = last_figure(text)
    return None if figure is None else figure.value


def last_figure(text: str) -> Figure | None:
    """Return the last number of the text; None where it holds none.

    Raises:
        UnreadableNumber: the last number is written in a way that is not read, or could be two different numbers.
    """
    if not text.isascii():
        text = plain_figures(text)
    for token in reversed(one_figure(text).split()):
        if token.isalpha():
            continue
        number = _number(token)
        if number is not None:
            return number
    return None


def _number(token: str) -> Figure | None:
    """Return the token's number; None where it is a name or holds no digit."""
    if _PLAIN.fullmatch(token):
        return Figure(_value(token, token))
    if not _DIGIT.search(token):
        return None
    label = _LABEL.match(token)
    body = token[label.end() :] if label else token
    if "\\{" in body and _SET.search(body):
        raise UnreadableNumber(token)
    found = _TOKEN.fullmatch(body)
    if found is not None:
        return _read(found, token)
    if _DIGIT.search(body) is None or _NAME.match(_MARKUP.sub("", body)):
        return None
    raise UnreadableNumber(token)


def _read(found: re.Match[str], token: str) -> Figure:
    if found["unclear"]:
        raise UnreadableNumber(token)
    sign, figure = found["sign"] or "", found["figure"].replace("'", "_")
    times = found["times"] or ""
    exponent = int(times[1:]) if times.startswith(SCALE) else _TIMES[times]
    is_percent = "%" in found["behind"]
    behind = f"e{exponent}" if exponent else ""
    if _PLAIN.fullmatch(figure) and not (behind and "e" in figure.lower()):
        return Figure(_value(sign + figure + behind, token), is_percent)
    for shape, grouping, decimal in _SHAPES:
        if shape.fullmatch(figure):
            written = sign + figure.replace(grouping, "").replace(decimal, ".") + behind
            return Figure(_value(written, token), is_percent)
    raise UnreadableNumber(token)


def _value(python: str, token: str) -> int | Fraction:
    if len(python) > _MOST_DIGITS:
        bare = python.lstrip("+-0")
        if not bare or bare[0] in "eE":
            return 0
        if len(bare) > _MOST_DIGITS:
            raise UnreadableNumber(token)
        python = f"{'-' if python[0] == '-' else ''}{bare}"
    value = float(python)
    if isinf(value) or (not value and _NONZERO.match(python.lstrip("+-"))):
        raise UnreadableNumber(token)
    if python.isdecimal():
        return int(python)
    exact = Fraction(python)
    return exact.numerator if exact.denominator == 1 else exact
