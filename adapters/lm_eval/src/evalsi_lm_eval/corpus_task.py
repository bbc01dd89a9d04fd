"""Score all recorded outputs together with a task's own aggregation, as the harness reports it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum, isnan, nan
from typing import Any

from evalsi import Record, Score, Skip, evaluator
from evalsi_lm_eval.doc_scoring import DocScorer
from evalsi_lm_eval.plain import plain
from evalsi_lm_eval.task_scores import DocsPath, RecordedTask, TaskName, score_name
from evalsi_lm_eval.text_counts import TextCounts, resampled


@evaluator(
    name="corpus-task",
    summary="Scores all records together as a task of the harness does: the figures that it reports.",
    scope="dataset",
)
class CorpusTask:
    """A task's own scoring, of all records."""

    def __init__(self, *, task: TaskName, docs: DocsPath = None) -> None:
        self._task = RecordedTask(task, docs)
        self._counts_of: dict[str, TextCounts] = {}

    def observe(self, record: Record) -> list[list[Any]]:
        """Return metric, filter and the task's value for the record. NaN, which a state cannot hold, is left out.

        For a corpus metric of texts the value is the counts of the text, followed by the name of that metric.
        """
        observed = []
        for (metric, name), value in self._task.values(record).items():
            said = plain(value)
            of_texts = self._task.made().text_metric(metric)
            if of_texts:
                references, output = said
                every = [references] if isinstance(references, str) else references
                observed.append([metric, name, self._counts(of_texts).of(_text(output), every), of_texts])
            else:
                observed.append([metric, name] if type(said) is float and isnan(said) else [metric, name, said])
        return observed

    def aggregate(self, states: Sequence[list[list[Any]]]) -> list[Score]:
        """Return a score for each metric and filter.

        Raises:
            Skip: no metric of the task applies to the records.
        """
        scores = [score for column in self._columns(states) if (score := column.score(column.values))]
        if not scores:
            raise Skip(f"{self._task.name} is about none of these records")
        return scores

    def resample(self, states: Sequence[list[list[Any]]], resamples: int, seed: int) -> Iterator[list[Score]]:
        """Yield the scores of each resample."""
        columns = self._columns(states)
        # A metric that some records lack is resampled from the records that have it.
        drawn = [resampled(column.values, resamples, seed) for column in columns]
        for every in zip(*drawn, strict=True):
            found = [column.score_drawn(times) for column, times in zip(columns, every, strict=True)]
            yield [score for score in found if score]

    def _counts(self, metric: str) -> TextCounts:
        if metric not in self._counts_of:
            self._counts_of[metric] = TextCounts(metric)
        return self._counts_of[metric]

    def _columns(self, states: Sequence[list[list[Any]]]) -> list[_Column]:
        """Collect the values of all records, one column per metric and filter."""
        columns: dict[tuple[str, str], _Column] = {}
        scorer = self._task.made()
        for state in states:
            for metric, name, *said in state:
                if (metric, name) not in columns:
                    counts = self._counts(said[1]) if len(said) > 1 else None
                    columns[metric, name] = _Column(metric, score_name(metric, name), scorer, counts)
                columns[metric, name].values.append(said[0] if said else nan)
        return list(columns.values())


class _Column:
    """The values of all records for one metric and filter."""

    def __init__(self, metric: str, name: str, scorer: DocScorer, counts: TextCounts | None) -> None:
        self.values: list[Any] = []
        self._metric = metric
        self._name = name
        self._scorer = scorer
        self._counts = counts
        self._table: Any = None

    def score(self, values: Sequence[Any]) -> Score | None:
        """Return the task's score for the values, or None if the harness gives NaN."""
        if self._counts is not None:
            return self._score(self._counts.score([fsum(column) for column in zip(*values, strict=True)]))
        return self._score(self._scorer.aggregate(self._metric, values))

    def score_drawn(self, times: Any) -> Score | None:
        """Return the score of a resample, in which value i counts `times[i]` times. Counts use a matrix product."""
        if self._counts is None:
            places = times.nonzero()[0]
            return self.score([self.values[place] for place in places for _ in range(times[place])])
        if self._table is None:
            import numpy

            self._table = numpy.asarray(self.values, dtype=float)
        return self._score(self._counts.score((times @ self._table).tolist()))

    def _score(self, value: float) -> Score | None:
        return None if isnan(value) else Score(name=self._name, value=value)


def _text(output: Any) -> str:
    """Return the output that a task gives for a text comparison: a text, or a list with one text."""
    (text,) = output if isinstance(output, list) else [output]
    return str(text)
