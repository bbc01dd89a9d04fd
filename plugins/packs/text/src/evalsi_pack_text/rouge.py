"""ROUGE-1, ROUGE-2 and ROUGE-L as F1 over words, against the best reference for each.

Lin (2004), "ROUGE: A Package for Automatic Evaluation of Summaries"; on ASCII text the numbers are those of rouge-score
0.1.2 without stemming. Words are Unicode's, so that text in other scripts is not scored 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from evalsi import Output, Record, Score, evaluator
from evalsi_pack_text.overlap import common, f1
from evalsi_pack_text.words import words

NAMES = ("rouge-1", "rouge-2", "rouge-l")


@evaluator(
    name="rouge",
    version=2,
    needs=("output", "reference"),
    outputs=[Output(name, minimum=0.0, maximum=1.0) for name in NAMES],
)
class Rouge:
    """ROUGE-1, ROUGE-2 and ROUGE-L F1 over Unicode words, best reference."""

    def __init__(self) -> None:
        from rapidfuzz.distance import LCSseq  # Loaded by those who score with it.

        self._longest_common: Callable[[Sequence[str], Sequence[str]], int] = LCSseq.similarity

    def score(self, record: Record) -> list[Score]:
        """Three numbers from 0 to 1."""
        output = words(record.output_text)
        one = two = longest = -1.0
        for reference in record.reference_texts:
            expected = words(reference)
            if expected:
                found = self._rouge(output, expected)
                one, two, longest = max(one, found[0]), max(two, found[1]), max(longest, found[2])
        if one < 0:
            raise ValueError("no reference holds a word; correct the references of this record")
        return [
            Score(name="rouge-1", value=one),
            Score(name="rouge-2", value=two),
            Score(name="rouge-l", value=longest),
        ]

    def _rouge(self, output: list[str], expected: list[str]) -> tuple[float, float, float]:
        size, expected_size = len(output), len(expected)
        if output == expected:
            # What is counted below would be these numbers too.
            return 1.0, float(size > 1), 1.0
        shared = common(output, expected)
        if not shared:
            return 0.0, 0.0, 0.0
        # A text of one word has no pair of words: nothing can overlap, as in the reference implementation.
        shared_pairs = common([*pairwise(output)], [*pairwise(expected)]) if shared > 1 else 0
        return (
            f1(shared, size, expected_size),
            f1(shared_pairs, size - 1, expected_size - 1),
            f1(self._longest_common(output, expected), size, expected_size),
        )
