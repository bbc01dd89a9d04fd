"""Owns the streaming decompression of gzip and zstd, archives of several members or frames included.

A cut-off archive is an error: neither library says so by itself in every case.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from gzip import BadGzipFile, GzipFile
from typing import Protocol

from evalsi_kernel.errors import DatasetError

# zstandard gives all that a piece holds at once; small pieces keep that small.
_ZSTD_PIECE_BYTES = 8 * 1024
# What `zstd --long` writes at most without --ultra's 31.
_ZSTD_WINDOW_BYTES = 2**27


class Compressed(Protocol):
    """The bytes of an archive, and how many were read."""

    position_bytes: int

    def read(self, size_bytes: int) -> bytes: ...


def gunzip(raw: Compressed, name: str, block_bytes: int) -> Iterator[bytes]:
    """The bytes in a gzip archive, in blocks of `block_bytes`; `DatasetError` where it is cut off or damaged."""
    # Its type asks for `seek` too, which only a rewind needs.
    with GzipFile(fileobj=raw) as archive:  # type: ignore[call-overload]
        try:
            while block := archive.read(block_bytes):
                yield block
        except EOFError as cause:
            raise _cut_off("gzip", raw, name) from cause
        except (BadGzipFile, zlib.error) as cause:
            raise _damaged("gzip", raw, name, cause) from cause


def unzstd(raw: Compressed, name: str, block_bytes: int) -> Iterator[bytes]:
    """The bytes in a zstd archive, in blocks of about `block_bytes`; `DatasetError` where it is cut off or damaged."""
    from zstandard import ZstdDecompressor, ZstdError

    decompressor = ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    frame = None
    # An archive may hold a frame for every record.
    block = bytearray()
    while piece := raw.read(min(block_bytes, _ZSTD_PIECE_BYTES)):
        while piece:
            frame = frame or decompressor.decompressobj()
            try:
                block += frame.decompress(piece)
            except ZstdError as cause:
                raise _damaged("zstd", raw, name, cause) from cause
            piece, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
            if len(block) >= block_bytes:
                yield bytes(block)
                block.clear()
    if block:
        yield bytes(block)
    if frame is not None:
        raise _cut_off("zstd", raw, name)


def _cut_off(kind: str, raw: Compressed, name: str) -> DatasetError:
    return DatasetError(
        f"{name}, byte {raw.position_bytes}: the {kind} archive is cut off here.", "Make it again, or fetch it whole."
    )


def _damaged(kind: str, raw: Compressed, name: str, cause: Exception) -> DatasetError:
    return DatasetError(
        f"{name}, before byte {raw.position_bytes}: this is no {kind} archive, or a damaged one ({cause}).",
        "Make it again, fetch it again, or take the compression's end off its name.",
    )
