"""Token F1 of extractive question answering: overlap of two bags of words after SQuAD's normalisation.

Rajpurkar et al. (2016), "SQuAD"; the normalisation and the rule for answers that it empties, such as "A", are those of
the official evaluation script, versions 1.1 and 2.0.
"""

from __future__ import annotations

import re
import string
import unicodedata

from evalsi import Output, Record, evaluator
from evalsi_pack_text.overlap import common, f1

_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = string.punctuation.encode()


class _NoPunctuation(dict[int, int | None]):
    """For `str.translate`: punctuation of ASCII and of East Asian width, such as 。 and ！, goes."""

    def __missing__(self, code_point: int) -> int | None:
        character = chr(code_point)
        goes = unicodedata.category(character)[0] == "P" and unicodedata.east_asian_width(character) in "WFH"
        self[code_point] = result = None if goes else code_point
        return result


_NO_PUNCTUATION = _NoPunctuation(dict.fromkeys(_PUNCTUATION))


def squad_tokens(text: str) -> list[str]:
    """Return the tokens in lower case and NFC, without punctuation and English articles, split at white space.

    Punctuation is that of ASCII, as in SQuAD's script, and that of East Asian width, such as 。 and ！.
    """
    if text.isascii():
        bare = text.lower().encode().translate(None, _PUNCTUATION).decode()
        return [token for token in bare.split() if token not in _ARTICLES]
    # Other punctuation stays, as in the script, and may stand beside an article: “the”.
    return _ARTICLE.sub(" ", unicodedata.normalize("NFC", text.lower()).translate(_NO_PUNCTUATION)).split()


@evaluator(
    name="token-f1",
    version=2,
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
def token_f1(record: Record) -> float:
    """SQuAD token F1 with multiset overlap, best reference."""
    text = record.output_text
    output = squad_tokens(text)
    best = -1.0
    for expected in record.reference_texts:
        tokens = squad_tokens(expected)
        if not tokens and not _says_something(expected):
            # Nothing but punctuation is left: no answer can match it, whatever the output says.
            continue
        if tokens and output:
            found = 1.0 if output == tokens else f1(common(output, tokens), len(output), len(tokens))
        else:
            # Nothing but an article is left of one of them, or nothing was said.
            found = float(output == tokens and _says_something(text))
        best = max(best, found)
    if best < 0:
        raise ValueError("no reference holds a letter or a digit; correct the references of this record")
    return best


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
