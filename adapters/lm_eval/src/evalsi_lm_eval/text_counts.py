"""BLEU, chrF, chrF++ and TER as sums of counts: what sacrebleu counts in each text, and the score of all counts.

The harness keeps all texts and counts them at the end; that is the same score, and too slow to resample. It must not
know records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# sacrebleu keeps the last 65,536 texts that it split, which of long texts is memory without use.
_KEPT_TEXTS = 1_000


class TextCounts:
    """Counts for one metric, with the harness' settings.

    Args:
        metric: the harness' aggregation: "bleu", "chrf", "chrf++" or "ter".
    """

    METRICS = ("bleu", "chrf", "chrf++", "ter")

    def __init__(self, metric: str) -> None:
        from sacrebleu.metrics import BLEU, CHRF, TER
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

        made = {"bleu": BLEU, "chrf": CHRF, "chrf++": lambda: CHRF(word_order=2), "ter": TER}
        self._metric: Any = made[metric]()
        self._caches: tuple[Any, ...] = (Tokenizer13a.__call__, TokenizerRegexp.__call__)
        self._counted = 0

    def of(self, output: str, references: Sequence[str]) -> list[float]:
        """What sacrebleu counts in one output against all of its references."""
        self._counted += 1
        if self._counted % _KEPT_TEXTS == 0:
            for cache in self._caches:
                cache.cache_clear()
        (counts,) = self._metric._extract_corpus_statistics([output], [[reference] for reference in references])
        return [float(count) for count in counts]

    def score(self, totals: Sequence[float]) -> float:
        """The score of all counts together, on the harness' scale."""
        return float(self._metric._compute_score_from_stats(list(totals)).score)


def resampled(table: Any, resamples: int, seed: int) -> Iterator[Any]:
    """How often each of the rows is drawn, for each resample with replacement."""
    import numpy

    random, size = numpy.random.default_rng(seed), len(table)
    for _ in range(resamples):
        yield numpy.bincount(random.integers(0, size, size=size), minlength=size)
