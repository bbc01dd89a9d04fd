"""Multiple-choice metrics from log-likelihoods: accuracies, Brier score, F1 and Matthews' correlation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalsi import Output, Record, Score, Skip, evaluator
from evalsi_lm_eval.doc_scoring import ONLY_FILTER, Doc, DocScorer
from evalsi_lm_eval.likelihoods import LIKELIHOODS, choices_of, likelihoods_of, right_choice_of
from evalsi_lm_eval.metrics import MetricRow

MUTUAL_INFO = "acc_mutual_info"
_OF_ALL = {"f1": 0.0, "mcc": -1.0}
"""Metrics of all records together, and the minimum of each."""


def choice_evaluator(row: MetricRow) -> Any:
    """Return the evaluator of a row of the table."""
    if row.metric in _OF_ALL:
        return _of_all(row, _OF_ALL[row.metric])
    return _accuracy(row) if row.maximum is None else _number(row)


def _accuracy(row: MetricRow) -> Any:
    needs = [LIKELIHOODS] if row.metric == "acc" else [LIKELIHOODS, "metadata.choices"]

    @evaluator(name=row.evaluator, summary=row.summary, needs=needs, outputs=[Output(kind="pass")])
    class Accuracy:
        def __init__(self) -> None:
            self._scorer = _scorer(row.metric)
            self._without_choices = DocScorer(_CONTINUATION, {"text": "", "target": "t"})

        def score(self, record: Record) -> bool:
            """Return whether the chosen answer is correct."""
            if row.metric == "acc" and not record.has("metadata.choices"):
                (likelihood,) = _only(likelihoods_of(record, greedy=True))
                values = self._without_choices.values({"text": "", "target": "t"}, [[likelihood]])
            else:
                values = self._scorer.values(*_doc(record, row.metric))
            return bool(values[row.metric, ONLY_FILTER])

    return Accuracy


def _number(row: MetricRow) -> Any:
    @evaluator(
        name=row.evaluator,
        summary=row.summary,
        needs=[LIKELIHOODS, "metadata.choices"],
        outputs=[Output(minimum=0.0, maximum=row.maximum, higher_is_better=row.higher_is_better)],
    )
    class Number:
        def __init__(self) -> None:
            self._scorer = _scorer(row.metric)

        def score(self, record: Record) -> float:
            """Return the harness' score of this record alone; the mean over records is its score of the dataset."""
            value = self._scorer.values(*_doc(record, row.metric, one_right=True))[row.metric, ONLY_FILTER]
            return self._scorer.aggregate(row.metric, [value])

    return Number


def _of_all(row: MetricRow, minimum: float) -> Any:
    @evaluator(
        name=row.evaluator,
        summary=row.summary,
        scope="dataset",
        needs=[LIKELIHOODS, "metadata.choices"],
        outputs=[Output(minimum=minimum, maximum=row.maximum, higher_is_better=row.higher_is_better)],
    )
    class OfAll:
        def __init__(self) -> None:
            self._scorer = _scorer(row.metric)

        def observe(self, record: Record) -> list[int]:
            """Return the indices of the correct choice and of the model's choice."""
            doc, responses = _doc(record, row.metric, one_right=True)
            if row.metric == "f1" and len(doc["choices"]) != 2:
                raise Skip(f"f1 is of two choices, and the record has {len(doc['choices'])}")
            gold, made = self._scorer.values(doc, responses)[row.metric, ONLY_FILTER]
            return [int(gold), int(made)]

        def aggregate(self, states: Sequence[list[int]]) -> Score:
            """Return the metric of all records."""
            return Score(value=self._scorer.aggregate(row.metric, states))

    return OfAll


_CONTINUATION = {
    "task": "acc",
    "output_type": "loglikelihood",
    "doc_to_text": "text",
    "doc_to_target": "target",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}


def _scorer(metric: str) -> DocScorer:
    config = {
        "task": metric,
        "output_type": "multiple_choice",
        "doc_to_text": "text",
        "doc_to_choice": "choices",
        "doc_to_target": "gold",
        "metric_list": [{"metric": metric}],
    }
    return DocScorer(config, {"text": "", "choices": ["a", "b"], "gold": 0})


def _doc(record: Record, metric: str, *, one_right: bool = False) -> tuple[Doc, list[list[Any]]]:
    """Return the record as a doc, with its log-likelihoods as the responses of one request per choice."""
    choices = choices_of(record)
    found = likelihoods_of(record)
    gold = right_choice_of(record, choices)
    if isinstance(gold, list):
        if one_right:
            raise Skip("the record has several right choices, and this metric takes one")
        if metric == MUTUAL_INFO:
            raise Skip("the record has several right choices, and the harness compares with one")
    wanted = 2 * len(choices) if metric == MUTUAL_INFO else len(choices)
    if metric != MUTUAL_INFO and len(found) == 2 * len(choices):
        # In the log of a mutual-information task, the unconditional log-likelihoods of the choices follow.
        found = found[: len(choices)]
    if len(found) != wanted:
        raise Skip(f"{len(choices)} choices take {wanted} log-likelihoods, and the record has {len(found)}")
    doc = {"text": "", "choices": choices, "gold": gold}
    return doc, [[(value, bool(greedy))] for value, greedy in found]


def _only(found: list[Any]) -> list[Any]:
    if len(found) != 1:
        raise Skip(f"the record has {len(found)} log-likelihoods and no metadata.choices")
    return found
