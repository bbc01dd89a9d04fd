"""Numbers that are written with several figures, as one: fractions, powers of ten, margins, millions, LaTeX's ways.

It rewrites text whose signs are ASCII already; it must not know where a number begins and ends.
"""

from __future__ import annotations

import re

_WRAPPERS = r"\\(?:text|textbf|mathrm|mathbf|mathit|mathsf|mbox)"
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;:]|,\{\})(?=\d{3})")
# A unit behind its number: 5\text{ cm}, 5\,cm, 90^\circ.
_LATEX_UNIT = re.compile(rf"(?<=\d)(?:\\[,;:! ])*+(?:{_WRAPPERS}(?=\s*\{{)|\^\{{?\\circ\}}?|(?<=\\[,;:! ]))", re.ASCII)
_LATEX_FRACTION = re.compile(
    r"(?P<mixed>(?<=\d)\s*)?\\[cdt]?frac\s*(?:\{\s*(-?\d+)\s*\}|(\d))\s*(?:\{\s*(\d+)\s*\}|(\d))", re.ASCII
)

# A line's end or a tab as JSON escapes it; no command of LaTeX is this short.
_ESCAPED_SPACE = re.compile(r"\\[nrt](?![A-Za-z])")
# 12 050 and 1 000 000. What begins with 0 is no number of its own, so that one such group shows what the spaces are.
_SPACED_GROUPS = re.compile(r"(?<![\w.,'/:^])[1-9]\d{0,2}(?: \d{3}(?!\d))+", re.ASCII)

# 1.5 × 10^3, as text and as LaTeX have it; ³ is ^3 already.
_POWER_OF_TEN = re.compile(
    r"(?:(?<=\d)\s*(?:[×x*·]|\\times|\\cdot)\s*|(?<![\w.,^*)}])(?P<alone>))"
    r"10(?:\^|\*\*)\{?([+-]?\d+)\}?(?!\w|\.\d)",
    re.ASCII,
)
_MARGIN = re.compile(r"(?:(?<=\d)\s*+)?(?:±|\\pm(?![A-Za-z])|\+/-)\s*+")
_LARGE = re.compile(r"(?<=\d)[ \t]*(?i:(thousand|million|billion|trillion)s?)(?![\w-])", re.ASCII)
_LARGE_SUFFIX = {"thousand": "k", "million": "M", "billion": "bn", "trillion": "tn"}

# 3/4 and 2 3/4, but no part of a date, a range or a longer expression. Begins with a digit, which is what search finds
# fastest; its lengths are those that int() takes.
_FRACTION = re.compile(
    r"\d(?<![\w.,/:^*)}]\d)(?<![\d)][+-]\d)\d{0,14}(?:,\d{3}){0,5}(?:[ \t]++(?P<top>[1-9]\d{0,14}))?"
    r" ?/ ?(?P<bottom>[1-9]\d{0,14})(?![\w/^]|[.,:]\d|-\d|\\[A-Za-z])",
    re.ASCII,
)


def one_figure(text: str) -> str:
    """The text with each such number as one figure; what could be two numbers is left as it is."""
    if "{,}" in text or "\\" in text:
        text = _LATEX_COMMA.sub("_", text)
    if "\\" in text:
        text = _ESCAPED_SPACE.sub(" ", text)
        text = _LATEX_FRACTION.sub(_with_slash, text)
        text = _LATEX_UNIT.sub(" ", text)
    if " 0" in text:
        text = _SPACED_GROUPS.sub(_without_spaces, text)
    if "10^" in text or "10**" in text:
        text = _POWER_OF_TEN.sub(_with_exponent, text)
    if "±" in text or "\\pm" in text or "+/-" in text:
        text = _MARGIN.sub("±", text)
    if "/" in text:
        text = _FRACTION.sub(_with_point, text)
    if "illion" in text or "thousand" in text:
        text = _LARGE.sub(lambda found: _LARGE_SUFFIX[found[1].lower()], text)
    return text.replace("= - ", "= -")


def _with_slash(found: re.Match[str]) -> str:
    _, top, short_top, bottom, short_bottom = found.groups()
    return f"{'' if found['mixed'] is None else ' '}{top or short_top}/{bottom or short_bottom}"


def _without_spaces(found: re.Match[str]) -> str:
    return found[0].replace(" ", "_") if " 0" in found[0] else found[0]


def _with_exponent(found: re.Match[str]) -> str:
    return f"{'' if found['alone'] is None else '1'}e{found[2]}"


def _with_point(found: re.Match[str]) -> str:
    first, top, bottom = found[0].split("/")[0].split()[0], found["top"], int(found["bottom"])
    whole = int(first.replace(",", ""))
    if top is not None and int(top) < bottom:
        return repr(whole + int(top) / bottom)
    if top is not None:
        return f"{first} {int(top) / bottom!r}"
    # 01/05 is a day.
    return repr(whole / bottom) if first == "0" or first[0] != "0" else found[0]
