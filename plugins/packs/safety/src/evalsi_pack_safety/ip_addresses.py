"""IP addresses that can be somebody's: public ones, and those set aside for documents, which planted data has.

Private and local addresses, networks, netmasks and public resolvers are nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalsi_pack_safety.edges import JOINED
from evalsi_pack_safety.findings import Finding
from evalsi_pack_safety.nearby_words import ADDRESSES, MONEY_BEFORE, VERSIONS

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

V4 = "ipv4"
V6 = "ipv6"

# Set aside by RFC 5737.
_DOCUMENTS = ("192.0.2.", "198.51.100.", "203.0.113.")
# All of today's public IPv6, addresses for documents among them (RFC 3849, RFC 4291).
_V6_START = "[23]"
_RESOLVERS = frozenset((
    "8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9", "149.112.112.112", "208.67.222.222", "208.67.220.220",
    "2001:4860:4860::8888", "2001:4860:4860::8844", "2606:4700:4700::1111", "2606:4700:4700::1001", "2620:fe::fe",
    "2620:fe::9",
))  # fmt: skip

_QUAD = re.compile(
    rf"[0-9](?<![{JOINED}.].)(?<![{JOINED})][-/].)(?<![<>=!~^][=>].)(?<![#§~^<>].)[0-9]{{0,2}}(?:\.[0-9]{{1,3}}){{3}}"
    rf"(?![{JOINED}])(?!\.[{JOINED}])(?!-[{JOINED}])"
)
# "ip:2001:db8::7": a colon that ends a word, which is no group of an address, is no part of one.
_HEXTETS = re.compile(
    rf"{_V6_START}(?:(?<![{JOINED}:.].)|(?<=[G-Zg-z]:.)|(?<=[A-Za-z]{{5}}:.))[0-9A-Fa-f]{{3}}:[0-9A-Fa-f:]{{2,36}}(?![{JOINED}:])(?!\.[{JOINED}])"
)
_SMALL = 32
_PREFIX = re.compile(r"/([0-9]{1,3})(?![0-9])")
_LIST = re.compile(r"(?: ?(?:,|and|or|to|und|et|y|e|->|–|-|→|и|至) ?){1,2}")
_MONEY_AFTER = re.compile(r" ?(?:€|\$|£|¥|EUR|USD|CHF|%)")


def ip_addresses(text: str, label: str = "") -> Iterator[Finding]:
    """The addresses in a readable text."""
    if text.count(".") >= 3:
        yield from _version_4(text, label)
    if text.count(":") >= 2:
        yield from _version_6(text)


def _version_4(text: str, label: str) -> Iterator[Finding]:
    version_end = -1
    for match in _QUAD.finditer(text):
        start, end = match.span()
        listed = version_end >= 0 and start - version_end <= 8 and _LIST.fullmatch(text, version_end, start)
        if listed or VERSIONS.said(text, start, label) or _is_like_a_version(text, start, match[0], label):
            version_end = end
            continue
        if _MONEY_AFTER.match(text, end) or MONEY_BEFORE.said(text, start):
            continue
        address = _address(match[0])
        if address is not None and not _is_network(text, end, address):
            yield Finding(V4, start, end, f"{match[0].partition('.')[0]}.…", (str(address),))


def _is_like_a_version(text: str, start: int, written: str, label: str) -> bool:
    """Four small numbers, as one address in four thousand has them and most versions, where nothing says "address"."""
    return all(len(part) < 3 and int(part) < _SMALL for part in written.split(".")) and not ADDRESSES.said(
        text, start, label
    )


def _version_6(text: str) -> Iterator[Finding]:
    for match in _HEXTETS.finditer(text):
        written = match[0] if match[0].endswith("::") else match[0].rstrip(":")
        address = _address(written)
        end = match.start() + len(written)
        if address is not None and not _is_network(text, end, address):
            masked = f"{written.partition(':')[0]}:…"
            yield Finding(V6, match.start(), end, masked, (str(address), written.casefold()))


def _address(written: str) -> IPv4Address | IPv6Address | None:
    """The address, where it can be somebody's."""
    import ipaddress

    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return None
    if str(address) in _RESOLVERS or address.is_multicast:
        return None
    if address.version == 6:
        # Python calls the addresses for documents private; they begin as the public ones do.
        return address if address.is_global or address.exploded.startswith("2001:0db8:") else None
    return address if address.is_global or written.startswith(_DOCUMENTS) else None


def _is_network(text: str, end: int, address: IPv4Address | IPv6Address) -> bool:
    """Whether a prefix length follows that makes it the name of a network, with no bit of a host set."""
    prefix = _PREFIX.match(text, end)
    if prefix is None:
        return False
    host_bits = address.max_prefixlen - int(prefix[1])
    return host_bits > 0 and not int(address) & ((1 << host_bits) - 1)
