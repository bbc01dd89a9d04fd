"""A results file read a member, and of its long lists an element, at a time; memory holds one of them.

It must not know what the members mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, TextIO

_BLOCK_CHARACTERS = 1 << 20
_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"\s*")


def members(path: Path, listed: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The members of the object that a file holds, in its order.

    Args:
        path: of the file, in UTF-8.
        listed: members whose elements come one by one, each under the name of the member.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no JSON object, is cut off, or a listed member is no list.
    """
    with path.open(encoding="utf-8-sig") as file:
        text = _Window(file)
        text.take("{")
        while text.peek() != "}":
            name = text.value()
            text.take(":")
            if name in listed:
                text.take("[")
                while text.peek() != "]":
                    yield name, text.value()
                    text.take_comma("]")
                text.take("]")
            else:
                yield name, text.value()
            text.take_comma("}")


class _Window:
    """The part of a text that is not read yet, as far as it was needed so far."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0

    def peek(self) -> str:
        """The next character that is no white space; "" at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def take(self, expected: str) -> None:
        if (found := self.peek()) != expected:
            raise ValueError(f"it has {found!r} where {expected} should be" if found else "it is cut off")
        self._at += 1

    def take_comma(self, end: str) -> None:
        """Go past a comma, after which another value must stand, unless the list or object ends here."""
        if self.peek() != end:
            self.take(",")
            if self.peek() == end:
                raise ValueError(f"it has {end!r} after a comma")

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise ValueError("it is nested too deeply") from error
            except json.JSONDecodeError as error:
                if self._more():
                    continue
                raise ValueError("it is cut off, or no JSON") from error
            # What stands at the edge may go on behind it, as a number may.
            if end == len(self._text) and self._more():
                continue
            self._at = end
            return value

    def _more(self) -> bool:
        """Forget what was read, and at least double what was not; False at the end of the file."""
        rest = self._text[self._at :]
        block = self._file.read(max(_BLOCK_CHARACTERS, len(rest)))
        self._text, self._at = rest + block, 0
        return bool(block)
