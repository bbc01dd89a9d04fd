"""Reads a streamed answer that came whole: what each server-sent event holds, in order.

It must not know any API.

Source: HTML Living Standard, section 9.2.6, "Interpreting an event stream".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from evalsi_kernel.broker.connector import ProviderError

from .bodies import read_json
from .chat_reply import bad_reply
from .failure import failure
from .who import Who

DONE: Final = "[DONE]"
"""How OpenAI's API says that nothing more comes."""
# Unlike splitlines: a text within the JSON may hold other characters that end a line elsewhere.
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def is_streamed(content: bytes) -> bool:
    """Whether a body is a stream of events; a server that does not stream answers with its JSON all the same."""
    return not content.lstrip().startswith((b"{", b"[", b"<")) and bool(content.strip())


def events(content: bytes, who: Who) -> Iterator[Mapping[str, Any] | None]:
    """What each event holds, as JSON; None where the server says that nothing more comes.

    Raises:
        ProviderError: `provider.bad_reply`; an event holds something else.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise bad_reply(who, f"{who} answered with a stream that is not UTF-8.") from cause
    for data in _data(text):
        if data.strip() == DONE:
            yield None
            continue
        value, trouble = read_json(data.encode())
        if not isinstance(value, Mapping):
            raise bad_reply(
                who, f'{who} streamed "{who.quoted(data)[:200]}", which is no event of its API ({trouble}).'
            )
        yield value


def broken_off(who: Who) -> ProviderError:
    """The error for a stream that ends before the answer does."""
    return failure("provider.connection", f"{who} ended its stream in the middle of the answer.", "Try again later.")


def _data(text: str) -> Iterator[str]:
    """The data of each event; of a last one whose line does not end nothing, for it may be cut."""
    lines: list[str] = []
    for line in _lines(text):
        if not line and lines:
            yield "\n".join(lines)
            lines = []
        elif line.startswith("data:"):
            lines.append(line.removeprefix("data:").removeprefix(" "))
    if lines == [DONE]:
        yield DONE


def _lines(text: str) -> Iterator[str]:
    """Each line; one at a time, since a list of them may take many times the memory of the text."""
    start = 0
    for end in _LINE_END.finditer(text):
        yield text[start : end.start()]
        start = end.end()
    yield text[start:]
