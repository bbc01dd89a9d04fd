"""Owns the cutting of a byte stream into lines at LF alone, since JSON text may hold every other line separator.

It must not know what a line holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evalsi_kernel.errors import DatasetError

MAX_LINES = 1024
MAX_LINE_BYTES = 256 * 1024 * 1024
"""Four times what can be sent to an evaluator; what has no end by then is no line."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineBatch(NamedTuple):
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


def line_batches(blocks: Iterable[bytes], name: str) -> Iterator[LineBatch]:
    """All lines, in a batch or more for each block that ends at least one.

    Args:
        blocks: the stream.
        name: what it is called in errors.

    Raises:
        DatasetError: a line is longer than 256 MiB; what came before it comes first.
    """
    first, held_bytes = 1, 0
    # A line longer than a block is joined once, when its end is found.
    pieces: list[bytes] = []
    for block in blocks:
        before, newline, after = block.rpartition(b"\n")
        if not newline:
            pieces.append(block)
            held_bytes += len(block)
            if held_bytes > MAX_LINE_BYTES:
                raise DatasetError(
                    f"{name}, line {first}: it has no end within {MAX_LINE_BYTES // 2**20} MiB.",
                    "See whether this is the right file; each record stands on a line of its own.",
                )
            continue
        pieces.append(before)
        lines = b"".join(pieces).split(b"\n")
        pieces, held_bytes = [after], len(after)
        for start in range(0, len(lines), MAX_LINES):
            yield _batch(first + start, lines[start : start + MAX_LINES], ended=True)
        first += len(lines)
    if rest := b"".join(pieces):
        yield _batch(first, [rest], ended=False)


def _batch(first: int, lines: list[bytes], *, ended: bool) -> LineBatch:
    if first == 1:
        lines[0] = lines[0].removeprefix(BYTE_ORDER_MARK)
    return LineBatch(first, lines, ended)
