"""Encode and decode frames.

A frame is a u32 big-endian length and one msgpack array `[kind, id, method, body, meta]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from itertools import pairwise
from typing import Any, Final, NamedTuple

import msgpack

from evalsi_protocol.errors import LocalMisuse, Violation, WireError
from evalsi_protocol.limits import MAX_FRAME_BYTES, MAX_METHOD_CHARS

LENGTH_BYTES: Final = 4
_ARRAY_OF_FIVE: Final = b"\x95"
# First bytes of a timestamp (extension -1): a length or fixext marker, then the type.
_TIMESTAMP_MARKS: Final = (b"\xd6\xff", b"\xd7\xff", b"\x04\xff", b"\x08\xff", b"\x0c\xff")
_FEW = 64


class Kind(IntEnum):
    """The kind of a frame."""

    REQUEST = 0
    RESPONSE = 1
    ERROR = 2
    EVENT = 3


class Frame(NamedTuple):
    """One decoded frame; `id` is 0 for an event."""

    kind: int
    id: int
    method: str
    body: dict[str, Any]
    meta: dict[str, Any]


class Packed(bytes):
    """Bytes that are already msgpack. The codec copies them unchanged."""

    __slots__ = ()


def pack(value: Any) -> bytes:
    """Encode one value.

    Raises:
        LocalMisuse: `protocol.unencodable` for an integer beyond 64 bits, a lone surrogate, nesting beyond the codec's
            limit, or a type that JSON does not have. `values.check_value` finds invalid values that the codec accepts.
    """
    try:
        packed: bytes = msgpack.packb(value, use_bin_type=True, strict_types=False)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LocalMisuse(
            WireError(
                "protocol.unencodable",
                f"A value cannot be encoded: {error}.",
                "Use text, finite numbers within 64 bits, lists and maps with text keys.",
                "protocol",
            )
        ) from error
    return packed


def pack_array(packed_elements: Iterable[bytes], count: int) -> Packed:
    """Return an array of `count` elements that are already msgpack."""
    return Packed(b"".join([msgpack.Packer().pack_array_header(count), *packed_elements]))


def split_array(packed: bytes) -> list[bytes]:
    """Return the msgpack of each element of an array that was packed by this module."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(packed))
    unpacker.feed(packed)
    count, starts = unpacker.read_array_header(), [unpacker.tell()]
    for _ in range(count):
        unpacker.skip()
        starts.append(unpacker.tell())
    return [packed[start:end] for start, end in pairwise(starts)]


def pack_map(entries: dict[str, Any]) -> Packed:
    """Return a map whose values may be `Packed`."""
    parts = [msgpack.Packer().pack_map_header(len(entries))]
    for key, value in entries.items():
        parts.append(pack(key))
        parts.append(value if isinstance(value, Packed) else pack(value))
    return Packed(b"".join(parts))


def encode_frame(kind: int, frame_id: int, method: str, body: Any, meta: dict[str, Any] | None = None) -> bytes:
    """Return one frame with its length prefix. `body` is a map or `Packed`."""
    if isinstance(body, Packed):
        head, packed_meta = (pack(int(kind)), pack(frame_id), pack(method)), pack(meta or {})
        payload = b"".join((_ARRAY_OF_FIVE, *head, body, packed_meta))
    else:
        payload = pack([int(kind), frame_id, method, body, meta or {}])
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


class FrameReader:
    """Split a byte stream into frames."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()

    @property
    def pending_bytes(self) -> int:
        """Number of buffered bytes of an incomplete frame."""
        return len(self._buffer)

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[Frame]:
        """Add bytes, and yield every frame that is complete.

        Raises:
            Violation: `protocol.frame` for a frame that is too long or is not msgpack's array of five,
                `protocol.kind` for an unknown kind.
        """
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            while len(buffer) - start >= LENGTH_BYTES:
                length = int.from_bytes(buffer[start : start + LENGTH_BYTES], "big")
                if length > self.max_frame_bytes:
                    raise _violation(
                        f"A frame has {length:,} bytes; the limit is {self.max_frame_bytes:,}.",
                        "Send fewer or smaller records in one frame.",
                    )
                end = start + LENGTH_BYTES + length
                if len(buffer) < end:
                    break
                # Consume before decoding, so that a consumer which stops early loses no frame.
                payload = bytes(memoryview(buffer)[start + LENGTH_BYTES : end])
                start = end
                yield decode_payload(payload)
        finally:
            del buffer[:start]


def decode_payload(payload: bytes) -> Frame:
    """Decode a frame without its length prefix. Raises `Violation` as `FrameReader.feed` does."""
    try:
        parts = msgpack.unpackb(payload, raw=False, strict_map_key=True, ext_hook=_refuse_extension)
        if _may_hold_timestamps(payload):
            _refuse_timestamps(parts)
    # msgpack raises a ValueError for malformed input, except for too deep nesting (StackError) and for wrong lengths
    # (MemoryError).
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError, MemoryError) as error:
        reason = str(error) or type(error).__name__
        raise _violation(f"A frame is not valid msgpack: {reason}.", "Print to stderr, never to stdout.") from error
    if not isinstance(parts, list) or len(parts) != 5:
        raise _violation("A frame is not an array of five.", "Send [kind, id, method, body, meta].")
    kind, frame_id, method, body, meta = parts
    if type(kind) is not int or not 0 <= kind <= 3:
        shown = str(kind) if type(kind) is int else f"of type {type(kind).__name__}"
        hint = "Use 0 request, 1 response, 2 error or 3 event."
        raise Violation(WireError("protocol.kind", f"A frame has the unknown kind {shown}.", hint, "protocol"))
    if type(frame_id) is not int or not isinstance(method, str) or not 0 < len(method) <= MAX_METHOD_CHARS:
        raise _violation(
            f"A frame's id is not an integer, or its method is not text of 1 to {MAX_METHOD_CHARS} characters.",
            "Send [kind, id, method, body, meta].",
        )
    if not isinstance(body, dict) or not isinstance(meta, dict):
        raise _violation(f"The body or meta of a {method!r} frame is not a map.", "Send maps with text keys.")
    return Frame(kind, frame_id, method, body, meta)


def _refuse_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"it has the extension type {code}")


def _may_hold_timestamps(payload: bytes) -> bool:
    """Return whether the payload may contain a timestamp. UTF-8 text has no 0xff, so most scans are quick."""
    place = 0
    for _ in range(_FEW):
        place = payload.find(b"\xff", place + 1)
        if place < 0:
            return False
        if payload[place - 1 : place + 1] in _TIMESTAMP_MARKS:
            return True
    return any(payload.find(mark, place) >= 0 for mark in _TIMESTAMP_MARKS)


def _refuse_timestamps(parts: Any) -> None:
    """Raise `ValueError` for a timestamp, which bypasses msgpack's hook. Not recursive: the peer chose the depth."""
    to_see = [parts]
    while to_see:
        value = to_see.pop()
        if isinstance(value, msgpack.Timestamp):
            raise ValueError("it has the extension type -1")
        if isinstance(value, list):
            to_see += value
        elif isinstance(value, dict):
            to_see += value.values()


def _violation(message: str, hint: str) -> Violation:
    return Violation(WireError("protocol.frame", message, hint, "protocol"))
