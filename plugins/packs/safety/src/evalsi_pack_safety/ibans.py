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
    from stdnum import iban  # 45 ms that only a text of this form need pay.
    from stdnum.iso7064 import mod_97_10

    written = text[start:end]
    ends = [place for place in range(len(written), 0, -1) if place == len(written) or not written[place].isalnum()]
    for place in ends:
        number = written[:place].replace(" ", "").replace("-", "").replace(".", "").upper()
        if len(number) < _SHORTEST:
            return None
        goes_on = _JOINED.match(text, start + place)
        # The check digits first: they are quicker to work out than a country's structure. Which banks there are is not
        # asked: a bank that is newer than the library's list would be missed.
        if not goes_on and mod_97_10.is_valid(number[4:] + number[:4]) and iban.is_valid(number, check_country=False):
            return Finding(KIND, start, start + place, f"{number[:2]}…{number[-2:]}", (number.casefold(),))
    return None
