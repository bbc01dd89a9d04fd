"""Owns the summary of a metric: it is fed outcomes chunk by chunk, in memory that does not grow with their number.

Knows nothing of evaluators, packs or files. A failure is never a number: only scored values reach the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalsi_kernel.scores.clusters import ClusterSums
from evalsi_kernel.scores.intervals import Interval, IntervalMethod
from evalsi_kernel.scores.samples import LabelSample, NumberSample, PassSample
from evalsi_kernel.scores.student_t import require_level

if TYPE_CHECKING:
    from evalsi_kernel.broker.ledger import Bill

MetricKind = Literal["pass", "number", "label"]


class Summary(NamedTuple):
    """What a run says of one metric.

    Attributes:
        metric: its name.
        evaluator: the instance that scored it.
        kind: "pass", "number" or "label".
        n: how many outcomes were scored; the others are counted apart and enter neither mean nor interval.
        mean: the share that passed, or the mean; None for labels and where nothing was scored.
        std: sample standard deviation (divisor n - 1); None for labels and n < 2.
        skipped: records that lack what the evaluator needs.
        errors: records on which the evaluator failed.
        cancelled: records that were not answered before the end of the run.
        ci: confidence interval of the mean with the name of its method; None where it is undefined.
        labels: how often each label came, the most frequent first.
        unit: unit of the mean, if declared.
        higher_is_better: the declared direction; None where neither is better.
        clusters: number of clusters; None where records count one by one.
        judge: what the evaluator's questions to a model took; None where it asks none.
    """

    metric: str
    evaluator: str
    kind: MetricKind
    n: int = 0
    mean: float | None = None
    std: float | None = None
    skipped: int = 0
    errors: int = 0
    cancelled: int = 0
    ci: Interval | None = None
    labels: Mapping[str, int] = MappingProxyType({})
    unit: str | None = None
    higher_is_better: bool | None = None
    clusters: int | None = None
    judge: Bill | None = None

    def to_dict(self) -> dict[str, Any]:
        """All attributes under their own names, as JSON values; `ci` as {low, high, level, method}."""
        return {
            **self._asdict(),
            "ci": self.ci and self.ci._asdict(),
            "labels": dict(self.labels),
            "judge": self.judge and self.judge._asdict(),
        }


class MetricAccumulator:
    """Collects the scores of one metric, a column at a time, into its summary.

    Args:
        metric: the metric's name.
        evaluator: the instance that scores it.
        kind: what its scores are; each kind has its own `add_...`.
        level: confidence level of the interval, strictly between 0 and 1.
        keep_values: keep every number (8 bytes each), which a resampling method needs. Passes and clusters need none.
        clustered: records come in clusters, and each `add_...` is given them.
        minimum: the least value that a number can take, if declared; intervals are cut there.
        maximum: the greatest such value.
        unit: the declared unit.
        higher_is_better: the declared direction.

    Raises:
        ValueError: `level` is not strictly between 0 and 1, or `kind` is none of the three.
    """

    def __init__(
        self,
        metric: str,
        evaluator: str,
        kind: MetricKind,
        *,
        level: float = 0.95,
        keep_values: bool = False,
        clustered: bool = False,
        minimum: float | None = None,
        maximum: float | None = None,
        unit: str | None = None,
        higher_is_better: bool | None = None,
    ) -> None:
        require_level(level)
        self.metric = metric
        self.evaluator = evaluator
        self.kind = kind
        self._level = level
        self._unit = unit
        self._higher_is_better = higher_is_better
        self._sample: PassSample | NumberSample | LabelSample
        if kind == "pass":
            self._sample = PassSample(clustered=clustered)
        elif kind == "number":
            self._sample = NumberSample(clustered=clustered, keep_values=keep_values, minimum=minimum, maximum=maximum)
        elif kind == "label":
            self._sample = LabelSample()
        else:
            raise ValueError(f'Metric {metric} has kind {kind!r}; a kind is "pass", "number" or "label".')

    def add_passed(self, values: Sequence[bool], clusters: Sequence[str] | None = None) -> None:
        """Take in the verdicts of scored records, and the cluster of each if the metric is clustered.

        Raises:
            ValueError: the metric is of another kind, or clusters are missing or not asked for.
        """
        if not isinstance(self._sample, PassSample):
            raise self._wrong_kind("a verdict")
        self._sample.add(values, clusters)

    def add_numbers(self, values: Sequence[float], clusters: Sequence[str] | None = None) -> None:
        """Take in the values of scored records, and the cluster of each if the metric is clustered.

        Raises:
            ValueError: the metric is of another kind, a value is NaN or infinite, or clusters are missing or not
                asked for.
        """
        if not isinstance(self._sample, NumberSample):
            raise self._wrong_kind("a number")
        self._sample.add(values, clusters)

    def add_labels(self, values: Sequence[str]) -> None:
        """Take in the labels of scored records.

        Raises:
            ValueError: the metric is of another kind.
        """
        if not isinstance(self._sample, LabelSample):
            raise self._wrong_kind("a label")
        self._sample.add(values)

    def summary(self, interval_method: IntervalMethod | None = None) -> Summary:
        """The summary of what came so far, more of which may come after it; records without a score are not among it.

        Args:
            interval_method: makes the interval in place of Wilson's or Student's t.

        Raises:
            ValueError: `interval_method` needs the numbers, and `keep_values` was not set.
        """
        sample = self._sample
        measured = sample if not isinstance(sample, LabelSample) else None
        clusters: ClusterSums | None = measured.clusters if measured else None
        return Summary(
            metric=self.metric,
            evaluator=self.evaluator,
            kind=self.kind,
            n=sample.n,
            mean=measured.mean if measured else None,
            std=measured.std if measured else None,
            ci=measured.interval(self._level, interval_method) if measured else None,
            labels=sample.labels if isinstance(sample, LabelSample) else {},
            unit=self._unit,
            higher_is_better=self._higher_is_better,
            clusters=len(clusters) if clusters is not None else None,
        )

    def _wrong_kind(self, got: str) -> ValueError:
        return ValueError(
            f"Metric {self.metric} of {self.evaluator} is declared as {self.kind} but was given {got}; "
            "correct `outputs` in the evaluator's declaration."
        )
