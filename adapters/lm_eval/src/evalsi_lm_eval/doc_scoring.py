"""Owns the scoring of one doc by a task of the harness: filters, then `process_results`, as its own evaluation does.

It must not know where docs and responses come from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalsi_lm_eval.harness import harness
from evalsi_lm_eval.text_counts import TextCounts

Doc = dict[str, Any]
ONLY_FILTER = "none"
"""What the harness calls the filters of a task that names none."""
_SPLIT = "recorded"
_YES_NO = frozenset({"acc", "acc_norm", "acc_bytes", "acc_mutual_info", "exact_match"})
"""Metrics that are 0 or 1 of each doc, as the harness computes them."""
# What a config says of docs, prompts and models: here a doc is at hand, and nothing is asked.
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
    """Docs in the form that a task looks through: a list that names its columns."""

    @property
    def features(self) -> Doc:
        return self[0]


class DocScorer:
    """A task that scores docs which are at hand.

    Args:
        config: of the task, functions resolved.
        first: a doc, by which the harness tries the config out.

    Raises:
        Exception: whatever the harness raises where the config is none.
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
        """The task's metrics by name; None stands for one that the task's own code computes, or that is nowhere."""
        functions: Mapping[str, Any] = self.task._metric_fn_list
        return functions

    def choices(self, doc: Doc) -> list[str]:
        """The choices of a doc."""
        self._take(doc)
        choices: list[str] = self.task.doc_to_choice(doc)
        return choices

    def has_choices(self) -> bool:
        """Whether docs are answered by a choice, which a model's log-likelihoods make."""
        return self.output_type == "multiple_choice"

    def values(self, doc: Doc, responses: Sequence[Sequence[Any]]) -> dict[tuple[str, str], Any]:
        """What the task says of a doc, by metric and filter.

        Args:
            doc: as the task's own dataset would give it.
            responses: of each request that the task makes of the doc, one or, where it is repeated, several.
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
        """What the task's only filters make of the responses to a doc's only request."""
        (instance,) = self._filtered(doc, [responses])
        (result,) = instance.filtered_resps.values()
        return result

    def is_mean(self, metric: str) -> bool:
        """Whether the task's score by a metric is the mean of its docs'."""
        aggregations = harness().aggregations
        return self._aggregation(metric) in (aggregations["mean"], aggregations["nanmean"])

    def is_yes_no(self, metric: str) -> bool:
        """Whether a metric says right or wrong of a doc; a task's own code may give any number under the same name."""
        return metric in _YES_NO and not callable(self.task.config.process_results)

    def text_metric(self, metric: str) -> str:
        """The metric of texts by which the task sums a metric up; "" where it is another."""
        aggregations, own = harness().aggregations, self._aggregation(metric)
        return next((name for name in TextCounts.METRICS if aggregations[name] is own), "")

    def aggregate(self, metric: str, values: Sequence[Any]) -> float:
        """The task's score by a metric, from what it said of each doc."""
        return float(self._aggregation(metric)(list(values)))

    def _aggregation(self, metric: str) -> Any:
        # As the harness: what nobody says how to sum up is averaged.
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
        """What the harness finds out by the first doc alone, found out for each: its order then makes no difference."""
        task = self.task
        task.features = list(doc)
        if self.has_choices():
            choices, text = task.doc_to_choice(doc), task.doc_to_text(doc)
            task.multiple_input = len(choices) if isinstance(text, int) else 0
        target = task.doc_to_target(doc)
        task.multiple_target = len(target) if isinstance(target, list) else 0
