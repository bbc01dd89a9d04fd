"""Bytes as they come, cut into lines; one that grows too long is told instead of kept.

It must not know what stands in a line.
"""

from __future__ import annotations

from collections.abc import Iterator


class TooLong(Exception):
    """A line is longer than is read."""


class LineStream:
    """Lines of a stream.

    Args:
        most_bytes: of a line.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def fed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are whole now, without their ends; raises `TooLong`."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._keep(line)
            yield b"".join(self._parts)
            self._parts, self._size = [], 0
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
        if self._size > self._most_bytes:
            raise TooLong
