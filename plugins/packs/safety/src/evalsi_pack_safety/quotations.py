"""A text without what it quotes: speech in quotation marks, quoted lines, blocks of code.

It must not know what is looked for in the rest.
"""

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
    kept: list[str] = []
    place = 0
    while True:
        opening = _OPENING.search(text, place)
        if opening is None:
            return "".join([*kept, text[place:]])
        closing = _closing(text, opening.end(), _MARKS[opening[0]])
        if closing < 0:
            kept.append(text[place : opening.end()])
            place = opening.end()
        else:
            kept += [text[place : opening.start()], " "]
            place = closing + 1


def _closing(text: str, start: int, marks: str) -> int:
    """The place of the nearest closing mark; a quotation goes over no blank line, and is of bounded length."""
    end = text.find("\n\n", start, start + MAX_QUOTED)
    end = min(len(text), start + MAX_QUOTED) if end < 0 else end
    places = [place for mark in marks if (place := text.find(mark, start, end)) >= 0]
    return min(places, default=-1)
