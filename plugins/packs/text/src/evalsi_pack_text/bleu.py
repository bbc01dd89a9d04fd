"""BLEU by sacrebleu: of a sentence with effective order, and of the whole corpus from pooled counts.

Papineni et al. (2002), "BLEU"; Post (2018), "A Call for Clarity in Reporting BLEU Scores". Scores are sacrebleu's divided
by 100. The corpus's score is never the mean of its sentences'.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from evalsi import Output, Param, Record, Score, evaluator

MaxN = Annotated[int, Param(description="longest n-gram", minimum=1, maximum=9)]


@evaluator(name="bleu", version=1, needs=("output", "reference"), outputs=[Output(minimum=0.0, maximum=1.0)])
class Bleu:
    """Sentence BLEU with effective order (sacrebleu), on 0 to 1; all references count."""

    def __init__(self, *, max_n: MaxN = 4) -> None:
        from sacrebleu.metrics.bleu import BLEU  # Half a second that only its users pay.

        self._bleu: Any = BLEU(max_ngram_order=max_n, effective_order=True)

    def score(self, record: Record) -> float:
        """A number from 0 to 1."""
        references = [reference.as_text() for reference in record.references]
        return _share(self._bleu.sentence_score(record.output.as_text(), references).score)


@evaluator(
    name="corpus-bleu",
    version=1,
    scope="dataset",
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class CorpusBleu:
    """Corpus BLEU from pooled n-gram counts (sacrebleu), on 0 to 1; no mean of sentence scores."""

    def __init__(self, *, max_n: MaxN = 4) -> None:
        from sacrebleu.metrics.bleu import BLEU

        self._bleu: Any = BLEU(max_ngram_order=max_n, effective_order=True)
        self._max_n = max_n

    def observe(self, record: Record) -> list[int]:
        """Matching and possible n-grams of each order, and the lengths of output and closest reference."""
        references = [reference.as_text() for reference in record.references]
        found = self._bleu.sentence_score(record.output.as_text(), references)
        # Without any n-gram the sentence's score stops early, before its totals are filled.
        totals = [max(found.sys_len - order, 0) for order in range(self._max_n)]
        return [*map(int, found.counts), *totals, int(found.sys_len), int(found.ref_len)]

    def combine(self, totals: Sequence[float]) -> Score:
        """The corpus's score from the summed states."""
        n = self._max_n
        correct, total = [int(count) for count in totals[:n]], [int(count) for count in totals[n : 2 * n]]
        value = _share(
            self._bleu.compute_bleu(correct, total, int(totals[-2]), int(totals[-1]), max_ngram_order=n).score
        )
        note = (
            None if total[-1] else f"No output has {n} words in a row, so BLEU-{n} of this corpus is 0 by definition."
        )
        return Score(value=value, explanation=note)

    def resample(self, states: Sequence[Sequence[int]], resamples: int, seed: int) -> list[Score]:
        """The score of each resample of the records."""
        import numpy

        table = numpy.asarray(states, dtype=float)
        random = numpy.random.default_rng(seed)
        scores = []
        for _ in range(resamples):
            counts = numpy.bincount(random.integers(0, len(table), size=len(table)), minlength=len(table))
            scores.append(self.combine(list(counts @ table)))
        return scores


def _share(percent: float) -> float:
    """A score out of 100 as a share; sacrebleu's 100.00000000000004 is 1."""
    return min(1.0, percent / 100)
