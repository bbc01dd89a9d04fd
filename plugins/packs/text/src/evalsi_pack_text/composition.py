"""The composed form (NFC) of texts, and scripts that are written without spaces between words."""

from __future__ import annotations

import re
import unicodedata

# Han, kana, Thai, Lao, Burmese and Khmer.
_UNSEGMENTED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def composed(text: str) -> str:
    """Return the text in NFC, so that é and Hangul are the same characters however they were typed."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def is_unsegmented(text: str) -> bool:
    """Return whether a text has a script that puts no spaces between words."""
    return not text.isascii() and _UNSEGMENTED.search(text) is not None
