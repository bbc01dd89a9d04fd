"""Numbers that are written with several figures, as one: fractions, powers of ten, margins, millions, LaTeX's ways.

It rewrites text whose signs are ASCII already; it must not know where a number begins and ends.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

# Stands before the power of ten in a figure, where a word of magnitude stood: 5 lakh is 5␁5.
SCALE = "\x01"
# Enough to tell apart any two fractions whose parts have the lengths that are read.
_DIGITS = Context(prec=60)

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
_POWERS = {
    "hundred": 2,
    "thousand": 3,
    "quadrillion": 15,
    **dict.fromkeys(("lakh", "lac"), 5),
    **dict.fromkeys(("million", "mn", "mln", "mio"), 6),
    "crore": 7,
    **dict.fromkeys(("billion", "bn", "mrd"), 9),
    **dict.fromkeys(("trillion", "tn", "trn"), 12),
    # Other languages. Their "billion" is 10^12, and is read so where its ending shows the language.
    **dict.fromkeys(("millionen", "millones", "millon", "milioni", "milione", "miljoen", "milhoes"), 6),
    **dict.fromkeys(("milliard", "milliarde", "milliarden", "miliardi", "miliardo", "miljard"), 9),
    **dict.fromkeys(("billionen", "billones", "biljoen"), 12),
}
_WORD_OF_SCALE = "|".join(sorted(_POWERS, key=len, reverse=True))
_LARGE = re.compile(rf"(?<=\d)(?:[ \t]*(?i:{_WORD_OF_SCALE})s?\.?(?![\w-]))+", re.ASCII)
_ONE_WORD = re.compile(rf"(?i:{_WORD_OF_SCALE})", re.ASCII)
# Behind a space a letter is a magnitude or something else: 5 K, plan 9 B. A currency before the number decides.
_LETTER_POWERS = {"k": 3, "K": 3, "M": 6, "m": 6, "B": 9, "b": 9, "T": 12, "cr": 7, "Cr": 7}
_MONEY = r"(?P<money>(?:\$|\b(?:USD|EUR|GBP|INR|Rs\.?)[ \t]?)-?)?"
_LETTER = re.compile(
    _MONEY + r"(?<![\d.,])(?P<figure>\d[\d.,]*)[ \t]+(?P<letter>[kKmMbBT]|[Cc]r)(?![\w'’)-])", re.ASCII
)
# Quicker to look for than the whole, and found in few texts.
_LETTER_HINT = re.compile(r"[\d.,][ \t]+[kKmMbBTCc]", re.ASCII)
# 1 crore 20 lakh, 5 thousand 300: one number in two parts.
_PARTS = re.compile(rf"(?<={SCALE})(?P<power>\d+)(?P<gap>[ \t]+(?:and[ \t]+)?)(?=\d[\d.,]*(?:{SCALE}(?P<next>\d+))?)")
_WORDS_THAT_SCALE = re.compile(rf"\d[ \t]*(?i:{_WORD_OF_SCALE})", re.ASCII)
_PERCENT = re.compile(r"(?<=\d)(?:[ \t]|\\[,;: ])*(?:\\?%|(?i:per[ \t]?cent|pct)\b)(?![ \t]*\d)", re.ASCII)

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
    if "%" in text or "ct" in text or "cent" in text.lower():
        text = _PERCENT.sub("%", text)
    if _WORDS_THAT_SCALE.search(text):
        text = _LARGE.sub(_with_power, text)
        text = _PARTS.sub(_joined, text)
    if _LETTER_HINT.search(text):
        text = _LETTER.sub(_with_letter, text)
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
        return _quotient(whole * bottom + int(top), bottom)
    if top is not None:
        return f"{first} {_quotient(int(top), bottom)}"
    # 01/05 is a day.
    return _quotient(whole, bottom) if first == "0" or first[0] != "0" else found[0]


def _quotient(top: int, bottom: int) -> str:
    return f"{_DIGITS.divide(Decimal(top), Decimal(bottom)):f}"


def _with_power(found: re.Match[str]) -> str:
    return f"{SCALE}{sum(_POWERS[word.lower()] for word in _ONE_WORD.findall(found[0]))}"


def _joined(found: re.Match[str]) -> str:
    """Join the parts of one number, so that neither is read alone; 2 million and 3 million are two numbers."""
    is_part = found["next"] is None or int(found["next"]) < int(found["power"])
    return f"{found['power']}+" if is_part else found[0]


def _with_letter(found: re.Match[str]) -> str:
    money, figure, letter = found["money"], found["figure"], found["letter"]
    if money:
        return f"{money}{figure}{SCALE}{_LETTER_POWERS[letter]}"
    # What stands between figure and letter makes the token one that cannot be read; 5 m is five metres.
    return found[0] if letter in "mb" else f"{figure}·{letter}"
