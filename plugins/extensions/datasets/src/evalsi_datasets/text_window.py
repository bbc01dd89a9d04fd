"""Owns a window of text that slides over a byte stream, and the line and column of what is in it.

It must not know what the text says.
"""

from __future__ import annotations

import codecs
import re

from evalsi_kernel.errors import DatasetError

from .encoding import is_cut_off, refuse_wrong_kind
from .file_bytes import FileBytes

_SPACE = re.compile(r"[ \t\r\n]*")


class TextWindow:
    """The text from `at` on is still to be read; `more` makes it longer.

    Args:
        data: UTF-8, with or without a byte order mark.
    """

    def __init__(self, data: FileBytes) -> None:
        self.text = ""
        self.at = 0
        self._data = data
        self._blocks = data.blocks()
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._line = 1
        self._column = 1
        self._dropped = 0
        self._begun = False
        self._ended = False
        self._undecodable: UnicodeDecodeError | None = None
        self._fault: DatasetError | None = None

    @property
    def taken(self) -> int:
        """Characters of the stream before `at`."""
        return self._dropped + self.at

    def more(self) -> bool:
        """Drop what was read and double what was not; False where the stream holds nothing more.

        Raises:
            DatasetError: the next bytes are not UTF-8, or cannot be read.
        """
        if self._fault:
            raise self._fault
        self._drop()
        pieces = [self.text]
        wanted = max(1, len(self.text))
        while wanted > 0 and not self._ended:
            pieces.append(self._decode(next(self._blocks, b"")))
            wanted -= len(pieces[-1])
        gained = len(pieces) > 1 and any(pieces[1:])
        self.text = "".join(pieces)
        if self._undecodable is not None:
            self._fault = self._refusal(self._undecodable)
            # What comes before it is read first, and may hold a fault of its own.
            if not gained:
                raise self._fault
        return gained

    def next_character(self) -> str:
        """Move to the next character that is no white space; "" at the end of the stream."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def place(self, position: int) -> str:
        """The line and the column of a character of the window, both from 1."""
        lines = self.text.count("\n", 0, position)
        column = position - self.text.rfind("\n", 0, position) if lines else self._column + position
        return f"line {self._line + lines}, column {column}"

    def _drop(self) -> None:
        lines = self.text.count("\n", 0, self.at)
        self._column = self.at - self.text.rfind("\n", 0, self.at) if lines else self._column + self.at
        self._line += lines
        self._dropped += self.at
        self.text = self.text[self.at :]
        self.at = 0

    def _refusal(self, cause: UnicodeDecodeError) -> DatasetError:
        where = f"{self._data.name}, {self.place(len(self.text))}"
        if is_cut_off(cause):
            return DatasetError(
                f"{where}: the file is cut off here, in the middle of a character.",
                "Write it again, or fetch it whole; if it is whole, save it as UTF-8.",
            )
        return DatasetError(f"{where}: 0x{cause.object[cause.start]:02X} is not UTF-8.", "Save the file as UTF-8.")

    def _decode(self, block: bytes) -> str:
        if not self._begun:
            refuse_wrong_kind(self._data.name, self._data.head)
        self._begun = True
        self._ended = not block
        try:
            return self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as cause:
            self._ended = True
            self._undecodable = cause
            return str(cause.object[: cause.start], "utf-8-sig")
