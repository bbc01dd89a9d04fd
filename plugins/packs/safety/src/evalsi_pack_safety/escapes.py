"""A text with the escapes of URLs, HTML and programming languages decoded, and where each part of it came from."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator

MAX_LAYERS = 4
"""How often escapes are decoded, as `%252D` hides `%2D`."""

_HEX = "[0-9A-Fa-f]"
_ESCAPE = re.compile(
    rf"(?P<percent>(?:%{_HEX}{{2}})+)"
    rf"|(?P<units>(?:(?:\\u|%u){_HEX}{{4}})+)"
    rf"|\\u\{{(?P<braced>{_HEX}{{1,6}})\}}"
    rf"|\\U(?P<long>{_HEX}{{8}})"
    rf"|(?P<bytes>(?:\\x{_HEX}{{2}})+)"
    rf"|(?P<printable>(?:={_HEX}{{2}})+)"
    r"|(?P<octal>(?:\\[0-3][0-7]{2})+)"
    rf"|(?P<entity>&(?:#[0-9]{{1,7}}|#[xX]{_HEX}{{1,6}});?|&[A-Za-z][A-Za-z0-9]{{1,31}};)"
)
_MARKS = ("%", "\\", "&", "=")
_BYTES = {"percent": 1, "bytes": 2, "printable": 1, "octal": 1}
"""Groups that write bytes of UTF-8, and how many characters stand before the digits of each."""


class Decoded:
    """A text with its escapes decoded.

    Args:
        text: the decoded text.
        edits: of each escape, in order: its place and end in the decoded text, and in the text it came from.
        outer: what that text came from; None where it is the original.
    """

    def __init__(self, text: str, edits: list[tuple[int, int, int, int]], outer: Decoded | None) -> None:
        self.text = text
        self._edits = edits
        self._starts = [edit[0] for edit in edits]
        self._outer = outer

    def in_original(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the decoded text stands in the original."""
        first, last = self._source(start)[0], self._source(end - 1)[1] if end > start else self._source(start)[0]
        return (first, last) if self._outer is None else self._outer.in_original(first, last)

    def _source(self, place: int) -> tuple[int, int]:
        """Where the character at a place came from; of an escape that is the whole escape."""
        index = bisect_right(self._starts, place) - 1
        if index < 0:
            return place, place + 1
        _, end, source, source_end = self._edits[index]
        if place < end:
            return source, source_end
        return place - end + source_end, place - end + source_end + 1


def layers(text: str) -> Iterator[Decoded]:
    """Yield the text with one layer of escapes after the other decoded, as long as there are any.

    A form's plus signs, which stand for blanks, need no decoding where blanks do not matter, but are yielded as blanks.
    """
    outer: Decoded | None = None
    if "+" in text:
        yield Decoded(text.replace("+", " "), [], None)
    for _ in range(MAX_LAYERS):
        decoded = _decoded(text, outer)
        if decoded is None:
            return
        yield decoded
        if "+" in text:
            yield Decoded(decoded.text.replace("+", " "), decoded._edits, outer)
        text, outer = decoded.text, decoded


def _decoded(text: str, outer: Decoded | None) -> Decoded | None:
    if not any(mark in text for mark in _MARKS):
        return None
    parts: list[str] = []
    edits: list[tuple[int, int, int, int]] = []
    done = length = 0
    for match in _ESCAPE.finditer(text):
        plain = _plain(match)
        if plain is None or plain == match[0]:
            continue
        kept = text[done : match.start()]
        length += len(kept)
        edits.append((length, length + len(plain), match.start(), match.end()))
        length += len(plain)
        parts += [kept, plain]
        done = match.end()
    return Decoded("".join([*parts, text[done:]]), edits, outer) if edits else None


def _plain(match: re.Match[str]) -> str | None:
    """The characters that an escape stands for; None where it stands for none."""
    kind, written = match.lastgroup, match[0]
    if kind == "entity":
        return html.unescape(written)
    if kind in ("braced", "long"):
        return _character(int(match[kind], 16))
    if kind == "units":
        units = b"".join(int(unit, 16).to_bytes(2, "big") for unit in re.findall(rf"u({_HEX}{{4}})", written))
        return units.decode("utf-16-be", "replace")
    width = 4 if kind == "octal" else _BYTES[str(kind)] + 2
    base, skipped = (8, 1) if kind == "octal" else (16, _BYTES[str(kind)])
    data = bytes(int(written[at + skipped : at + width], base) for at in range(0, len(written), width))
    try:
        return data.decode()
    except UnicodeDecodeError:
        # Such as \xe9 of a language that writes code points.
        return data.decode("latin-1")


def _character(code_point: int) -> str | None:
    return chr(code_point) if code_point < 0x110000 else None
