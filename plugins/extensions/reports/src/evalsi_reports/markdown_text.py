"""Owns how strangers' texts stand in Markdown: as themselves, and as no link, mention, tag or cell.

It must not know what a report shows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from .shown_text import one_line, visible

_MARKS = re.compile(r"[\\`*_{}\[\]<>()+!|~$&]|[@#](?=\w)|:(?=//)|(?<=www)\.")
# Between a mark and the name behind it, so that a forge makes no mention and no reference of the two.
_JOINER = "\u2060"
_NAMING = re.compile(r"[@#](?=\w)(?<!&#)|:(?=//)")
_TICKS = re.compile("`+")


def plain(text: str, limit: int = 300) -> str:
    """A text on one line whose characters mean themselves."""
    return _MARKS.sub(_escaped, one_line(text, limit))


def in_html(text: str, limit: int = 300) -> str:
    """A text on one line within a tag, where Markdown has no say."""
    return _NAMING.sub(lambda match: match[0] + _JOINER, escape(one_line(text, limit), quote=True))


def code(text: str, limit: int = 120) -> str:
    """A text on one line in the type of code, also within a table."""
    line = one_line(text, limit)
    if not line:
        return "–"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    padded = f" {line} " if len(ticks) > 1 or line.startswith("`") else line
    return f"{ticks}{padded}{ticks}".replace("|", "\\|")


def fenced(text: str) -> str:
    """A text of several lines, as a block of code that no line of it can end."""
    shown = visible(text).rstrip("\n")
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return f"{ticks}text\n{shown}\n{ticks}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """A table of cells that are Markdown already; the columns in `right` stand at their right end."""
    rules = ["---:" if place in right else "---" for place in range(len(header))]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rules, *rows))


def _escaped(match: re.Match[str]) -> str:
    mark = match[0]
    if mark in "@#":
        return mark + _JOINER
    return f"&#{ord(mark)};" if mark in ":<>&" else f"\\{mark}"
