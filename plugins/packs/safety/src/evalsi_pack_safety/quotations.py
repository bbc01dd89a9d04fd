"""A text without what it quotes: speech in quotation marks, quoted lines, blocks of code."""

from __future__ import annotations

import re

MAX_QUOTED = 2000

# Opening mark → closing marks. A straight mark closes itself; single ones are apostrophes too, and are left alone.
_MARKS = {'"': '"', "“": '”"', "„": '“”"', "«": "»", "»": "«", "「": "」", "『": "』", "‟": "”"}
_OPENING = re.compile(f"[{''.join(_MARKS)}]")
_CODE = "```"


def unquoted(text: str) -> str:
    """The text with each quotation as one blank; the text itself where it is nothing but one quotation."""
    rest = _without_marked(_without_lines(_without_code(text)))
    if any(map(str.isalnum, rest)):
        return rest
    return text


def _without_code(text: str) -> str:
    parts = text.split(_CODE)
    return " ".join(parts[0::2]) if len(parts) > 2 else text


def _without_lines(text: str) -> str:
    if ">" not in text:
        return text
    return "\n".join(line for line in text.split("\n") if not line.lstrip().startswith(">"))


def _without_marked(text: str) -> str:
    """Without what stands between marks; a quotation goes over no blank line, and is of bounded length."""
    coming = _Coming(text)
    kept: list[str] = []
    place = 0
    while True:
        opening = _OPENING.search(text, place)
        if opening is None:
            return "".join([*kept, text[place:]])
        start = opening.end()
        closing = min(coming.place(mark, start) for mark in _MARKS[opening[0]])
        if closing < min(coming.place("\n\n", start), start + MAX_QUOTED):
            kept += [text[place : opening.start()], " "]
            place = closing + 1
        else:
            kept.append(text[place:start])
            place = start


class _Coming:
    """Where marks stand next, looked up once for all the places before them."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next: dict[str, int] = {}

    def place(self, mark: str, start: int) -> int:
        """The place of the mark at or after `start`, never before an earlier one; the text's length where none is."""
        if self._next.get(mark, -1) < start:
            found = self._text.find(mark, start)
            self._next[mark] = len(self._text) if found < 0 else found
        return self._next[mark]
