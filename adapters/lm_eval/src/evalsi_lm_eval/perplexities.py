"""Perplexities from the recorded log-likelihoods of continuations or whole documents.

Perplexity is exp of the negative mean, so it is computed over all records and is not a mean over records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalsi import Output, Record, Score, Skip, evaluator
from evalsi_lm_eval.doc_scoring import ONLY_FILTER, DocScorer
from evalsi_lm_eval.likelihoods import LIKELIHOODS, likelihoods_of
from evalsi_lm_eval.metrics import MetricRow


def perplexity_evaluator(row: MetricRow) -> Any:
    """Return the evaluator of a row of the table."""
    of_document = row.of == "document"

    @evaluator(
        name=row.evaluator,
        summary=row.summary,
        scope="dataset",
        needs=["reference", LIKELIHOODS] if of_document else [LIKELIHOODS],
        outputs=[Output(minimum=0.0, higher_is_better=row.higher_is_better, unit=row.unit)],
    )
    class Perplexity:
        def __init__(self) -> None:
            config = {
                "task": row.metric,
                "output_type": "loglikelihood_rolling" if of_document else "loglikelihood",
                "doc_to_text": "text",
                "doc_to_target": "target",
                "metric_list": [{"metric": row.metric}],
            }
            self._scorer = DocScorer(config, {"text": "", "target": "t"})

        def observe(self, record: Record) -> Any:
            """Return the log-likelihood; for a document, also the number of its words or bytes."""
            found = likelihoods_of(record)
            if len(found) != 1:
                raise Skip(f"it is of one log-likelihood, and the record has {len(found)}")
            ((value, greedy),) = found
            text = record.reference_texts[0] if of_document else "t"
            response = value if of_document else (value, bool(greedy))
            observed = self._scorer.values({"text": "", "target": text}, [[response]])[row.metric, ONLY_FILTER]
            return list(observed) if of_document else observed

        def aggregate(self, states: Sequence[Any]) -> Score:
            """Return the perplexity of all records."""
            return Score(value=self._scorer.aggregate(row.metric, states))

    return Perplexity
