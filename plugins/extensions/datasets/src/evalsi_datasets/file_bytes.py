"""Owns the bytes of a file, a pipe or standard input: checked when opened, hashed as they are read, decompressed.

It must not know what the bytes hold.
"""

from __future__ import annotations

import errno
import hashlib
import os
import select
import stat
from collections.abc import Iterator
from io import FileIO

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import DatasetError

BLOCK_BYTES = 64 * 1024
_NO_CHARACTER = b" \t\r\n\xef\xbb\xbf"


class FileBytes:
    """Bytes that are read once, in blocks of at most `BLOCK_BYTES` before they are decompressed.

    Args:
        path: of the file, or the number of an open descriptor.
        name: what it is called in errors.
        compression: "gzip", "zstd", or "" for none.

    Raises:
        DatasetError: there is no such file, it is a folder, or it may not be read.
    """

    def __init__(self, path: str | int, name: str, compression: str = "", block_bytes: int = BLOCK_BYTES) -> None:
        self.path = path
        self.name = name
        self.compression = compression
        self.is_plain_file = _check(path, name)
        self.may_block = not self.is_plain_file
        self.head = b""
        """The first bytes after decompression, once they are read."""
        self._block_bytes = block_bytes
        self._hash = hashlib.sha256()
        self._is_whole = False
        self._peeked: list[bytes] = []
        self._raw: HashedReader | None = None
        self._size_bytes = 0
        self._stream = self._read()

    def blocks(self) -> Iterator[bytes]:
        """The bytes, decompressed.

        Raises:
            DatasetError: they cannot be read or decompressed.
        """
        yield from self._peeked
        self._peeked.clear()
        yield from self._stream

    def reopened(self) -> FileBytes | None:
        """Return the same bytes from their beginning; None of what can be read only once."""
        if not self.is_plain_file or not isinstance(self.path, str):
            return None
        return FileBytes(self.path, self.name, self.compression, self._block_bytes)

    def first_character(self) -> bytes:
        """The first byte that is neither white space nor part of a byte order mark; none where there is no such one.

        It reads as much as it takes; `blocks` gives that first.
        """
        for block in self._stream:
            self._peeked.append(block)
            if found := block.lstrip(_NO_CHARACTER):
                return found[:1]
        return b""

    def first_line(self, most_bytes: int) -> bytes:
        """The first line that is not blank; none where it does not end within so many bytes, and some."""
        seen = b"".join(self._peeked)
        while b"\n" not in (line := seen.lstrip(_NO_CHARACTER)) and len(line) < most_bytes:
            block = next(self._stream, b"")
            if not block:
                return b""
            self._peeked.append(block)
            seen += block
        return line.partition(b"\n")[0] if b"\n" in line else b""

    def _read(self) -> Iterator[bytes]:
        try:
            with FileIO(self.path, closefd=isinstance(self.path, str)) as file:
                raw = self._raw = HashedReader(file, self._hash)
                self._size_bytes = os.fstat(file.fileno()).st_size if self.is_plain_file else 0
                for block in self._decompressed(raw):
                    if len(self.head) < 4:
                        self.head = (self.head + block[:4])[:4]
                    yield block
        except OSError as cause:
            raise _unreadable(self.name, cause) from cause
        self._is_whole = True

    def share(self) -> float | None:
        """Return which share of a plain file has been read, before decompression; None of others, and of none yet."""
        if self._raw is None or not self._size_bytes:
            return None
        return min(1.0, self._raw.position_bytes / self._size_bytes) or None

    def sha256(self) -> str | None:
        """Of all bytes as they are in the file, in hex; None unless they were read to their end."""
        return self._hash.hexdigest() if self._is_whole else None

    def _decompressed(self, raw: HashedReader) -> Iterator[bytes]:
        if not self.compression:
            return iter(lambda: raw.read(self._block_bytes), b"")
        from .decompression import decompress

        return decompress(raw, self.compression, self.name, self._block_bytes)


class HashedReader:
    """Reads a file and hashes what it reads."""

    def __init__(self, file: FileIO, sha256: hashlib._Hash) -> None:
        self._file = file
        self._hash = sha256
        self.position_bytes = 0

    def read(self, size_bytes: int) -> bytes:
        """At most so many bytes; none at the end."""
        # A descriptor that someone else made non-blocking has no data yet, which is not the end.
        while (block := self._file.read(size_bytes)) is None:
            select.select([self._file], [], [])
        self._hash.update(block)
        self.position_bytes += len(block)
        return block


def _check(path: str | int, name: str) -> bool:
    """Whether it is a plain file, after making sure that it is there and may be read."""
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise DatasetError(
                f"{name} is a folder, not a file.",
                "Name a file in it, or write hf:// before the path of a dataset folder.",
                code="dataset.unreadable",
            )
        if isinstance(path, str):
            if stat.S_ISREG(mode):
                os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
            elif not os.access(path, os.R_OK):
                # Opening a pipe would wait for its writer.
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except ValueError as cause:
        raise DatasetError(
            f"{name!r} is no path: none holds a NUL, or what cannot be encoded.",
            "Check the path.",
            code="dataset.not_found",
        ) from cause
    except FileNotFoundError as cause:
        folder, file_name = os.path.split(str(path))
        near = did_you_mean(file_name, os.listdir(folder or ".")) if os.path.isdir(folder or ".") else ""
        shown = name or '"" (the path is empty)'
        raise DatasetError(f"There is no file {shown}.", near or "Check the path.", code="dataset.not_found") from cause
    except OSError as cause:
        raise _unreadable(name, cause) from cause
    return stat.S_ISREG(mode)


def _unreadable(name: str, cause: OSError) -> DatasetError:
    why = (cause.strerror or str(cause)).lower()
    return DatasetError(f"{name} cannot be read: {why}.", "Check the path and its rights.", code="dataset.unreadable")
