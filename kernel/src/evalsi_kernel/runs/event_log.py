"""The log of a run: what was generated and scored, item by item, appended as it comes and never changed.

What was appended survives the end of the process, however it ends. A damaged frame is skipped; the reader goes on at
the next whole one. Damage after which no whole frame follows, such as a frame that was being written, is cut off.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.atomic_file import as_output_error

MAGIC = b"evalsi-run-1\n"
HINT = "Free some space, or run elsewhere."
NOTE, GENERATED, SCORED, REPLY = 0, 1, 2, 3
_HEAD = struct.Struct(">IIBBI")
"""Length of the body, CRC-32 of all that follows it, kind, flag, item."""
_CHECKED_FROM = 8
_MAY_BEGIN = re.compile(rb"(?=[\x00-\x1f][\s\S]{7}[\x00-\x03][\x00\x01])")
"""Where a head may begin: a length below 512 MiB, then after its rest and the checksum a kind and a flag."""
_READ_BYTES = 1024
"""Most frames are shorter, so that they are read in one go."""

Event = tuple[int, int, bool, int]
"""A frame without its body: its offset in the file, its kind, whether it tells of an error, its item or 0."""


class EventLog:
    """The log in a file of its own, opened for reading and appending by one process.

    Args:
        path: of the file; it is made where there is none.

    Attributes:
        dropped_bytes: how many of the file's last bytes were no whole frame and were cut off by `events`.
        written_at: when something was last written to it, before it was opened, in seconds since the epoch.
        damaged: offset and size in bytes of each damaged place between whole frames, as `events` last found them.

    Raises:
        ConfigError: `run.log`; the file is no log, or of another version.
        OutputError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.dropped_bytes = 0
        self.damaged: list[tuple[int, int]] = []
        with as_output_error(path, HINT):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            before = os.fstat(self._file)
            self._end, self.written_at = before.st_size, before.st_mtime
            if self._end < len(MAGIC):
                os.ftruncate(self._file, 0)
                os.pwrite(self._file, MAGIC, 0)
                self._end = len(MAGIC)
        if os.pread(self._file, len(MAGIC), 0) != MAGIC:
            os.close(self._file)
            raise ConfigError(f"{path} is no log of a run of this version.", "Begin anew with --fresh.", code="run.log")

    def events(self) -> Iterator[Event]:
        """Yield every whole frame from the first on; what follows the last one is cut off."""
        size, at = self._end, len(MAGIC)
        self.damaged = []
        if size > at:
            with mmap.mmap(self._file, size, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
                head_size, unpack, crc32 = _HEAD.size, _HEAD.unpack_from, zlib.crc32
                while at + head_size <= size:
                    length, crc, kind, flag, item = unpack(data, at)
                    end = at + head_size + length
                    if end > size or crc32(view[at + _CHECKED_FROM : end]) != crc:
                        found = _next_whole(data, view, at, size)
                        if found is None:
                            break
                        self.damaged.append((at, found - at))
                        at = found
                        continue
                    yield at, kind, flag != 0, item
                    at = end
        if at < size:
            os.ftruncate(self._file, at)
            self._end = at
            self.dropped_bytes += size - at

    def append(self, kind: int, item: int, body: Any, *, failed: bool = False) -> int:
        """Append a frame; returns its offset. Raises `OutputError` when the disk is full; the log is then as before."""
        packed = msgpack.packb(body, use_bin_type=True)
        checked = _HEAD.pack(0, 0, kind, failed, item)[_CHECKED_FROM:] + packed
        frame = struct.pack(">II", len(packed), zlib.crc32(checked)) + checked
        at = self._end
        with as_output_error(self._path, HINT):
            written = os.pwrite(self._file, frame, at)
            while written < len(frame):
                written += os.pwrite(self._file, frame[written:], at + written)
        self._end = at + len(frame)
        return at

    def read(self, offset: int) -> Any:
        """The body of the frame at an offset."""
        frame = os.pread(self._file, _READ_BYTES, offset)
        end = _HEAD.size + _HEAD.unpack_from(frame)[0]
        if end > len(frame):
            frame = os.pread(self._file, end, offset)
        return msgpack.unpackb(frame[_HEAD.size : end], strict_map_key=False)

    def sync(self) -> None:
        """Have the disk hold what the system holds; raises `OutputError`."""
        with as_output_error(self._path, HINT):
            os.fdatasync(self._file)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)


def _next_whole(data: mmap.mmap, view: memoryview, at: int, size: int) -> int | None:
    """The offset of the first whole frame after a damaged one; None where none follows."""
    if at + _HEAD.size <= size:
        # First where the damaged frame says that it ends: nothing inside its body is taken for a frame.
        end: int = at + _HEAD.size + _HEAD.unpack_from(data, at)[0]
        if _is_whole(data, view, end, size):
            return end
    places = (found.start() for found in _MAY_BEGIN.finditer(view, at + 1))
    return next((place for place in places if _is_whole(data, view, place, size)), None)


def _is_whole(data: mmap.mmap, view: memoryview, at: int, size: int) -> bool:
    if at + _HEAD.size > size:
        return False
    length, crc, kind, flag, _ = _HEAD.unpack_from(data, at)
    end = at + _HEAD.size + length
    is_known: bool = kind <= REPLY and flag <= 1 and end <= size
    return is_known and zlib.crc32(view[at + _CHECKED_FROM : end]) == crc
