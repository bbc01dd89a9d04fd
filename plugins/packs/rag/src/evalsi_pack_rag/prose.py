"""The prose of a text in Markdown: its paragraphs, without code, and what of each stands in no link."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# In a text without links to resolve, `[1]: https://…` at the start of a line says what 1 is, and so does `[^1]: …`.
_DEFINITION = re.compile(r"^ *\[\^?[^\[\]\n]+\]:[^\n]*$", re.MULTILINE)
_HIDDEN = "\ufffc"


class Paragraph(NamedTuple):
    """One paragraph, heading, or item of a list.

    Args:
        text: as it is read.
        open: the same, character for character, with everything replaced that stands in code or in a link.
    """

    text: str
    open: str


class ProseReader:
    """Reads CommonMark. Tags of HTML are text, because models write their own: <answer>."""

    def __init__(self) -> None:
        from markdown_it import MarkdownIt  # 75 ms that only its users pay.

        self._markdown: MarkdownIt = MarkdownIt("commonmark", {"maxNesting": 100})
        self._markdown.disable(["reference", "html_block", "html_inline"])

    def paragraphs(self, text: str) -> list[Paragraph]:
        """In order, those that are not blank."""
        found = []
        for token in self._markdown.parse(text):
            if token.type == "inline":
                paragraph = _without_definitions(*_joined(token.children or []))
                if paragraph.text.strip():
                    found.append(paragraph)
        return found


def _joined(children: Sequence[Token]) -> tuple[str, str]:
    texts: list[str] = []
    opens: list[str] = []
    for text, is_open in _pieces(children):
        texts.append(text)
        opens.append(text if is_open else _HIDDEN * len(text))
    return "".join(texts), "".join(opens)


def _pieces(children: Sequence[Token]) -> Iterator[tuple[str, bool]]:
    links = 0
    for child in children:
        links += child.nesting if child.type in ("link_open", "link_close") else 0
        if child.type in ("softbreak", "hardbreak"):
            yield "\n", True
        elif child.content:
            yield child.content, child.type == "text" and not links


def _without_definitions(text: str, opened: str) -> Paragraph:
    """Definitions lie in the open, but what they define may be a link: they are found in the text and cut from both."""
    for found in reversed(list(_DEFINITION.finditer(text))):
        text = text[: found.start()] + text[found.end() :]
        opened = opened[: found.start()] + opened[found.end() :]
    return Paragraph(text.replace("\n", " "), opened.replace("\n", " "))
