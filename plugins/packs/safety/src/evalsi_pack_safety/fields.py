"""Every text within an output: plain text, each text of each chat message, and each text, number and key of JSON.

A field's place never names a key that could itself be what must not be shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalsi import Content

# A key that is shown: words, as programmers write them. Whatever looks otherwise may be a token or an address.
_WORDS = re.compile(r"[A-Za-z]?[a-z]+(?:[A-Z_-]?[a-z]+){0,8}[0-9]?|[A-Z]{1,12}")
_MAX_WORDS = 32
_MAX_INTEGER = 10**40


class Field(NamedTuple):
    """One text of an output.

    Args:
        where: its place, such as "messages[0].content"; "" for an output that is one text.
        text: what stands there.
        label: the key that it stands under, the nearest of them in JSON; "" where there is none.
    """

    where: str
    text: str
    label: str = ""


def text_fields(content: Content, *, name_keys: bool = True) -> Iterator[Field]:
    """The texts of an output in order.

    Args:
        content: the output.
        name_keys: whether places may name keys that are plain words; otherwise each key is its number.
    """
    wire = content.wire
    if isinstance(wire, str):
        yield Field("", wire)
        return
    name, value = ("messages", wire["messages"]) if "messages" in wire else ("", wire["json"])
    waiting: list[tuple[str, Any, str]] = [(name, value, "")]
    while waiting:
        where, value, label = waiting.pop()
        if isinstance(value, str):
            yield Field(where, value, label)
        elif isinstance(value, dict):
            inner = []
            for number, (key, item) in enumerate(value.items()):
                place = _place(where, key, number, name_keys)
                inner.append((place, item, key))
                yield Field(f"{place} (key)", key)
            waiting += reversed(inner)
        elif isinstance(value, list):
            waiting += [(f"{where}[{place}]", value[place], label) for place in range(len(value) - 1, -1, -1)]
        elif isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER:
            yield Field(where, str(value), label)


def _place(where: str, key: str, number: int, name_keys: bool) -> str:
    if name_keys and len(key) <= _MAX_WORDS and _WORDS.fullmatch(key):
        return f"{where}.{key}" if where else key
    return f"{where}{{{number}}}"
