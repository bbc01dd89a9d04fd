"""A stranger's words as an error shows them: short, on one line, nothing that a terminal would act on.

It must not know who the stranger is.
"""

from __future__ import annotations

import re

_MAX_CHARS = 300
_TAG = re.compile(r"(?is)<(script|style)\b.*?</\1\s*>|<[^>]*>")


def on_one_line(text: str, most: int = _MAX_CHARS) -> str:
    """The text, with what cannot be printed as spaces."""
    shown = "".join(char if char.isprintable() else " " for char in text[: 20 * most])
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def excerpt(content: bytes) -> str:
    """The beginning of what came, in words: `nothing`, `an HTML page ("…")`, or `"…"`."""
    text = content[: 20 * _MAX_CHARS].decode("utf-8", "replace").strip()
    if not text:
        return "nothing"
    if text.startswith("<"):
        return f'an HTML page ("{on_one_line(_TAG.sub(" ", text), 120)}")'
    return f'"{on_one_line(text, 200)}"'


def last_lines(text: str, lines: int = 5) -> str:
    """The last lines of a program's stderr, on one line."""
    kept = [line.strip() for line in text.splitlines() if line.strip()][-lines:]
    return on_one_line(" | ".join(kept), 800)
