"""Owns the streaming decompression of gzip and zstd, archives of several members or frames included.

A cut-off archive is an error, and so is an empty one; no more is unpacked at once than was asked for.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterator
from gzip import BadGzipFile, GzipFile
from typing import IO, Protocol, cast

from evalsi_kernel.errors import DatasetError


class Compressed(Protocol):
    """The bytes of an archive, and how many were read."""

    position_bytes: int

    def read(self, size_bytes: int) -> bytes: ...


def decompress(raw: Compressed, compression: str, name: str, block_bytes: int) -> Iterator[bytes]:
    """The bytes in an archive.

    Args:
        raw: those of the archive.
        compression: "gzip" or "zstd".
        name: that of the data, for errors.
        block_bytes: the size of the blocks that it gives, but for the last one.

    Raises:
        DatasetError: it is cut off or damaged.
    """
    archive, damages = (_gzip if compression == "gzip" else _zstd)(cast(IO[bytes], raw))
    with archive:
        try:
            while block := archive.read(block_bytes):
                yield block
        except EOFError as cause:
            raise _cut_off(compression, raw, name) from cause
        except damages as cause:
            raise DatasetError(
                f"{name}, before byte {raw.position_bytes}: "
                f"this is no {compression} archive, or a damaged one ({cause}).",
                "Make it again, fetch it again, or take the compression's end off its name.",
            ) from cause
    if raw.position_bytes == 0:
        raise _cut_off(compression, raw, name)


# Their types ask of a file what only writing or a rewind needs.
def _gzip(raw: IO[bytes]) -> tuple[GzipFile, tuple[type[Exception], ...]]:
    return GzipFile(fileobj=raw, mode="rb"), (BadGzipFile, zlib.error)


def _zstd(raw: IO[bytes]) -> tuple[IO[bytes], tuple[type[Exception], ...]]:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError, ZstdFile
    else:
        from backports.zstd import ZstdError, ZstdFile

    return cast(IO[bytes], ZstdFile(raw)), (ZstdError,)


def _cut_off(compression: str, raw: Compressed, name: str) -> DatasetError:
    return DatasetError(
        f"{name}, byte {raw.position_bytes}: the {compression} archive is cut off here.",
        "Make it again, or fetch it whole.",
    )
