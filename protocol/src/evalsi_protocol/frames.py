"""The codec: frames to bytes and bytes to frames.

A frame is a u32 big-endian length and one msgpack array `[kind, id, method, body, meta]`.
It must not know which frame may follow which; that is the machine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from typing import Any, Final, NamedTuple

import msgpack

from evalsi_protocol.errors import LocalMisuse, Violation, WireError
from evalsi_protocol.limits import MAX_FRAME_BYTES

LENGTH_BYTES: Final = 4
_ARRAY_OF_FIVE: Final = b"\x95"
_EMPTY_MAP: Final = b"\x80"


class Kind(IntEnum):
    """What a frame is."""

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
    """Bytes that are msgpack already: the codec copies them as they are."""

    __slots__ = ()


def pack(value: Any) -> bytes:
    """Encode one value.

    Raises:
        LocalMisuse: `protocol.unencodable` when the value has no wire form: an integer beyond 64 bits, a lone
            surrogate, nesting beyond the codec's limit, or a type that is not JSON's.
    """
    try:
        packed: bytes = msgpack.packb(value, use_bin_type=True, strict_types=False)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise LocalMisuse(
            WireError(
                "protocol.unencodable",
                f"A value cannot be put on the wire: {error}.",
                "Use text, finite numbers within 64 bits, lists and maps with text keys.",
                "protocol",
            )
        ) from error
    return packed


def pack_array(packed_elements: Iterable[bytes], count: int) -> Packed:
    """An array of `count` elements that are msgpack already."""
    return Packed(_array_header(count) + b"".join(packed_elements))


def pack_map(entries: dict[str, Any]) -> Packed:
    """A map whose values may be `Packed`."""
    parts = [_map_header(len(entries))]
    for key, value in entries.items():
        parts.append(pack(key))
        parts.append(value if isinstance(value, Packed) else pack(value))
    return Packed(b"".join(parts))


def encode_frame(kind: int, frame_id: int, method: str, body: Any, meta: dict[str, Any] | None = None) -> bytes:
    """One frame, with its length in front; `body` is a map or `Packed`."""
    packed_body = body if isinstance(body, Packed) else pack(body)
    packed_meta = pack(meta) if meta else _EMPTY_MAP
    payload = b"".join((_ARRAY_OF_FIVE, pack(int(kind)), pack(frame_id), pack(method), packed_body, packed_meta))
    return len(payload).to_bytes(LENGTH_BYTES, "big") + payload


class FrameReader:
    """Cuts a byte stream into frames, however it arrives in pieces."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self.max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()

    @property
    def pending_bytes(self) -> int:
        """How many bytes of an unfinished frame are held."""
        return len(self._buffer)

    def feed(self, data: bytes | bytearray | memoryview) -> Iterator[Frame]:
        """Take in bytes and give every frame that is now whole.

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
                        f"A frame of {length:,} bytes came; the limit is {self.max_frame_bytes:,}.",
                        "Send fewer or smaller records in one frame.",
                    )
                end = start + LENGTH_BYTES + length
                if len(buffer) < end:
                    break
                # Consume before decoding, so that a consumer which stops early has lost nothing.
                payload = bytes(memoryview(buffer)[start + LENGTH_BYTES : end])
                start = end
                yield decode_payload(payload)
        finally:
            del buffer[:start]


def decode_payload(payload: bytes) -> Frame:
    """Decode a frame without its length; raises `Violation` as `FrameReader.feed` does."""
    try:
        parts = msgpack.unpackb(payload, raw=False, strict_map_key=True)
    # msgpack reports every malformed input as a ValueError of some kind, but for too deep nesting (StackError).
    except (ValueError, msgpack.exceptions.UnpackException, RecursionError) as error:
        reason = str(error) or type(error).__name__
        raise _violation(f"A frame is not valid msgpack: {reason}.", "Print to stderr, never to stdout.") from error
    if not isinstance(parts, list) or len(parts) != 5:
        raise _violation("A frame is not an array of five.", "Send [kind, id, method, body, meta].")
    kind, frame_id, method, body, meta = parts
    if type(kind) is not int or not 0 <= kind <= 3:
        raise Violation(
            WireError(
                "protocol.kind",
                f"A frame has the unknown kind {kind!r}.",
                "Use 0 request, 1 response, 2 error or 3 event.",
                "protocol",
            )
        )
    if type(frame_id) is not int or not isinstance(method, str):
        raise _violation("A frame's id is no integer or its method no text.", "Send [kind, id, method, body, meta].")
    if not isinstance(body, dict) or not isinstance(meta, dict):
        raise _violation(f"The body or meta of a {method!r} frame is not a map.", "Send maps with text keys.")
    return Frame(kind, frame_id, method, body, meta)


def _violation(message: str, mend: str) -> Violation:
    return Violation(WireError("protocol.frame", message, mend, "protocol"))


def _array_header(count: int) -> bytes:
    if count < 16:
        return bytes((0x90 | count,))
    if count < 65536:
        return b"\xdc" + count.to_bytes(2, "big")
    return b"\xdd" + count.to_bytes(4, "big")


def _map_header(count: int) -> bytes:
    if count < 16:
        return bytes((0x80 | count,))
    return b"\xde" + count.to_bytes(2, "big")
