"""ROUGE-1, ROUGE-2 and ROUGE-L as F1 over words, against the best reference for each.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries"; on ASCII text the numbers are those of rouge-score
0.1.2 without stemming. Words are Unicode's, so that text in other scripts is not scored 0.
"""

from __future__ import annotations

from typing import Any

from evalsi import Output, Record, Score, evaluator
from evalsi_pack_text.overlap import common, f1
from evalsi_pack_text.words import words

NAMES = ("rouge-1", "rouge-2", "rouge-l")


@evaluator(
    name="rouge",
    version=1,
    needs=("output", "reference"),
    outputs=[Output(name, minimum=0.0, maximum=1.0) for name in NAMES],
)
class Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L F1 over Unicode words, best reference."""

    def __init__(self) -> None:
        from rapidfuzz.distance import LCSseq  # Loaded by those who score with it.

        self._lcs: Any = LCSseq.similarity

    def score(self, record: Record) -> list[Score]:
        """Three numbers from 0 to 1."""
        output = words(record.output.as_text())
        best = (0.0, 0.0, 0.0)
        for reference in record.references:
            found = self._rouge(output, words(reference.as_text()))
            best = found if best == (0.0, 0.0, 0.0) else tuple(map(max, best, found))  # type: ignore[assignment]
        return [Score(name=name, value=value) for name, value in zip(NAMES, best, strict=True)]

    def _rouge(self, output: list[str], reference: list[str]) -> tuple[float, float, float]:
        if output == reference and output:
            # A text of one word has no pair of words: nothing can overlap, as in the reference implementation.
            return 1.0, 1.0 if len(output) > 1 else 0.0, 1.0
        size, reference_size = len(output), len(reference)
        one = common(output, reference)
        if not one:
            return 0.0, 0.0, 0.0
        pairs, reference_pairs = list(zip(output, output[1:])), list(zip(reference, reference[1:]))
        two = common(pairs, reference_pairs)
        longest = self._lcs(output, reference)
        return (
            f1(one, size, reference_size),
            f1(two, len(pairs), len(reference_pairs)),
            f1(longest, size, reference_size),
        )
