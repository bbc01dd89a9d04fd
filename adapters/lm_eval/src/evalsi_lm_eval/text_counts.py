"""BLEU, chrF, chrF++ and TER from sums of sacrebleu's counts per text.

The harness keeps all texts and counts them at the end. The score is the same, but that is too slow for resampling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

# sacrebleu caches the last 65,536 tokenized texts, which wastes memory on long texts.
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
        """Return sacrebleu's counts for an output and its references."""
        self._counted += 1
        if self._counted % _KEPT_TEXTS == 0:
            for cache in self._caches:
                cache.cache_clear()
        (counts,) = self._metric._extract_corpus_statistics([output], [[reference] for reference in references])
        return [float(count) for count in counts]

    def score(self, totals: Sequence[float]) -> float:
        """Return the score for the summed counts, on the harness' scale."""
        return float(self._metric._compute_score_from_stats(list(totals)).score)


def resampled(table: Any, resamples: int, seed: int) -> Iterator[Any]:
    """Yield, for each resample with replacement, how often each row is drawn."""
    import numpy

    random, size = numpy.random.default_rng(seed), len(table)
    for _ in range(resamples):
        yield numpy.bincount(random.integers(0, size, size=size), minlength=size)
