"""Publish the record being scored in shared memory, which the kernel can read while the interpreter is blocked.

A regular expression or other C code may hold the interpreter lock for hours. No thread of the pack can then answer a
ping, so the record is written to shared memory beforehand.
"""

from __future__ import annotations

import mmap
import os
from array import array
from collections.abc import Coroutine, Generator
from contextvars import ContextVar
from typing import Any, TypeAlias

from evalsi_protocol.progress import CELLS, DESCRIPTOR_VARIABLE, SIZE_BYTES

Cells: TypeAlias = "memoryview | array[int]"
MASK = (1 << 64) - 1
"""Truncates any number of the wire to a cell; the kernel uses small numbers."""
Key: TypeAlias = tuple[int, int, int]
"""Request, index of the record in it, and session."""


def open_cells() -> Cells:
    """Return the cells that the kernel shares with this process, or private ones if it shares none."""
    try:
        descriptor = int(os.environ[DESCRIPTOR_VARIABLE])
        return memoryview(mmap.mmap(descriptor, SIZE_BYTES)).cast("Q")
    except (KeyError, ValueError, OSError):
        return array("Q", [0] * CELLS)


class Holder:
    """The record that an asyncio task scores. Child tasks share the holder."""

    __slots__ = ("key",)

    def __init__(self) -> None:
        self.key: Key | None = None


HOLDER: ContextVar[Holder | None] = ContextVar("evalsi_progress", default=None)


class Steps(Coroutine[Any, Any, Any]):
    """A coroutine that writes its record to the cells before each step and clears them afterwards.

    Many records are in progress in one event loop, but only the running step can block the interpreter.
    """

    def __init__(self, inner: Coroutine[Any, Any, Any], holder: Holder, cells: Cells) -> None:
        self._inner = inner
        self._holder = holder
        self._cells = cells

    def send(self, value: Any) -> Any:
        write(self._cells, self._holder.key)
        try:
            return self._inner.send(value)
        finally:
            self._cells[1] = 0

    def throw(self, *error: Any) -> Any:
        write(self._cells, self._holder.key)
        try:
            return self._inner.throw(*error)
        finally:
            self._cells[1] = 0

    def close(self) -> None:
        self._inner.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._inner.__await__()

    def __getattr__(self, name: str) -> Any:
        # Libraries ask a task's coroutine for cr_frame, cr_await, __qualname__ and the like.
        return getattr(self._inner, name)


def write(cells: Cells, key: Key | None) -> None:
    """Write the record that is being scored; None clears it."""
    if key is None:
        cells[1] = 0
        return
    cells[0], cells[2] = key[0] & MASK, key[2] & MASK
    # Written last: 0 means no record, so that a half-written entry is never read as a different record.
    cells[1] = key[1] + 1
