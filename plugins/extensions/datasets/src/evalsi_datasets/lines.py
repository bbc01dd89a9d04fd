"""Owns the cutting of a byte stream into lines at LF alone, since JSON text may hold every other line separator.

It must not know what a line holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_LINES = 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Lines that follow one another, without their LF.

    Args:
        first: 1-based number of the first one.
        lines: at least one and at most `MAX_LINES`; a CR before the LF is still there, the byte order mark of the
            first line is not.
        ended: whether the last one ends in LF; False only for the last line of the stream.
    """

    first: int
    lines: list[bytes]
    ended: bool


def line_batches(blocks: Iterable[bytes]) -> Iterator[LineBatch]:
    """All lines, in a batch or more for each block that ends at least one."""
    first = 1
    # A line longer than a block is joined once, when its end is found.
    pieces: list[bytes] = []
    for block in blocks:
        before, newline, after = block.rpartition(b"\n")
        if not newline:
            pieces.append(block)
            continue
        pieces.append(before)
        lines = b"".join(pieces).split(b"\n")
        pieces = [after]
        for start in range(0, len(lines), MAX_LINES):
            yield _batch(first + start, lines[start : start + MAX_LINES], ended=True)
        first += len(lines)
    if rest := b"".join(pieces):
        yield _batch(first, [rest], ended=False)


def _batch(first: int, lines: list[bytes], *, ended: bool) -> LineBatch:
    if first == 1:
        lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
    return LineBatch(first, lines, ended)
