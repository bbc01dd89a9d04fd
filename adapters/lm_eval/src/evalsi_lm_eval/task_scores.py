"""Score each recorded output with a task of the harness: its doc, its filters and its `process_results`."""

from __future__ import annotations

import json
from copy import deepcopy
from math import isnan
from pathlib import Path
from typing import Annotated, Any

from evalsi import Param, ParamError, Record, Score, Skip, evaluator
from evalsi_lm_eval.doc_scoring import ONLY_FILTER, Doc, DocScorer
from evalsi_lm_eval.filters import responses_of
from evalsi_lm_eval.likelihoods import LIKELIHOODS, likelihoods_of
from evalsi_lm_eval.plain import plain
from evalsi_lm_eval.task_config import task_config

TaskName = Annotated[
    str, Param(description="a task of the harness by its name, or the absolute path of its YAML file", min_length=1)
]
DocsPath = Annotated[
    str | None,
    Param(description="absolute path of JSON Lines: the docs by metadata.doc_id, for records without metadata.doc"),
]
Responses = list[list[Any]]
_NO_DOC = {"doc_to_text": "text", "doc_to_target": "target", "doc_to_choice": None}


class RecordedTask:
    """A task of the harness, with the docs and responses taken from records.

    Args:
        task: name or YAML file of the task.
        docs: JSON Lines file of docs; None takes the doc from each record.

    Raises:
        ParamError: the task or the file cannot be used.
    """

    def __init__(self, task: str, docs: str | None) -> None:
        self._config = task_config(task)
        self.name = task
        self._docs = None if docs is None else _read_docs(docs)
        self._scorer: DocScorer | None = None

    def values(self, record: Record) -> dict[tuple[str, str], Any]:
        """Return the task's results for a record, by metric and filter.

        Raises:
            Skip: the record lacks a field that the task needs.
        """
        doc = self._doc(record)
        scorer = self.scorer(doc)
        return scorer.values(doc, self._responses(record, scorer, doc))

    def scorer(self, doc: Doc) -> DocScorer:
        """Return the task's scorer, created with `doc` at the first call."""
        if self._scorer is None:
            self._scorer = DocScorer(self._config, doc)
        return self._scorer

    def made(self) -> DocScorer:
        """Return the scorer without a doc: the records to be aggregated may have been scored in other processes."""
        if self._scorer is None:
            self._scorer = DocScorer({**self._config, **_NO_DOC}, {"text": "", "target": ""})
        return self._scorer

    def _doc(self, record: Record) -> Doc:
        doc = record.metadata.get("doc")
        if doc is None and self._docs is not None:
            doc_id = record.metadata.get("doc_id")
            if type(doc_id) is not int:
                raise Skip("record has neither metadata.doc nor an integer metadata.doc_id")
            if not 0 <= doc_id < len(self._docs):
                raise Skip(f"metadata.doc_id is {doc_id}, and there are {len(self._docs)} docs")
            doc = self._docs[doc_id]
        if not isinstance(doc, dict):
            raise Skip("record has no metadata.doc; import a samples file, or name the docs with the param docs")
        # A task's code may change the doc, which other evaluators read too.
        return deepcopy(doc)

    def _responses(self, record: Record, scorer: DocScorer, doc: Doc) -> Responses:
        if scorer.output_type == "generate_until":
            return [list(responses_of(record))]
        if record.metadata.get("loglikelihoods") is None:
            kind = scorer.output_type
            raise Skip(f"record has no {LIKELIHOODS}, by which {self.name} ({kind}) is scored; a chat model gives none")
        if scorer.output_type == "loglikelihood_rolling":
            return [[value] for value, _ in likelihoods_of(record)]
        by_greed = not scorer.has_choices() or "exact_match" in scorer.metrics
        found = likelihoods_of(record, greedy=by_greed)
        if scorer.has_choices():
            count = len(scorer.choices(doc))
            if len(found) not in (count, 2 * count):
                raise Skip(f"the doc has {count} choices, and the record {len(found)} log-likelihoods")
        return [[(value, bool(greedy))] for value, greedy in found]


@evaluator(
    name="task",
    version=2,
    summary="Scores the record as a task of the harness does, by each metric that is a mean of records.",
)
class Task:
    """A task's own scoring, of each record."""

    def __init__(self, *, task: TaskName, docs: DocsPath = None) -> None:
        self._task = RecordedTask(task, docs)

    def score(self, record: Record) -> list[Score]:
        """Return a score for each metric and filter; `corpus-task` has the metrics that are not means.

        Raises:
            Skip: no metric of the task applies to the record alone.
            TypeError: a value is not a number.
        """
        values = self._task.values(record)
        scorer = self._task.made()
        scores = []
        for (metric, name), value in values.items():
            if not scorer.is_mean(metric):
                continue
            number = plain(value)
            if type(number) not in (int, float, bool):
                raise TypeError(f"{metric} of the task is {number!r:.60}, which no mean can be of. Use corpus-task.")
            # NaN means that the metric does not apply to the doc.
            if not isnan(number):
                is_yes_no = scorer.is_yes_no(metric) and number in (0, 1)
                verdict: dict[str, Any] = {"passed": number == 1} if is_yes_no else {"value": float(number)}
                scores.append(Score(name=score_name(metric, name), **verdict))
        if not scores:
            metrics = ", ".join(sorted({metric for metric, _ in values}))
            raise Skip(f"no metric of {self._task.name} is of this record alone ({metrics}); see corpus-task")
        return scores


def score_name(metric: str, name: str) -> str:
    """Return the name of a score: the metric, with the filter's name appended unless the task has only the default."""
    return metric if name == ONLY_FILTER else f"{metric}-{name}"


def _read_docs(path: str) -> list[Any]:
    file = Path(path).expanduser()
    if not file.is_absolute():
        raise ParamError("docs", f"{path} is no absolute path; an evaluator runs in a folder of its own")
    try:
        lines = file.read_text("utf-8").split("\n")
        return [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise ParamError("docs", f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ParamError("docs", f"{path} holds a line that is no JSON: {error}") from error
