"""The forms in which two texts are compared: composition, case, white space and punctuation levelled.

It must not know records.
"""

from __future__ import annotations

import unicodedata


class _Unpunctuated(dict[int, int | None]):
    """For `str.translate`: punctuation (Unicode categories P*) goes, everything else stays."""

    def __missing__(self, code_point: int) -> int | None:
        kept = unicodedata.category(chr(code_point))[0] != "P"
        self[code_point] = result = code_point if kept else None
        return result


_UNPUNCTUATED = _Unpunctuated()


def composed(text: str) -> str:
    """The text with letters and marks composed (NFC), so that é is é however it was typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def folded(text: str) -> str:
    """The text without case: ß is ss. Composed as well, for folding may undo it."""
    if text.isascii():
        return text.lower()
    # The caseless match of Unicode 15, section 3.13, D145; composed at last.
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def normal_form(text: str) -> str:
    """NFKC and no case."""
    if text.isascii():
        return text.lower()
    # The compatibility caseless match of Unicode 15, section 3.13, D146: folding may bring up more to decompose.
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", decomposed.casefold())


def spaced(text: str) -> str:
    """Return the text in normal form, each run of white space as one space."""
    return " ".join(normal_form(text).split())


def spaced_cased(text: str) -> str:
    """Return the text in compatibility form (NFKC), each run of white space as one space, its case kept."""
    return " ".join((text if text.isascii() else unicodedata.normalize("NFKC", text)).split())


def words(text: str) -> list[str]:
    """What stands between white space, in normal form."""
    return normal_form(text).split()


def unpunctuated_words(text: str) -> list[str]:
    """The same without punctuation."""
    return unpunctuated(normal_form(text)).split()


def unpunctuated(text: str) -> str:
    """The text without characters of the Unicode categories P*; a text of nothing else stays as it is."""
    bare = text.translate(_UNPUNCTUATED)
    return bare if bare and not bare.isspace() else text
