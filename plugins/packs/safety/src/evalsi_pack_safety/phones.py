"""Phone numbers: in international form wherever they stand, in national form where their look or a word says so.

Whether a number can be one is phonenumbers' to say, the numbering plans of all countries; this file owns where numbers
begin and end, and how much must speak for one that names no country.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from evalsi_pack_safety.edges import JOINED
from evalsi_pack_safety.findings import Finding, compact
from evalsi_pack_safety.nearby_words import NUMBERED_THINGS, PHONES

KIND = "phone"

# Countries whose national form is known by its look: North America's 3-3-4, an area code in brackets, or a 0.
NORTH_AMERICA = ("US",)
BRACKETS = ("US", "BR", "RU", "DE", "GB", "MX", "AR", "IN", "UA", "AU")
TRUNK_ZERO = ("GB", "DE", "FR", "IT", "JP", "KR", "AU", "NL", "BE", "CH", "AT", "SI", "IE", "ZA")
# In which a number is looked up when a word such as "tel." stands before it.
KNOWN_BY_WORD = (
    "US", "GB", "DE", "FR", "ES", "IT", "IN", "CN", "BR", "JP", "RU", "KR", "MX", "TR", "PL", "NL", "BE", "CH", "AT",
    "SI", "PT", "CZ", "SE", "NO", "DK", "FI", "GR", "HR", "RS", "UA", "RO", "HU", "IE", "IL", "SA", "AE", "EG", "NG",
    "KE", "ZA", "AU", "NZ", "ID", "VN", "TH", "PH", "MY", "SG", "HK", "TW", "AR", "CO", "CL", "NP", "PK", "BD",
)  # fmt: skip

# "0142x33": the number of an extension may touch.
_EXTENSION = r"[xX]\d{1,6}\b"
_INTERNATIONAL = re.compile(
    rf"\+(?<![{JOINED}].)\(?\d(?:[ ().\-/]{{0,3}}\d){{6,16}}(?:(?={_EXTENSION})|(?![{JOINED}]))"
)
_NATIONAL = re.compile(
    rf"[(0-9](?<![{JOINED}@#&/.,+-].)(?<![A-Za-z_][(].)(?:[ ().\-/]{{0,3}}\d){{6,17}}"
    rf"(?:(?={_EXTENSION})|(?![{JOINED}°]))(?![-./,:]\d)(?! ?[€$£¥%])"
)
_NORTH_AMERICAN = re.compile(r"(?:1[-. ])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-. ])[2-9]\d\d[-. ]\d{4}")
_BRACKETED = re.compile(r"(?:[08] ?)?\(\d{2,5}\) ?\d{2,5}(?:[- ]?\d{2,5}){1,3}")
_TRUNK = re.compile(r"0\d{1,5}[ \-/.]+\d[\d \-/.]+")
_DATE = re.compile(r"(?:\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d\d|(?:19|20)\d\d[./-]\d{1,2}[./-]\d{1,2})(?!\d)")
_SSN_LIKE = re.compile(r"\d{3}-\d\d-\d{4}")
_DIGITS = re.compile(r"\d+")
# Figures that stand for a number and are none: 123456789, 1234567890, 000000000.
_PLACEHOLDER = re.compile(r"1234567(?:8(?:90?)?)?|0123456789|(\d)\1{6,}")
# Set aside for fiction by Ofcom, and in no numbering plan; planted data has them.
_FICTION = re.compile(r"\+447700900\d{3}")
_MOST_GROUPS_CUT = 3


def phones(text: str, label: str = "") -> Iterator[Finding]:
    """The phone numbers in a readable text."""
    if "+" in text:
        for match in _INTERNATIONAL.finditer(text):
            yield from _first_valid(match.start(), match[0], (None,))
    for match in _NATIONAL.finditer(text):
        yield from _national(text, match.start(), match[0], label)


def _national(text: str, start: int, written: str, label: str) -> Iterator[Finding]:
    if text[start - 1 : start] == " " and text[start - 2 : start - 1].isdigit() and start >= 2:
        return  # The rest of a row of numbers.
    if text[start - 1 : start] == "=" and not PHONES.said(text, start, label):
        return
    said = _is_said_to_be_one(text, start, label)
    if written.startswith("00"):
        if said or not written.isdigit():
            yield from _first_valid(start, written, (None,))
        return
    if said or not NUMBERED_THINGS.said(text, start, label):
        known = list(_known_by_look(start, written))
        if known:
            yield from known
            return
    if said and not _is_date(written):
        yield from _first_valid(start, written, KNOWN_BY_WORD)


def _is_said_to_be_one(text: str, start: int, label: str) -> bool:
    """Whether a word such as "tel." stands before it, nearer than one such as "order"."""
    phone, thing = PHONES.distance(text, start, label), NUMBERED_THINGS.distance(text, start, label)
    return phone is not None and (thing is None or phone <= thing)


def _known_by_look(start: int, written: str) -> Iterator[Finding]:
    north_american = _NORTH_AMERICAN.match(written)
    if north_american and not written[north_american.end() : north_american.end() + 1].isdigit():
        yield from _first_valid(start, north_american[0], NORTH_AMERICA)
    elif _BRACKETED.fullmatch(written):
        yield from _first_valid(start, written, BRACKETS, grouped=True)
    elif _TRUNK.fullmatch(written) and not (_is_date(written) or _SSN_LIKE.fullmatch(written)):
        yield from _first_valid(start, written, TRUNK_ZERO, grouped=True)


def _is_date(written: str) -> bool:
    """Whether this is a date, alone or with a few figures after it; 06.12.34.56.78 begins like one and goes on."""
    date = _DATE.match(written)
    return date is not None and len(written) - date.end() < 5


def _first_valid(
    start: int, written: str, regions: Sequence[str | None], *, grouped: bool = False
) -> Iterator[Finding]:
    """The number, or what is left of it when figures that follow it after a blank are cut."""
    for _ in range(_MOST_GROUPS_CUT):
        for region in regions:
            number = _number(written, region, grouped)
            if number is not None:
                yield Finding(KIND, start, start + len(written), _masked(written), (number, compact(written)))
                return
        written = written.rpartition(" ")[0].rstrip(" (-./")
        if len(written) < 7:
            return


@lru_cache(maxsize=4096)
def _number(written: str, region: str | None, grouped: bool) -> str | None:
    """In E.164 form, such as +442079460958; None where it is none of this region."""
    from phonenumbers import (  # 60 ms that only a number need pay.
        NumberParseException,
        PhoneNumberFormat,
        format_number,
        is_valid_number,
        is_valid_number_for_region,
        parse,
    )

    if region is None and written.startswith("00"):
        written = f"+{written[2:]}"
    if _PLACEHOLDER.fullmatch(compact(written)):
        return None
    try:
        number = parse(written, region)
    except NumberParseException:
        return None
    e164: str = format_number(number, PhoneNumberFormat.E164)
    if _FICTION.fullmatch(e164):
        return e164
    if not (is_valid_number(number) if region in (None, "US") else is_valid_number_for_region(number, region)):
        return None
    if grouped:
        # The area code, at least, is set apart where the country sets it apart, or a digit or two from there: Germans
        # write 0151 23456789 for 01512 3456789.
        usual = _DIGITS.search(format_number(number, PhoneNumberFormat.NATIONAL).removeprefix("8 "))
        first = _DIGITS.search(written.removeprefix("8 "))
        if usual is None or first is None or not _begin_alike(usual[0].lstrip("0"), first[0].lstrip("0")):
            return None
    return e164


def _begin_alike(usual: str, first: str) -> bool:
    return usual == first or (len(first) >= 3 and usual.startswith(first) and len(usual) - len(first) < 3)


def _masked(written: str) -> str:
    digits = "".join(_DIGITS.findall(written))
    return f"{'+' if written.startswith('+') else ''}{digits[:2]}…{digits[-2:]}"
