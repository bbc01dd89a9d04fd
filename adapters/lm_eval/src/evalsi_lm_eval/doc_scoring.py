"""Score one doc as the harness does in its own evaluation: apply the task's filters, then `process_results`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalsi_lm_eval.harness import harness
from evalsi_lm_eval.text_counts import TextCounts

Doc = dict[str, Any]
ONLY_FILTER = "none"
"""The harness' name for the filters of a task that names none."""
_SPLIT = "recorded"
_YES_NO = frozenset({"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"})
"""Metrics for which the harness computes 0 or 1 per doc."""
# Config keys about datasets, prompts and models. They are dropped because docs are given and no model is asked.
_NOT_SCORING = (
    "dataset_path",
    "dataset_name",
    "dataset_kwargs",
    "training_split",
    "validation_split",
    "fewshot_split",
    "fewshot_config",
    "process_docs",
    "should_decontaminate",
    "tag",
    "group",
    "task_list",
)


class _Docs(list[Doc]):
    """List of docs with column names, as tasks expect it."""

    @property
    def features(self) -> Doc:
        return self[0]


class DocScorer:
    """Scores given docs with a task of the harness.

    Args:
        config: config of the task, with functions resolved.
        first: a doc with which the harness tries out the config.

    Raises:
        Exception: any error of the harness for an invalid config.
    """

    def __init__(self, config: Mapping[str, Any], first: Doc) -> None:
        kept = {key: value for key, value in config.items() if key not in _NOT_SCORING}
        kept |= {
            "test_split": _SPLIT,
            "num_fewshot": 0,
            "custom_dataset": lambda **_: {_SPLIT: _Docs([first])},
            "metadata": {},
        }
        self.task = harness().task(config=kept)
        self.output_type: str = self.task.OUTPUT_TYPE

    @property
    def metrics(self) -> Mapping[str, Any]:
        """Return the task's metric functions by name; None if the task's own code computes it or it is unknown."""
        functions: Mapping[str, Any] = self.task._metric_fn_list
        return functions

    def choices(self, doc: Doc) -> list[str]:
        """Return the choices of a doc."""
        self._take(doc)
        choices: list[str] = self.task.doc_to_choice(doc)
        return choices

    def has_choices(self) -> bool:
        """Return whether the task is multiple choice, scored by log-likelihoods."""
        return self.output_type == "multiple_choice"

    def values(self, doc: Doc, responses: Sequence[Sequence[Any]]) -> dict[tuple[str, str], Any]:
        """Return the task's results for a doc, by metric and filter.

        Args:
            doc: doc as in the task's own dataset.
            responses: the responses to each request of the doc; several if requests are repeated.
        """
        instances = self._filtered(doc, responses)
        return {
            (metric, name): value
            for name in instances[0].filtered_resps
            for metric, value in self.task.process_results(
                doc, [instance.filtered_resps[name] for instance in instances]
            ).items()
        }

    def filtered(self, doc: Doc, responses: Sequence[Any]) -> Any:
        """Return the filtered responses of a doc with one request, for a task with one set of filters."""
        (instance,) = self._filtered(doc, [responses])
        (result,) = instance.filtered_resps.values()
        return result

    def is_mean(self, metric: str) -> bool:
        """Return whether the task's score for a metric is the mean over docs."""
        aggregations = harness().aggregations
        return self._aggregation(metric) in (aggregations["mean"], aggregations["nanmean"])

    def is_yes_no(self, metric: str) -> bool:
        """Return whether a metric is pass or fail per doc. A task's own code may give any number under its name."""
        return metric in _YES_NO and not callable(self.task.config.process_results)

    def text_metric(self, metric: str) -> str:
        """Return the text metric with which the task aggregates a metric, or "" if it is another aggregation."""
        aggregations, own = harness().aggregations, self._aggregation(metric)
        return next((name for name in TextCounts.METRICS if aggregations[name] is own), "")

    def aggregate(self, metric: str, values: Sequence[Any]) -> float:
        """Return the task's score for a metric from the results of all docs."""
        return float(self._aggregation(metric)(list(values)))

    def _aggregation(self, metric: str) -> Any:
        # Like the harness, take the mean if no aggregation is given.
        return self.task.aggregation().get(metric) or harness().aggregations["mean"]

    def _filtered(self, doc: Doc, responses: Iterable[Sequence[Any]]) -> list[Any]:
        self._take(doc)
        make = harness().instance
        self.task._instances = [
            make(self.output_type, doc, (), index, metadata=(None, 0, len(given)), resps=list(given))
            for index, given in enumerate(responses)
        ]
        self.task.apply_filters()
        instances: list[Any] = self.task._instances
        return instances

    def _take(self, doc: Doc) -> None:
        """Set on the task what the harness reads from its first doc only, so that the order of docs does not matter."""
        task = self.task
        task.features = list(doc)
        if self.has_choices():
            choices, text = task.doc_to_choice(doc), task.doc_to_text(doc)
            task.multiple_input = len(choices) if isinstance(text, int) else 0
        target = task.doc_to_target(doc)
        task.multiple_target = len(target) if isinstance(target, list) else 0
