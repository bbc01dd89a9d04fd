"""chrF by sacrebleu: F-score of character n-grams, white space left out.

Popović (2015), "chrF: character n-gram F-score for automatic MT evaluation". Scores are sacrebleu's divided by 100.
"""

from __future__ import annotations

from typing import Annotated, Any

from evalsi import Output, Param, Record, evaluator
from evalsi_pack_text.composition import composed


@evaluator(name="chrf", version=2, needs=("output", "reference"), outputs=[Output(minimum=0.0, maximum=1.0)])
class Chrf:
    """chrF (sacrebleu), on 0 to 1, best reference."""

    def __init__(
        self,
        *,
        max_n: Annotated[int, Param(description="longest character n-gram", minimum=1, maximum=20)] = 6,
        beta: Annotated[float, Param(description="weight of recall over precision", minimum=0, maximum=1_000_000)] = 2,
    ) -> None:
        from sacrebleu.metrics.chrf import CHRF  # Half a second that only its users pay.

        self._chrf: Any = CHRF(char_order=max_n, beta=beta)

    def score(self, record: Record) -> float:
        """A number from 0 to 1."""
        output, references = composed(record.output_text), [*map(composed, record.reference_texts)]
        return min(1.0, float(self._chrf.sentence_score(output, references).score) / 100)
