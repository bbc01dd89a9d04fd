"""The check characters that some tokens carry, so that a made-up one is told from one that was given out.

GitHub, "Behind GitHub's new authentication token formats" (2021), which npm follows; Grafana's `satokengen`; BIP 173
for age's keys.
"""

from __future__ import annotations

from zlib import crc32

_BASE_62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_CHECK_62 = 6
_BECH_32 = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BECH_32_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)


def crc_in_base_62(token: str) -> bool:
    """Whether the last six characters are the CRC-32 of those between them and the prefix, as in ghp_… and npm_…."""
    body = token.partition("_")[2]
    random, check = body[:-_CHECK_62], body[-_CHECK_62:]
    return bool(random) and check == base_62(crc32(random.encode()))


def base_62(number: int) -> str:
    """A CRC-32 in six characters, with leading zeros."""
    digits = ""
    for _ in range(_CHECK_62):
        number, digit = divmod(number, 62)
        digits = _BASE_62[digit] + digits
    return digits


def crc_in_hex(token: str) -> bool:
    """Whether what follows the last underscore is the CRC-32 of what stands before it, low byte first, as in glsa_…."""
    before, _, check = token.rpartition("_")
    return check == crc32(before.encode()).to_bytes(4, "little").hex()


def bech_32(token: str) -> bool:
    """Whether the checksum of a bech32 text holds, as in AGE-SECRET-KEY-1…."""
    prefix, _, data = token.lower().rpartition("1")
    values = [_BECH_32.find(character) for character in data]
    return min(values, default=-1) >= 0 and _polymod(_expanded(prefix) + values) == 1


def bech_32_check(prefix: str, values: list[int]) -> str:
    """The six check characters for a prefix in lower case and its values from 0 to 31."""
    rest = _polymod([*_expanded(prefix), *values, 0, 0, 0, 0, 0, 0]) ^ 1
    return "".join(_BECH_32[rest >> 5 * (5 - place) & 31] for place in range(6))


def _expanded(prefix: str) -> list[int]:
    return [ord(character) >> 5 for character in prefix] + [0] + [ord(character) & 31 for character in prefix]


def _polymod(values: list[int]) -> int:
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for place, generator in enumerate(_BECH_32_GENERATORS):
            check ^= generator if top >> place & 1 else 0
    return check
