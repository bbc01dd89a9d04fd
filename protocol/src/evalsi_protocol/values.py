"""Check that a value can be encoded: JSON types, finite floats, text keys, bounded depth.

The codec does not check, for speed. Check untrusted values here before encoding them.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from math import isfinite
from typing import Any, Final

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.limits import MAX_DEPTH

ENVELOPE_DEPTH: Final = 8
"""Maximum number of levels that the protocol's maps and arrays add around a value."""

_PLAIN: Final = frozenset({str, int, bool, type(None)})
_PLAIN_OR_BYTES: Final = _PLAIN | {bytes}
_PLAIN_OR_FLOAT: Final = _PLAIN | {float}
_FEW: Final = 16
"""Up to this number, elements are checked one by one; larger collections are first checked by their set of types."""


def check_value(value: Any, *, allow_bytes: bool = False, max_depth: int = MAX_DEPTH - ENVELOPE_DEPTH) -> None:
    """Check that a value can be encoded.

    Args:
        value: value from an evaluator or a user.
        allow_bytes: allow `bytes`, for blobs.
        max_depth: maximum nesting depth of arrays and maps.

    Raises:
        LocalMisuse: `protocol.unencodable` for a float that is not finite, a key that is not text, a type that JSON
            does not have, or too deep nesting.
    """
    _check(value, _PLAIN_OR_BYTES if allow_bytes else _PLAIN, max_depth)


def _check(value: Any, plain: Set[object], max_depth: int) -> None:
    kind = type(value)
    if kind in plain:
        return
    if isinstance(value, float):
        if not isfinite(value):
            raise _unencodable(f"the number {value} is not finite")
    elif isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise _unencodable(f"a map has the key {key!r:.80}, which is not text")
        _check_elements(value.values(), plain, max_depth)
    elif isinstance(value, (list, tuple)):
        _check_elements(value, plain, max_depth)
    elif not isinstance(value, (str, int)):
        raise _unencodable(f"a {kind.__name__} is not text, a number, a list or a map")


def _check_elements(values: Collection[Any], plain: Set[object], max_depth: int) -> None:
    if max_depth <= 0:
        raise _unencodable("it is nested too deep")
    if len(values) > _FEW and _are_plain(values):
        return
    for value in values:
        if type(value) not in plain:
            _check(value, plain, max_depth - 1)


def _are_plain(values: Collection[Any]) -> bool:
    kinds = set(map(type, values))
    return kinds <= _PLAIN_OR_FLOAT and all(isfinite(number) for number in values if type(number) is float)


def _unencodable(what: str) -> LocalMisuse:
    return LocalMisuse(
        WireError(
            "protocol.unencodable",
            f"A value cannot be encoded: {what}.",
            "Use text, finite numbers within 64 bits, lists and maps with text keys.",
            "protocol",
        )
    )
