"""Text to words in any script: runs of letters, marks and digits, in lower case.

Marks belong to their letters, so that a word of Devanagari, Thai or vowelled Arabic stays whole; ASCII text gives the
words that the ROUGE reference implementation gives.
"""

from __future__ import annotations

import unicodedata

# Scripts without blanks between words in which a character by itself means something, as in BERT's tokeniser: each is
# a word. Thai, Lao, Khmer and Burmese need a dictionary for their words; there a word is what stands between blanks.
_SINGLE = (
    "CJK UNIFIED",
    "CJK COMPATIBILITY IDEOGRAPH",
    "HIRAGANA LETTER",
    "KATAKANA LETTER",
    "HALFWIDTH KATAKANA LETTER",
)
_ZERO_WIDTH_SPACE = "\u200b"


class _WordCharacters(dict[int, int | str | None]):
    """For `str.translate`: what becomes of a character. Filled as characters come."""

    def __missing__(self, code_point: int) -> int | str | None:
        self[code_point] = result = _word_character(chr(code_point))
        return result


_WORD_CHARACTERS = _WordCharacters()
_ASCII_WORDS = bytes(ord(chr(code).lower()) if chr(code).isalnum() and code < 128 else 0x20 for code in range(256))


def words(text: str) -> list[str]:
    """The words of a text, in order, casefolded and in composed form (NFC)."""
    if text.isascii():
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return unicodedata.normalize("NFC", text.casefold()).translate(_WORD_CHARACTERS).split()


def _word_character(character: str) -> int | str | None:
    category = unicodedata.category(character)
    if category == "Lo" and unicodedata.name(character, "").startswith(_SINGLE):
        return f" {character} "
    if category[0] in "LMN":
        return ord(character)
    # A joiner within a word is no part of it; everything else ends one.
    return None if category == "Cf" and character != _ZERO_WIDTH_SPACE else 0x20
