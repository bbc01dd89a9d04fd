"""Token F1 of extractive question answering: overlap of two bags of words after SQuAD's normalisation.

Rajpurkar et al. (2016), "SQuAD"; the normalisation and the rule for empty answers are those of the official evaluation
script, version 1.1 and 2.0.
"""

from __future__ import annotations

import re
import string

from evalsi import Output, Record, evaluator
from evalsi_pack_text.overlap import common, f1

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def squad_tokens(text: str) -> list[str]:
    """Lower case, without ASCII punctuation and English articles, split at white space."""
    bare = text.lower().translate(_NO_PUNCTUATION)
    return _ARTICLES.sub(" ", bare).split()


@evaluator(
    name="token-f1",
    version=1,
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
def token_f1(record: Record) -> float:
    """SQuAD token F1 with multiset overlap, best reference."""
    output = squad_tokens(record.output.as_text())
    best = -1.0
    for reference in record.references:
        text = reference.as_text()
        tokens = squad_tokens(text)
        if not tokens and not any(map(str.isalnum, text)):
            # Nothing but punctuation: no answer can match it, which is the data's fault and not the answer's.
            continue
        if tokens and output:
            found = f1(common(output, tokens), len(output), len(tokens))
        else:
            found = float(output == tokens)
        best = max(best, found)
    if best < 0:
        raise ValueError("no reference holds a letter or a digit; mend the references of this record")
    return best
