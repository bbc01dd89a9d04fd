"""BLEU by sacrebleu: of a sentence with effective order, and of the whole corpus from pooled counts.

Papineni et al. (2002), "BLEU"; Post (2018), "A Call for Clarity in Reporting BLEU Scores". Scores are sacrebleu's
divided by 100. The corpus's score is never the mean of its sentences'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal

from evalsi import Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_text.composition import composed, is_unsegmented

Tokenize = Annotated[
    Literal["13a", "zh", "ja-mecab", "intl", "char", "none"],
    Param(
        description="sacrebleu's tokeniser: zh for Chinese, char for Japanese, Thai and other scripts without spaces"
    ),
]
MaxN = Annotated[int, Param(description="longest n-gram", minimum=1, maximum=9)]

_UNSUITED = (
    "The text has a script without spaces between words, in which this tokeniser finds whole sentences as words. Set "
    "tokenize to zh for Chinese, or to char."
)

# sacrebleu keeps the last 65,536 texts that it split, each twice and before as well as after; of long texts that is
# memory without use. With what Python adds to each, this many characters take about four megabytes.
_KEPT_CHARACTERS = 1_000_000
_ADDED_TO_EACH = 400


@evaluator(name="bleu", version=2, needs=("output", "reference"), outputs=[Output(minimum=0.0, maximum=1.0)])
class Bleu:
    """Sentence BLEU with effective order (sacrebleu), on 0 to 1; all references count."""

    def __init__(self, *, max_n: MaxN = 4, tokenize: Tokenize = "13a") -> None:
        self._counts = _SentenceCounts(max_n, tokenize)

    def score(self, record: Record) -> float | Score:
        """Return a number from 0 to 1, with a note where the tokeniser does not find the words of the script."""
        value = _share(self._counts.of(record).score)
        return Score(value=value, explanation=_UNSUITED) if self._counts.is_unsuited(record) else value


@evaluator(
    name="corpus-bleu",
    version=2,
    scope="dataset",
    needs=("output", "reference"),
    outputs=[Output(minimum=0.0, maximum=1.0)],
)
class CorpusBleu:
    """Corpus BLEU from pooled n-gram counts (sacrebleu), on 0 to 1; no mean of sentence scores."""

    def __init__(self, *, max_n: MaxN = 4, tokenize: Tokenize = "13a") -> None:
        self._counts = _SentenceCounts(max_n, tokenize)
        self._max_n = max_n

    def observe(self, record: Record) -> list[int]:
        """Return the matching and possible n-grams of each order, both lengths, and 1 for an unsuited tokeniser."""
        found = self._counts.of(record)
        unsuited = int(self._counts.is_unsuited(record))
        return [*found.counts, *found.totals, found.sys_len, found.ref_len, unsuited]

    def combine(self, totals: Sequence[float]) -> Score:
        """The corpus's score from the summed states."""
        *counted, unsuited = totals
        matching, possible, lengths = self._split(counted)
        value = self._counts.bleu.compute_bleu(
            matching, possible, *lengths, smooth_method="exp", max_ngram_order=self._max_n
        ).score
        note = f"No output has {self._max_n} words in a row, so BLEU-{self._max_n} of this corpus is 0 by definition."
        notes = [*([] if possible[-1] else [note]), *([_UNSUITED] if unsuited else [])]
        return Score(value=_share(value), explanation=" ".join(notes) or None)

    def resample(self, states: Sequence[Sequence[int]], resamples: int, seed: int) -> Iterator[Score]:
        """The score of each resample of the records, a product of matrices where the states would be summed anew."""
        import numpy

        table = numpy.asarray(states, dtype=float)
        size = len(table)
        random = numpy.random.default_rng(seed)
        for _ in range(resamples):
            drawn = numpy.bincount(random.integers(0, size, size=size), minlength=size)
            yield self.combine((drawn @ table).tolist())

    def _split(self, totals: Sequence[float]) -> tuple[list[int], list[int], list[int]]:
        whole = [int(count) for count in totals]
        return whole[: self._max_n], whole[self._max_n : -2], whole[-2:]


class _SentenceCounts:
    """What sacrebleu counts in one record, without keeping its text for long."""

    def __init__(self, max_n: int, tokenize: str) -> None:
        # Half a second that only its users pay.
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
        from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

        try:
            self.bleu: Any = BLEU(max_ngram_order=max_n, effective_order=True, tokenize=tokenize)
        except (ImportError, RuntimeError) as error:
            what = "needs MeCab and its dictionary ipadic, which have no wheel and are not part of this pack"
            raise ParamError("tokenize", f"{tokenize} {what}; use char") from error
        own = type(self.bleu.tokenizer).__call__
        self._caches: tuple[Any, ...] = (Tokenizer13a.__call__, TokenizerRegexp.__call__, own)
        self._wants_spaces = tokenize in ("13a", "intl", "none")
        self._kept = 0

    def of(self, record: Record) -> Any:
        """sacrebleu's `BLEUScore` of the output against all references."""
        output, references = composed(record.output_text), [*map(composed, record.reference_texts)]
        self._kept += len(output) + sum(map(len, references)) + _ADDED_TO_EACH * (1 + len(references))
        if self._kept > _KEPT_CHARACTERS:
            self._kept = 0
            for cache in self._caches:
                if hasattr(cache, "cache_clear"):
                    cache.cache_clear()
        return self.bleu.sentence_score(output, references)

    def is_unsuited(self, record: Record) -> bool:
        """Return whether the tokeniser splits at spaces and a text has a script without them."""
        return self._wants_spaces and any(map(is_unsegmented, (record.output_text, *record.reference_texts)))


def _share(percent: float) -> float:
    """A score out of 100 as a share; sacrebleu's 100.00000000000004 is 1."""
    return min(1.0, percent / 100)
