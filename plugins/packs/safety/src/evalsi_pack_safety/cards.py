"""Payment card numbers: the issuers' ranges and lengths, the usual groups of digits, and the Luhn check.

Ranges: ISO/IEC 7812 and what the card schemes publish of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalsi_pack_safety.edges import JOINED
from evalsi_pack_safety.findings import Finding

KIND = "card"

# First and last of a range of leading digits, and the lengths that its cards have. Lengths that no longer come out
# (Visa of 13, Maestro of 12 to 15) are left out: they are those of article and order numbers.
_RANGES: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("4", "4", frozenset((16, 19))),  # Visa
    ("51", "55", frozenset((16,))),  # Mastercard
    ("2221", "2720", frozenset((16,))),  # Mastercard
    ("34", "34", frozenset((15,))),  # American Express
    ("37", "37", frozenset((15,))),
    ("300", "305", frozenset((14, 16, 19))),  # Diners Club
    ("3095", "3095", frozenset((14, 16, 19))),
    ("36", "36", frozenset((14, 16, 19))),
    ("38", "39", frozenset((14, 16, 19))),
    ("3528", "3589", frozenset((16, 17, 18, 19))),  # JCB
    ("6011", "6011", frozenset((16, 19))),  # Discover
    ("644", "659", frozenset((16, 19))),
    ("62", "62", frozenset((16, 17, 18, 19))),  # UnionPay
    ("81", "81", frozenset((16, 17, 18, 19))),
    ("50", "50", frozenset((16, 17, 18, 19))),  # Maestro
    ("56", "58", frozenset((16, 17, 18, 19))),
    ("60", "60", frozenset((16, 17, 18, 19))),  # Maestro, RuPay
    ("6304", "6304", frozenset((16, 17, 18, 19))),
    ("67", "67", frozenset((16, 17, 18, 19))),
    ("2200", "2204", frozenset((16, 17, 18, 19))),  # Mir
    ("9792", "9792", frozenset((16,))),  # Troy
)

# A pattern that begins with a figure is looked for quickest, so what may not stand before it is asked after it.
_CARD = re.compile(
    rf"[0-9](?<![{JOINED}].)(?<![0-9][.,/-].)(?<![A-Za-z][-/].)"
    r"(?:[0-9]{13,18}"
    r"|[0-9]{3}([ .-])[0-9]{4}\1[0-9]{4}\1[0-9]{4}(\1[0-9]{1,3})?"
    r"|[0-9]{3}([ .-])[0-9]{6}\3[0-9]{4,5}"
    r"|[0-9]{5}[ -][0-9]{10,13})"
    rf"(?![{JOINED}])(?![.,/-][0-9])"
)
_ROW_BEFORE = re.compile(r"[0-9]{4} \Z")
_ROW_AFTER = re.compile(r" [0-9]{4}(?![0-9/])")


def cards(text: str, _label: str = "") -> Iterator[Finding]:
    """The card numbers in a readable text."""
    for match in _CARD.finditer(text):
        if _in_a_row(text, match):
            continue
        for written in _readings(match):
            digits = "".join(character for character in written if character.isdigit())
            if _is_one(digits):
                end = match.start() + len(written)
                yield Finding(KIND, match.start(), end, f"{digits[0]}…{digits[-4:]}", (digits,))
                break


def _readings(match: re.Match[str]) -> Iterator[str]:
    """All that stands there; then without a last group of its own, which may be the code from the back of the card."""
    yield match[0]
    if match[2]:
        yield match[0][: match.start(2) - match.start()]


def _is_one(digits: str) -> bool:
    if not _issued(digits):
        return False
    from stdnum import luhn  # 40 ms that only a number of an issuer need pay.

    valid: bool = luhn.is_valid(digits)
    return valid


def _issued(digits: str) -> bool:
    return any(
        first <= digits[: len(first)] <= last and len(digits) in lengths for first, last, lengths in _RANGES
    ) and any(digit != digits[0] for digit in digits)


def _in_a_row(text: str, match: re.Match[str]) -> bool:
    """Groups of four that go on on either side, such as years in a table."""
    if " " not in match[0] or match[3]:
        return False
    before = text[max(0, match.start() - 5) : match.start()]
    return bool(_ROW_BEFORE.search(before)) or _ROW_AFTER.match(text, match.end()) is not None
