"""What a streamed answer holds that came whole: the data of its server-sent events, or its JSON lines.

It must not know what an event says.

Source: HTML Living Standard, section 9.2.6, "Interpreting an event stream".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

EVENTS: Final = "text/event-stream"
DONE: Final = "[DONE]"
"""How many services say that nothing more comes."""
# Unlike splitlines: a text within the JSON may hold other characters that end a line elsewhere.
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def data_of_events(text: str) -> Iterator[str]:
    """The data of each event, until nothing more comes; of a last one that does not end nothing, for it may be cut."""
    lines: list[str] = []
    for line in _every_line(text):
        if not line and lines:
            data, lines = "\n".join(lines), []
            if data.strip() == DONE:
                return
            yield data
        elif line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))


def lines_of(text: str) -> Iterator[str]:
    """Each line that holds something, as services write them that stream JSON by the line; a cut one is no JSON."""
    return (line for line in _every_line(text) if line.strip())


def _every_line(text: str) -> Iterator[str]:
    """Each line; one at a time, since a list of them may take many times the memory of the text."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]
