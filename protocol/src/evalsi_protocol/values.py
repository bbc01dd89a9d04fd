"""Which values may travel: JSON's types, finite floats, text keys, bounded depth.

The codec is quick because it trusts its caller; whoever hands it a stranger's value asks here first.
"""

from __future__ import annotations

from collections.abc import Collection, Set
from math import isfinite
from typing import Any, Final

from evalsi_protocol.errors import LocalMisuse, WireError
from evalsi_protocol.limits import MAX_DEPTH

ENVELOPE_DEPTH: Final = 8
"""How many levels the protocol's own maps and arrays may put around a value."""

_PLAIN: Final = frozenset({str, int, bool, type(None)})
_PLAIN_OR_BYTES: Final = _PLAIN | {bytes}
_PLAIN_OR_FLOAT: Final = _PLAIN | {float}
_FEW: Final = 16
"""Of so many elements each is looked at by itself; more are first asked together what they are."""


def check_value(value: Any, *, allow_bytes: bool = False, max_depth: int = MAX_DEPTH - ENVELOPE_DEPTH) -> None:
    """Make sure that the peer will take a value.

    Args:
        value: what an evaluator or a user gave.
        allow_bytes: let `bytes` through, as blobs are.
        max_depth: how many arrays and maps may stand in one another.

    Raises:
        LocalMisuse: `protocol.unencodable` for a float that is not finite, a key that is no text, a type that is not
            JSON's, or nesting that is too deep.
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
        raise _unencodable(f"a {kind.__name__} is no text, number, list or map")


def _check_elements(values: Collection[Any], plain: Set[object], max_depth: int) -> None:
    if max_depth <= 0:
        raise _unencodable("it nests too deep")
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
            f"A value cannot be put on the wire: {what}.",
            "Use text, finite numbers within 64 bits, lists and maps with text keys.",
            "protocol",
        )
    )
