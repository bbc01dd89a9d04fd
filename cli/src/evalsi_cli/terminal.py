"""Terminal output: colours, escaping, line wrapping and progress."""

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
    """Replace closed standard streams with the null device, and escape characters that a stream cannot encode."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Left open until the process ends.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def as_json(value: Any) -> str:
    """Return the value as indented JSON, escaping characters that stdout cannot encode."""
    import json  # Imported late: it takes 2 ms.

    is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not is_utf8, indent=2, allow_nan=False)
    # JSON escapes only control characters below U+0020. Others can also control a terminal or reverse the text.
    return text if text.isascii() and "\x7f" not in text else _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def quoted(text: str) -> str:
    """Make untrusted text, such as a pack's error, safe to print.

    Unprintable characters are escaped, and lines after the first are indented so that they cannot imitate our output.
    """
    if text.isprintable():
        return text
    from evalsi_kernel.results.grid import printable  # Imported late: rarely needed.

    first, *others = map(printable, text.split("\n"))
    return "\n".join([first, *(line if line.startswith("  ") or not line else f"  {line}" for line in others)])


def paint(text: str, colour: str, stream: TextIO) -> str:
    """Return the text in a colour if the stream is a terminal and NO_COLOR and TERM=dumb are not set."""
    if not stream.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{COLOURS[colour]}m{text}\x1b[0m"


def columns(stream: TextIO) -> int:
    """Return the width of the terminal; 0 if the stream is not a terminal or its width is unknown."""
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    except OSError:
        return 0


def broken_at(text: str, width: int, inset: int) -> str:
    """Wrap the lines of a text.

    Args:
        text: one or more lines.
        width: maximum width in characters; 0 disables wrapping. Longer words stay whole, so that they can be copied.
        inset: additional indentation of continuation lines.
    """
    if not width:
        return text
    import textwrap  # Imported late: it takes 1 ms, and only terminals need it.

    def filled(line: str) -> str:
        if len(line) <= width:
            return line
        indent = " " * (len(line) - len(line.lstrip()) + inset)
        return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(filled, text.split("\n")))


class ProgressLine:
    """Progress on stderr: a line that is updated in place on a terminal, an occasional plain line elsewhere.

    Args:
        total: total number of records, if known.
        quiet: show nothing but the log.
        stream: where to write; stderr by default.
    """

    def __init__(self, total: int | None = None, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._total = total
        self._quiet = quiet
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream.isatty()
        self._started = self._shown = monotonic()
        self._is_open = False

    def note(self, sentence: str) -> None:
        """Print a note above the progress line."""
        if not self._quiet:
            self.clear()
            print(quoted(sentence), file=self._stream, flush=True)

    def log(self, line: str) -> None:
        """Print a line of a pack's log above the progress line, even if quiet: it was requested with --verbose."""
        self.clear()
        print(quoted(line), file=self._stream, flush=True)

    def expect(self, total: int | None) -> None:
        """Set the total number of records."""
        self._total = total

    def show(self, done: int) -> None:
        """Show the number of finished records, at a limited rate."""
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
        """Erase the progress line."""
        if self._is_open:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._is_open = False


def listener_of(progress: ProgressLine, *, verbose: bool = False) -> Listener:
    """Return a listener that shows progress and notes; with `--verbose` or `EVALSI_DEBUG` also the log of packs."""
    from evalsi_kernel.request import Listener

    is_verbose = verbose or bool(os.environ.get("EVALSI_DEBUG"))
    return Listener(progress.note, progress.show, progress.log if is_verbose else None, progress.expect)


def duration(seconds: float) -> str:
    """Return a duration as text, such as 3 min 20 s."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _bar(share: float, width: int = 20) -> str:
    full = round(share * width)
    return "█" * full + "░" * (width - full)
