"""Owns the reading of a large JSON object, a member or an element at a time, in memory that does not grow.

It must not know what the members mean.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from evalsi_kernel.errors import ConfigError

_BLOCK_BYTES = 1 << 20
_SPACE = re.compile(r"[ \t\r\n]*")
# Half of a pair may be written as an escape, and no text can be written out with it.
_ESCAPED_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
_COMMA = re.compile(r"[ \t\r\n]*,")
# So near to the end of the window a fault may be nothing but its edge.
_EDGE = 16
_WRITE_AGAIN = "Write it again, or fetch it whole."


def _refuse_word(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_word)


def members(path: Path, listed: Collection[str]) -> Iterator[tuple[str, Any]]:
    """The members of the object that a file holds, in its order.

    Args:
        path: of the file; UTF-8.
        listed: members whose elements come one by one, each under the member's name; nothing comes of an empty list.

    Raises:
        ConfigError: the file cannot be read, is no JSON object, or is cut off; or a listed member is no list.
    """
    try:
        with path.open("rb") as file:
            yield from _Window(path, file).members(listed)
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror}.",
            "Name a results file, as `evalsi eval --output` writes it, or a run that `evalsi runs list` lists.",
        ) from error


def _without_halves(value: Any) -> Any:
    """The value with halves of surrogate pairs told by their numbers."""
    if isinstance(value, str):
        return _HALF.sub(lambda half: f"⟨U+{ord(half[0]):04X}⟩", value)
    if isinstance(value, list):
        return [_without_halves(one) for one in value]
    if isinstance(value, dict):
        return {_without_halves(name): _without_halves(one) for name, one in value.items()}
    return value


class _Window:
    """The text from `at` on is still to be read; `_more` makes it longer."""

    def __init__(self, path: Path, file: BinaryIO) -> None:
        self._path = path
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False
        self._inside = "the file"

    def members(self, listed: Collection[str]) -> Iterator[tuple[str, Any]]:
        if self._next() != "{":
            self._refuse_kind()
        self._at += 1
        while (character := self._next()) != "}":
            if character == ",":
                self._at += 1
                self._next()
            name = self._value()
            if not isinstance(name, str) or self._next() != ":":
                self._refuse()
            self._at += 1
            self._inside = f'"{name[:40]}"'
            character = self._next()
            if name not in listed:
                yield name, self._value()
            elif not character:
                self._refuse(cut_off=True)
            elif character != "[":
                raise ConfigError(
                    f'{self._path}: "{name}" is no list.', "Name a results file that is as it was written."
                )
            else:
                yield from ((name, element) for element in self._elements())
            self._inside = "the file"
        self._at += 1
        if self._next():
            raise ConfigError(
                f"{self._path} holds more than one JSON value.", "Name a results file; lines of records are data."
            )

    def _elements(self) -> Iterator[Any]:
        self._at += 1
        while self._next() != "]":
            yield self._value()
            # Most elements have another one behind them in the same window.
            comma = _COMMA.match(self._text, self._at)
            if comma is not None:
                self._at = comma.end()
            elif (character := self._next()) == ",":
                self._at += 1
            elif character != "]":
                self._refuse()
        self._at += 1

    def _value(self) -> Any:
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                at_edge = error.msg.startswith("Unterminated") or len(self._text) - error.pos < _EDGE
                if at_edge and self._more():
                    continue
                self._refuse(cut_off=at_edge and self._ended)
            except (ValueError, RecursionError) as error:
                raise ConfigError(f"{self._path} is no results file: {error}.", _WRITE_AGAIN) from error
            # A number at the edge may go on behind it.
            if end == len(self._text) and self._more():
                continue
            is_whole = _ESCAPED_HALF.search(self._text, self._at, end) is None
            self._at = end
            return value if is_whole else _without_halves(value)

    def _next(self) -> str:
        """The next character that is no white space; "" at the end."""
        while True:
            if self._at < len(self._text) and (character := self._text[self._at]) > " ":
                return character
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _more(self) -> bool:
        """Drop what was read and at least double what was not."""
        if self._ended:
            return False
        rest = self._text[self._at :]
        block = self._file.read(max(_BLOCK_BYTES, len(rest)))
        self._ended = not block
        try:
            gained = self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            if self._ended:
                self._refuse(cut_off=True)
            raise ConfigError(f"{self._path} is no results file: it is not UTF-8.", _NAME_ONE) from error
        self._text, self._at = rest + gained, 0
        return bool(gained)

    def _refuse_kind(self) -> NoReturn:
        found = self._next()
        what = "it is empty" if not found else "it is no JSON object"
        raise ConfigError(f"{self._path} is no results file: {what}.", _NAME_ONE)

    def _refuse(self, *, cut_off: bool = False) -> NoReturn:
        if cut_off or not self._next():
            raise ConfigError(f"{self._path} is cut off within {self._inside}; the rest is missing.", _WRITE_AGAIN)
        raise ConfigError(f"{self._path} is not JSON within {self._inside}.", _WRITE_AGAIN)


_NAME_ONE = "Name a file that `evalsi eval --output` or `evalsi run --output` wrote."
