"""E-mail addresses: found around each @, and held to email-validator's grammar and the list of top-level domains.

Names that RFC 2606 sets aside (example.com, .example, .test, .invalid) count: planted data has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from evalsi_pack_safety.findings import Finding

KIND = "email"
MAX_LOCAL = 64
MAX_DOMAIN = 253

_LOCAL_MARKS = frozenset("._%+-'")
_SET_ASIDE = frozenset(("example", "test", "invalid"))
# In Chinese and Japanese no blank stands between an address and what comes before and after it.
_LATIN_END = "\u0250"
_SPELT_OUT = re.compile(
    r"(?<![\w.%+-])[\w%+-]{1,40}(?:\.[\w%+-]{1,40}){0,4} ?[\[(] ?at ?[\])] ?"
    r"(?:[\w-]{1,40} ?(?:[\[(] ?dot ?[\])]|\.) ?){1,4}[a-z]{2,24}(?!\w)",
    re.IGNORECASE,
)
_SPELT_MARK = re.compile(r"[\[(] ?[Aa][Tt] ?[\])]")
_SPELT_AT = re.compile(r" ?[\[(] ?at ?[\])] ?", re.IGNORECASE)
_SPELT_DOT = re.compile(r" ?[\[(] ?dot ?[\])] ?", re.IGNORECASE)
_PATH = re.compile(r":(?:[\w~.-]{1,64})?/[\w.-]")
_USER_INFO = re.compile(r"://[^\s/@]{0,100}\Z")
_MESSAGE_ID = re.compile(r"(?:message-id|in-reply-to|references)\W{1,4}\Z", re.IGNORECASE)


def emails(text: str, _label: str = "") -> Iterator[Finding]:
    """The addresses in a readable text, also those that are spelt out: name [at] example [dot] org."""
    at = text.find("@")
    while at >= 0:
        found = _around(text, at)
        if found is not None:
            yield found
        at = text.find("@", at + 1)
    if _SPELT_MARK.search(text):
        for match in _SPELT_OUT.finditer(text):
            local, _, domain = _SPELT_AT.sub("@", match[0]).partition("@")
            address = _valid(local, _SPELT_DOT.sub(".", domain))
            if address:
                yield _finding(match.start(), match.end(), address)


def _around(text: str, at: int) -> Finding | None:
    start = at
    while start and at - start < MAX_LOCAL and _of_local(text[start - 1], text[at - 1]):
        start -= 1
    if start and at - start == MAX_LOCAL and _of_local(text[start - 1], text[at - 1]):
        return None
    while start < at and text[start] in _LOCAL_MARKS:
        start += 1
    end = at + 1
    most = min(len(text), end + MAX_DOMAIN)
    while end < most and _of_domain(text[end], text[at + 1]):
        end += 1
    if start == at or end == at + 1 or _is_no_address(text, start, at, end):
        return None
    labels = text[at + 1 : end].split(".")
    # "Write to jane@example.com.Then wait": what follows a full stop without a blank is no part of it.
    for size in range(len(labels), max(1, len(labels) - 3), -1):
        domain = ".".join(labels[:size])
        address = _valid(text[start:at], domain)
        if address:
            return _finding(start, at + 1 + len(domain), address)
    return None


def _of_local(character: str, last: str) -> bool:
    if character in _LOCAL_MARKS:
        return True
    return character.isalnum() and (character < _LATIN_END or last >= _LATIN_END)


def _of_domain(character: str, first: str) -> bool:
    if character in ".-":
        return True
    return character.isalnum() and (character < _LATIN_END or first >= _LATIN_END)


def _is_no_address(text: str, start: int, at: int, end: int) -> bool:
    """A name of the fediverse, the user of a URL, a place in a repository, or the id of a message."""
    before = text[max(0, start - 120) : start]
    if before[-1:] == "@" or _USER_INFO.search(before) or _MESSAGE_ID.search(before):
        return True
    return text[end : end + 1] == ":" and (text[start:at] == "git" or _PATH.match(text, end) is not None)


def _valid(local: str, domain: str) -> str | None:
    head, dot, top = domain.casefold().rpartition(".")
    if not dot or not _is_top_level(top):
        return None
    from email_validator import EmailNotValidError, validate_email  # 45 ms that only an @ need pay.

    try:
        # What is set aside, the library refuses for that alone; under another name it looks at the rest.
        checked = validate_email(
            f"{local}@{head}.com" if top in _SET_ASIDE else f"{local}@{domain}", check_deliverability=False
        )
    except EmailNotValidError:
        return None
    normalized: str = checked.normalized.casefold()
    return f"{normalized.removesuffix('.com')}.{top}" if top in _SET_ASIDE else normalized


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList  # 40 ms that only an @ need pay.

    return PublicSuffixList(accept_unknown=False, only_icann=True)


def _is_top_level(label: str) -> bool:
    return label in _SET_ASIDE or (bool(label) and _suffixes().publicsuffix(label) is not None)


def _finding(start: int, end: int, address: str) -> Finding:
    local, _, domain = address.partition("@")
    return Finding(KIND, start, end, f"{local[0]}…@{domain}", (address, f"@{domain}"))
