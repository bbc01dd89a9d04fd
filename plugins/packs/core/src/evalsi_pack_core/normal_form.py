"""The form in which two texts are compared: compatibility characters, case and white space levelled.

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


def normal_form(text: str) -> str:
    """NFKC, casefold, and every run of white space as one space, none at the ends."""
    if text.isascii():
        return " ".join(text.lower().split())
    # Casefolding may undo the composition, so it is composed again (Unicode 15, section 3.13, toNFKC_Casefold).
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def without_punctuation(text: str) -> str:
    """The text without characters of the Unicode categories P*."""
    return text.translate(_UNPUNCTUATED)
