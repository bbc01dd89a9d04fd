"""Text to words in any script: runs of letters, marks and digits, in lower case.

Marks belong to their letters, so that a word of Devanagari or Thai stays whole; ASCII text gives the words that the
ROUGE reference implementation gives.
"""

from __future__ import annotations

import unicodedata


class _WordCharacters(dict[int, int]):
    """For `str.translate`: a character of a word stays, every other becomes a space. Filled as characters come."""

    def __missing__(self, code_point: int) -> int:
        kept = unicodedata.category(chr(code_point))[0] in "LMN"
        self[code_point] = result = code_point if kept else 0x20
        return result


_WORD_CHARACTERS = _WordCharacters()


def words(text: str) -> list[str]:
    """The words of a text, in order, casefolded and in composed form (NFC)."""
    if text.isascii():
        return text.lower().translate(_WORD_CHARACTERS).split()
    return unicodedata.normalize("NFC", text.casefold()).translate(_WORD_CHARACTERS).split()
