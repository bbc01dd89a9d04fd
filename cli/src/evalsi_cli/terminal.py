"""What a terminal can show: colour where it is wanted, and a line of progress.

It must not know what is being done.
"""

from __future__ import annotations

import io
import os
import re
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from evalsi_kernel.request import Listener

COLOURS = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}
_UNSEEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
BAR_EVERY_S = 0.1
LINE_EVERY_S = 10.0


def make_streams_usable() -> None:
    """Of the standard streams, one that was closed leads nowhere, and one of few characters escapes the others."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Stays open as long as the process lives.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def as_json(value: Any) -> str:
    """The value as indented JSON, in characters that standard output has."""
    import json  # Two milliseconds that only who prints it pays.

    is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not is_utf8, indent=2, allow_nan=False)
    # JSON escapes control characters below U+0020 only; others command a terminal, or turn the direction of a line.
    return text if text.isascii() and "\x7f" not in text else _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def quoted(text: str) -> str:
    """Words that a stranger had a part in, such as a pack's error: no command to the terminal, no line like ours.

    What cannot be printed is escaped, and every line but the first is set in.
    """
    if text.isprintable():
        return text
    from evalsi_kernel.results.grid import printable  # What is plain, as nearly all is, pays nothing.

    first, *others = map(printable, text.split("\n"))
    return "\n".join([first, *(line if line.startswith("  ") or not line else f"  {line}" for line in others)])


def paint(text: str, colour: str, stream: TextIO) -> str:
    """The text in a colour, on a terminal that wants colours (NO_COLOR and TERM=dumb say no)."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def columns(stream: TextIO) -> int:
    """How many characters a line of the terminal has; 0 where the stream leads to none, or it does not say."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except OSError:
        return 0


def broken_at(text: str, width: int, inset: int) -> str:
    """The text in lines that fit.

    Args:
        text: one line or several.
        width: in characters; 0 breaks none. A word that is longer stays whole, so that it can be copied.
        inset: how much further in the rest of a line stands than its beginning.
    """
    if not width:
        return text
    import textwrap  # A millisecond that only a terminal pays.

    def filled(line: str) -> str:
        if len(line) <= width:
            return line
        indent = " " * (len(line) - len(line.lstrip()) + inset)
        return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(filled, text.split("\n")))


class ProgressLine:
    """Records done, on stderr: one line that renews itself on a terminal, a plain line now and then elsewhere.

    Args:
        total: how many there will be, when that is known.
        quiet: show nothing.
    """

    def __init__(self, total: int | None = None, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._total = total
        self._quiet = quiet
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._started = self._shown = monotonic()
        self._is_open = False

    def note(self, sentence: str) -> None:
        """Say something above the line."""
        if not self._quiet:
            self.clear()
            print(quoted(sentence), file=self._stream, flush=True)

    def log(self, line: str) -> None:
        """Show a line of a pack's log above the line of progress, also where little is to be said: it was asked for."""
        self.clear()
        print(quoted(line), file=self._stream, flush=True)

    def expect(self, total: int | None) -> None:
        """Take note of how many records there will be."""
        self._total = total

    def show(self, done: int) -> None:
        """Show how far it is, not oftener than is of use."""
        now = monotonic()
        every_s = BAR_EVERY_S if self._is_terminal else LINE_EVERY_S
        if self._quiet or now - self._shown < every_s:
            return
        self._shown = now
        rate = done / (now - self._started)
        text = f"{done:,} records, {rate:,.0f}/s"
        if self._total:
            share = min(1.0, done / self._total)
            left_s = max(0, self._total - done) / rate if rate else 0
            counts = f"{done:,} of {self._total:,} records, {rate:,.0f}/s"
            text = f"{_bar(share)} {share:4.0%}  {counts}, {duration(left_s)} left"
        if self._is_terminal:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
            self._is_open = True
        else:
            print(text, file=self._stream, flush=True)

    def clear(self) -> None:
        """Take the line away."""
        if self._is_open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_open = False


def listener_of(progress: ProgressLine, *, verbose: bool = False) -> Listener:
    """Who shows progress and notes, and with `--verbose` or `EVALSI_DEBUG` what packs write to stderr."""
    from evalsi_kernel.request import Listener

    is_verbose = verbose or bool(os.environ.get("EVALSI_DEBUG"))
    return Listener(progress.note, progress.show, progress.log if is_verbose else None, progress.expect)


def duration(seconds: float) -> str:
    """A time span for a person, such as 3 min 20 s."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _bar(share: float, width: int = 20) -> str:
    full = round(share * width)
    return "█" * full + "░" * (width - full)
