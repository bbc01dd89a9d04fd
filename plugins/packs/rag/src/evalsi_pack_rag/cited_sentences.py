"""The sentences of an answer, each with the markers that cite for it.

A marker cites for the sentence that it stands in or that it follows: `It leaves at seven [1].` and `It leaves at
seven. [1]` say the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from evalsi_pack_rag.markers import Marker, markers_of
from evalsi_pack_rag.prose import Paragraph
from evalsi_pack_rag.sentences import has_word, sentence_spans

_BLANKS = re.compile(r"\s+")
_BLANKS_BEFORE_STOP = re.compile(r"\s+(?=[.,;:!?…])")


class CitedSentence(NamedTuple):
    """One sentence of an answer.

    Args:
        text: without its markers.
        markers: that cite for it, in order.
        paragraph: that it stands in, without markers.
    """

    text: str
    markers: tuple[Marker, ...]
    paragraph: str


def cited_sentences(paragraphs: Sequence[Paragraph]) -> list[CitedSentence]:
    """The sentences that have a marker, in order.

    Markers in a place without a word, such as a line of their own, cite for the sentence before; where there is none,
    for a sentence without text.
    """
    found: list[CitedSentence] = []
    for paragraph in paragraphs:
        for sentence in _of_paragraph(paragraph):
            if found and not has_word(sentence.text):
                found[-1] = found[-1]._replace(markers=found[-1].markers + sentence.markers)
            else:
                found.append(sentence)
    return [sentence for sentence in found if sentence.markers]


def _of_paragraph(paragraph: Paragraph) -> list[CitedSentence]:
    """All sentences of a paragraph, also those without a marker."""
    markers = list(markers_of(paragraph.open))
    text = _blanked(paragraph.text, markers)
    spans = sentence_spans(text) or [(0, len(text))]
    cites: list[list[Marker]] = [[] for _ in spans]
    index, is_moved = 0, False
    for marker in markers:
        while marker.start >= spans[index][1] and index + 1 < len(spans):
            index, is_moved = index + 1, False
        # `It leaves at seven [1]. [2] says so too.`: the first sentence has its marker, so the second opens the next.
        is_apart = paragraph.text[: marker.start].endswith(" ") and text[marker.start : spans[index][1]].isspace()
        is_moved = is_moved or (is_apart and bool(cites[index]) and index + 1 < len(spans))
        cites[index + is_moved].append(marker)
    whole = _tidy(text)
    return [
        CitedSentence(_tidy(text[start:end]), tuple(own), whole) for (start, end), own in zip(spans, cites, strict=True)
    ]


def _blanked(text: str, markers: Sequence[Marker]) -> str:
    """The text with blanks for its markers: sentences end where they would without, and no place is moved."""
    pieces, end = [], 0
    for marker in markers:
        pieces += [text[end : marker.start], " " * (marker.end - marker.start)]
        end = marker.end
    return "".join([*pieces, text[end:]])


def _tidy(text: str) -> str:
    return _BLANKS_BEFORE_STOP.sub("", _BLANKS.sub(" ", text)).strip()
