"""Read the body of an HTTP response within size limits, before and after decompression."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from typing import Final

MAX_REPLY_BYTES: Final = 32 * 2**20
"""Maximum size of one response, before and after decompression."""
ACCEPT_ENCODING: Final = "gzip, deflate"
"""Value of `Accept-Encoding`: codings that can be decompressed in bounded steps."""
_IDENTITY: Final = ("", "identity")
_STEP_BYTES: Final = 2**16
_THREAD_STEP_BYTES: Final = 2**20
_GZIP: Final = zlib.MAX_WBITS | 16
_MAX_MEMBERS: Final = 1_000
"""Maximum number of concatenated gzip members; each costs a copy of the data after it."""


class ReplyTooLarge(Exception):
    """A response exceeds its size limit.

    Args:
        limit_bytes: the limit.
    """

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"more than {limit_bytes // 2**20:,} MiB")
        self.limit_bytes = limit_bytes


class BadEncoding(Exception):
    """A response has an unsupported coding, or its compressed data is corrupt."""


async def reply_pieces(pieces: AsyncIterator[bytes], encoding: str, limit_bytes: int) -> AsyncIterator[bytes]:
    """Yield a body in decompressed pieces.

    Data with a high compression ratio is decompressed in a thread, one bounded step at a time.

    Args:
        pieces: chunks of the body from the network, still compressed.
        encoding: the `Content-Encoding` header; "" where there is none.
        limit_bytes: maximum size of the body, both compressed and decompressed.

    Raises:
        ReplyTooLarge: the body exceeds the limit.
        BadEncoding: it cannot be decompressed.
    """
    decoder = None if _is_plain(encoding) else _Decoder(encoding)
    came = expanded = 0
    async for piece in pieces:
        came += len(piece)
        if came > limit_bytes:
            raise ReplyTooLarge(limit_bytes)
        if decoder is None:
            yield piece
            continue
        decoder.feed(piece)
        part = decoder.read(_STEP_BYTES)
        while part:
            expanded += len(part)
            if expanded > limit_bytes:
                raise ReplyTooLarge(limit_bytes)
            yield part
            part = await asyncio.to_thread(decoder.read, _THREAD_STEP_BYTES) if decoder.is_pending else b""
    if decoder is not None:
        decoder.check_end()


async def whole_reply(
    pieces: AsyncIterator[bytes], encoding: str, limit_bytes: int = MAX_REPLY_BYTES, length: int | None = None
) -> bytes:
    """Return a whole decompressed body.

    Args:
        pieces: as for `reply_pieces`.
        encoding: as for `reply_pieces`.
        limit_bytes: as for `reply_pieces`.
        length: the `Content-Length`; a body that is announced as too large is not read.

    Raises:
        ReplyTooLarge: the body exceeds the limit.
        BadEncoding: it cannot be decompressed.
    """
    if length is not None and length > limit_bytes:
        raise ReplyTooLarge(limit_bytes)
    return b"".join([part async for part in reply_pieces(pieces, encoding, limit_bytes)])


def _is_plain(encoding: str) -> bool:
    return encoding.strip().lower() in _IDENTITY


class _Decoder:
    """Decompress a stream in steps of bounded size.

    Args:
        encoding: the `Content-Encoding`.

    Raises:
        BadEncoding: it is neither gzip nor deflate.
    """

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        if name not in ("gzip", "x-gzip", "deflate"):
            raise BadEncoding(f'Content-Encoding "{encoding[:60]}", which was not asked for')
        self._is_gzip = name != "deflate"
        self._inflater = zlib.decompressobj(_GZIP if self._is_gzip else zlib.MAX_WBITS)
        self._has_begun = False
        self._members = 1
        self._waiting = b""
        self._is_filled = False  # The last step filled its bound, so output may be left inside zlib.

    @property
    def is_pending(self) -> bool:
        """Whether more can be read without further input."""
        return bool(self._waiting) or self._is_filled

    def feed(self, piece: bytes) -> None:
        """Add compressed data."""
        self._waiting += piece

    def read(self, max_bytes: int) -> bytes:
        """Return up to `max_bytes` of decompressed data; b"" where more input is needed."""
        while self.is_pending:
            if self._inflater.eof:
                self._is_filled = False
                if not self._is_gzip or not self._waiting.startswith(b"\x1f"):
                    self._waiting = b""  # Padding behind the data, which HTTP clients ignore.
                    return b""
                self._members += 1
                if self._members > _MAX_MEMBERS:
                    raise BadEncoding(f"more than {_MAX_MEMBERS:,} gzip members")
                self._inflater = zlib.decompressobj(_GZIP)
            if not self._has_begun and not self._is_gzip and self._waiting[0] & 0x0F != 8:
                # Many servers send raw deflate data, without the header of zlib that RFC 9110 asks for.
                self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
            self._has_begun = True
            try:
                part = self._inflater.decompress(self._waiting, max_bytes)
            except zlib.error as cause:
                raise BadEncoding(f"compressed data that is damaged ({cause})") from cause
            self._is_filled = len(part) == max_bytes
            self._waiting = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
            if part:
                return part
        return b""

    def check_end(self) -> None:
        """Raise `BadEncoding` where the data ends before its end mark."""
        if self._has_begun and not self._inflater.eof:
            raise BadEncoding("compressed data that ends too early")
