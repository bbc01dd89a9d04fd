"""Tokens and keys of documented formats, wherever they stand in a text.

A mark is found first, and only there a pattern is tried. What stands for a token in a manual is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalsi_pack_safety.findings import Finding
from evalsi_pack_safety.secret_formats import FORMATS, Format

# Longer than any token without its mark.
_LONGEST = 2200
# Of all formats an AWS access key is the shortest.
_SHORTEST = 20
_FEWEST_DIFFERENT = 8

_STANDS_FOR_ONE = re.compile(
    r"(?i)example|placeholder|redacted|changeme|dummy|sample|your[_-]?|x{5}|0123456789|1234567890|abcdefgh|\*{3}"
)
# Keys that makers print in their manuals.
PUBLISHED = frozenset((
    "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc",  # Stripe
    "sk_test_" + "BQokikJOvBiI2HlWgH4olfQ2",
    # The storage emulator of Azure.
    "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq" + "/K1SZFPTOtr/KBHBeksoGMGw==",
))  # fmt: skip


def tokens(text: str, _label: str = "") -> Iterator[Finding]:
    """The tokens in a readable text."""
    if len(max(text.split(), key=len, default="")) < _SHORTEST:
        return
    for row in FORMATS:
        place = text.find(row.mark)
        while place >= 0:
            match = _match(row, text, place)
            if (
                match is not None
                and not stands_for_one(match[0], row.mark)
                and (row.holds is None or row.holds(match[0]))
            ):
                shown = "" if row.before else row.mark
                yield Finding(row.kind, match.start(), match.end(), masked(shown, match[0]), (match[0],))
                place = text.find(row.mark, match.end())
            else:
                place = text.find(row.mark, place + 1)


def masked(shown: str, secret: str) -> str:
    """What of a secret may be shown: its documented beginning, and its length."""
    return f"{shown}… ({len(secret)} characters)"


def stands_for_one(secret: str, mark: str = "") -> bool:
    """Whether this stands for a secret in a manual: it says so, is printed in one, or has few different characters."""
    body = secret.replace(mark, "", 1)
    return secret in PUBLISHED or len(set(body)) < _FEWEST_DIFFERENT or _STANDS_FOR_ONE.search(body) is not None


def _match(row: Format, text: str, place: int) -> re.Match[str] | None:
    if row.before == 0:
        return row.pattern.match(text, place, place + _LONGEST)
    # The latest beginning first would cut a token; the earliest takes the whole of it.
    for start in range(max(0, place - row.before), place):
        match = row.pattern.match(text, start, place + _LONGEST)
        if match is not None:
            return match
    return None
