"""IBANs: the country's length and structure and the check digits (ISO 13616), as python-stdnum has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalsi_pack_safety.edges import JOINED
from evalsi_pack_safety.findings import Finding

KIND = "iban"

# Lengths are 15 (Norway) to 33 (Russia). Groups are parted by single blanks, hyphens or full stops.
_START = re.compile(rf"[0-9](?<=[A-Za-z]{{2}}.)(?<![{JOINED}]...)[0-9](?=[ .-]?[0-9A-Za-z])")
_REST = re.compile(r"(?:[ .-]?[0-9A-Za-z]){11,29}")
_JOINED = re.compile(f"[{JOINED}]")
_SHORTEST = 15
_PARTS = " .-"
_BARE = str.maketrans("", "", _PARTS)
_VALUES = {character: str(int(character, 36)) for character in "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def ibans(text: str, _label: str = "") -> Iterator[Finding]:
    """The IBANs in a readable text."""
    done = 0
    for match in _START.finditer(text):
        start = match.start() - 2
        if start < done:
            continue
        rest = _REST.match(text, match.end())
        if rest is None:
            continue
        found = _longest_valid(text, start, rest.end())
        if found is not None:
            done = found.end
            yield found


def _longest_valid(text: str, start: int, end: int) -> Finding | None:
    """The IBAN that begins here; words that follow it look like further groups."""
    written = text[start:end]
    places = [place for place, character in enumerate(written) if character in _PARTS] + [len(written)]
    whole = written.translate(_BARE).upper()
    # Groups before a place are the characters before it less the marks, one for each place before.
    for passed in range(len(places) - 1, -1, -1):
        number = whole[: places[passed] - passed]
        if len(number) < _SHORTEST:
            return None
        if _checks(number) and not _JOINED.match(text, start + places[passed]) and _is_of_its_country(number):
            end = start + places[passed]
            return Finding(KIND, start, end, f"{number[:2]}…{number[-2:]}", (number.casefold(),))
    return None


def _checks(number: str) -> bool:
    """Whether the check digits hold (ISO 7064, modulus 97): quick, and all that most texts of this form are asked."""
    return int("".join(map(_VALUES.__getitem__, number[4:] + number[:4]))) % 97 == 1


def _is_of_its_country(number: str) -> bool:
    from stdnum import iban  # 45 ms that only a number whose check digits hold need pay.

    # Which banks there are is not asked: one that is newer than the library's list would be missed.
    valid: bool = iban.is_valid(number, check_country=False)
    return valid
