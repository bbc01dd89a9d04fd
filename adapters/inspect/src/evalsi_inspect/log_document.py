"""Read a `.json` log: one JSON document of any length, whose samples are decoded one at a time.

Python's own decoder is used because Inspect writes NaN.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import TextIOWrapper
from typing import Any, BinaryIO

from evalsi_inspect.log_fault import LogFault, check_version

BLOCK_CHARS = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode
_HINT = "Copy the log again, or name one that Inspect wrote."


class LogDocument:
    """A `.json` log.

    Args:
        file: file open for reading; the caller closes it.
        name: name of the log for error messages.

    Attributes:
        header: keys before the samples: version, eval, plan, results.

    Raises:
        LogFault: the file is not such a log, or has a newer version.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._name = name
        self._file = TextIOWrapper(file, encoding="utf-8-sig")
        self._text = ""
        self._at = 0
        self.header: dict[str, Any] = {}
        self._begin("{", "the document is no object")
        self._has_samples = self._read_header()
        if not isinstance(self.header.get("eval"), dict):
            raise LogFault(f"{name} is JSON, and no log of Inspect's: it has no eval before its samples.", _HINT)
        check_version(name, self.header.get("version"))

    def samples(self) -> Iterator[dict[str, Any]]:
        """Yield the samples in order.

        Raises:
            LogFault: the document is malformed or cut off.
        """
        if not self._has_samples:
            return
        self._begin("[", "samples is no list")
        while self._next() != "]":
            value = self._value()
            if not isinstance(value, dict):
                raise self._fault("a sample is no object")
            yield value
            self._comma("]")

    def _read_header(self) -> bool:
        """Read the keys before the samples, and return whether there are samples."""
        while self._next() != "}":
            name = self._value()
            self._begin(":", "a colon is missing")
            if name == "samples":
                if self._next() == "[":
                    return True
                self._value()  # null, where they were left out.
            else:
                self.header[str(name)] = self._value()
            self._comma("}")
        return False

    def _begin(self, mark: str, otherwise: str) -> None:
        if self._next() != mark:
            raise self._fault(otherwise)
        self._at += 1

    def _comma(self, end: str) -> None:
        found = self._next()
        if found == ",":
            self._at += 1
        elif found != end:
            raise self._fault("a comma is missing")

    def _next(self) -> str:
        """Return the next character that is not white space, or "" at the end."""
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        """Decode the next value, reading until the text extends beyond it so that a number is complete."""
        self._next()
        while True:
            try:
                value, end = _decode(self._text, self._at)
                if end < len(self._text) or not self._more():
                    self._at = end
                    return value
            except (ValueError, RecursionError) as error:
                if not self._more():
                    raise self._fault(str(error)) from error

    def _more(self) -> bool:
        """Drop the text already decoded and read at least as much again as is left."""
        left = self._text[self._at :]
        try:
            block = self._file.read(max(BLOCK_CHARS, len(left)))
        except UnicodeDecodeError as error:
            raise self._fault(f"it is not UTF-8: {error}") from error
        self._text, self._at = left + block, 0
        return bool(block)

    def _fault(self, what: str) -> LogFault:
        return LogFault(f"{self._name} is no whole JSON document: {what}.", _HINT)
