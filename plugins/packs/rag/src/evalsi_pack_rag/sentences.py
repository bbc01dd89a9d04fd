"""Text to sentences, by rules alone: the same text always gives the same sentences.

The rules are sentencex's, which know the sentence ends of every script and the abbreviations of English. It must not
know what the sentences are for.
"""

from __future__ import annotations

import re

from sentencex import get_sentence_boundaries

_PARAGRAPH_END = re.compile(r"\n\s*\n")


def sentence_spans(paragraph: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of one paragraph; the white space after a sentence belongs to it."""
    return [(found["start_index"], found["end_index"]) for found in get_sentence_boundaries("en", paragraph)]


def sentences(text: str) -> list[str]:
    """The sentences that hold a letter or a digit, in order, without the white space around them."""
    found = [
        paragraph[start:end].strip()
        for paragraph in _PARAGRAPH_END.split(text)
        for start, end in sentence_spans(paragraph)
    ]
    return [sentence for sentence in found if has_word(sentence)]


def has_word(text: str) -> bool:
    """Whether a text holds a letter or a digit of any script."""
    return any(map(str.isalnum, text))
