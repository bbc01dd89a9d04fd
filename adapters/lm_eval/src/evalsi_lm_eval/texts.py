"""Text metrics: exact match of each record, and BLEU, chrF, chrF++ and TER of all records together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from evalsi import Output, Param, ParamError, Record, Score, evaluator
from evalsi_lm_eval.doc_scoring import ONLY_FILTER, Doc, DocScorer
from evalsi_lm_eval.filters import Filters, pipeline, responses_of
from evalsi_lm_eval.metrics import METRICS, MetricRow
from evalsi_lm_eval.text_counts import TextCounts, resampled

_EXACT = next(row for row in METRICS if row.metric == "exact_match")


@evaluator(name=_EXACT.evaluator, summary=_EXACT.summary, needs=("output", "reference"), outputs=[Output(kind="pass")])
class ExactMatch:
    """exact_match of the harness; of several references any counts."""

    def __init__(
        self,
        *,
        regexes_to_ignore: Annotated[Sequence[str], Param(description="what they match is taken out of both")] = (),
        ignore_case: bool = False,
        ignore_punctuation: Annotated[bool, Param(description="that of ASCII")] = False,
        ignore_numbers: Annotated[bool, Param(description="the digits 0 to 9")] = False,
        filters: Filters = (),
    ) -> None:
        for pattern in regexes_to_ignore:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ParamError("regexes_to_ignore", f"{pattern!r} is no regular expression: {error}") from error
        ignored = {
            "ignore_case": ignore_case,
            "ignore_punctuation": ignore_punctuation,
            "ignore_numbers": ignore_numbers,
        }
        if regexes_to_ignore:
            ignored["regexes_to_ignore"] = list(regexes_to_ignore)  # type: ignore[assignment] # a list beside truths
        self._scorer = _scorer(_EXACT.metric, filters, ignored)

    def score(self, record: Record) -> bool:
        """Return whether the output equals one of the references."""
        doc = _doc(record)
        values = self._scorer.values(doc, [responses_of(record)])
        return bool(values[_EXACT.metric, ONLY_FILTER])


def texts_evaluator(row: MetricRow) -> Any:
    """Return the evaluator of a row for a corpus metric."""

    @evaluator(
        name=row.evaluator,
        summary=row.summary,
        scope="dataset",
        needs=("output", "reference"),
        outputs=[Output(minimum=0.0, maximum=row.maximum, higher_is_better=row.higher_is_better)],
    )
    class Texts:
        def __init__(self, *, filters: Filters = ()) -> None:
            self._scorer = _scorer(row.metric, filters, {})
            self._counts = TextCounts(row.metric)

        def observe(self, record: Record) -> list[float]:
            """Return the counts of the filtered output."""
            doc = _doc(record)
            result = self._scorer.filtered(doc, responses_of(record))
            if not isinstance(result, str):
                raise TypeError(f"The filters gave {result!r:.40}, which is no text. Give `map` texts alone.")
            return self._counts.of(result, doc["every"])

        def combine(self, totals: Sequence[float]) -> Score:
            """Return the metric of all records from the summed counts."""
            value = self._counts.score(totals)
            # sacrebleu can exceed 100 by a rounding error.
            return Score(value=value if row.maximum is None else min(row.maximum, value))

        def resample(self, states: Sequence[list[float]], resamples: int, seed: int) -> Iterator[Score]:
            """Yield the score of each resample. A matrix product is faster than summing the counts again."""
            import numpy

            table = numpy.asarray(states, dtype=float)
            for drawn in resampled(table, resamples, seed):
                yield self.combine((drawn @ table).tolist())

    return Texts


def _scorer(metric: str, filters: Sequence[dict[str, Any]], ignored: dict[str, Any]) -> DocScorer:
    config = {
        "task": metric,
        "output_type": "generate_until",
        "doc_to_text": "text",
        "doc_to_target": "target",
        "metric_list": [{"metric": metric, **ignored}],
        "filter_list": pipeline(filters),
    }
    return DocScorer(config, {"text": "", "target": "t", "every": ["t"]})


def _doc(record: Record) -> Doc:
    references = record.reference_texts
    doc = {"text": "", "target": references[0] if len(references) == 1 else references, "every": references}
    choices = record.metadata.get("choices")
    return doc if choices is None else {**doc, "choices": choices}
