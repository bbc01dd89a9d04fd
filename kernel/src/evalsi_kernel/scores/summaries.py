"""Owns the summary of a metric: it is fed outcomes chunk by chunk, in memory that does not grow with their number.

Knows nothing of evaluators, packs or files. A failure is never a number: only scored values reach the mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.packs.pack_info import Kind, OutputInfo
from evalsi_kernel.scores.intervals import Interval, IntervalMethod
from evalsi_kernel.scores.samples import LabelSample, NumberSample, PassSample
from evalsi_kernel.scores.student_t import require_level

if TYPE_CHECKING:
    from evalsi_kernel.broker.ledger import Bill


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
        truncated: replies of the run's target that were cut off, over the same records; None without a target.
        filtered: replies of the run's target that the model or a content filter refused; None without a target.
    """

    metric: str
    evaluator: str
    kind: Kind
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
    truncated: int | None = None
    filtered: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return all attributes as JSON values, without the counts of replies where there is no target."""
        left_out = {name for name in ("truncated", "filtered") if getattr(self, name) is None}
        return {
            **{name: value for name, value in self._asdict().items() if name not in left_out},
            "ci": self.ci and self.ci._asdict(),
            "labels": dict(self.labels),
            "judge": self.judge and self.judge._asdict(),
        }


class MetricAccumulator:
    """Collects the scores of one metric, a column at a time, into its summary.

    Args:
        metric: the metric's name.
        evaluator: the instance that scores it.
        output: what is declared of it: its kind, its range, where intervals are cut, its unit and direction.
        level: confidence level of the interval, strictly between 0 and 1.
        keep_values: keep every number (8 bytes each), which a resampling method needs. Passes and clusters need none.
        clustered: records come in clusters, and `add` is given them.

    Raises:
        ValueError: `level` is not strictly between 0 and 1.
    """

    def __init__(
        self,
        metric: str,
        evaluator: str,
        output: OutputInfo,
        *,
        level: float = 0.95,
        keep_values: bool = False,
        clustered: bool = False,
    ) -> None:
        require_level(level)
        self._level = level
        self._empty = Summary(
            metric, evaluator, output.kind, unit=output.unit or None, higher_is_better=output.higher_is_better
        )
        self._sample: PassSample | NumberSample | LabelSample
        if output.kind == "pass":
            self._sample = PassSample(clustered=clustered)
        elif output.kind == "number":
            low, high = output.minimum, output.maximum
            self._sample = NumberSample(clustered=clustered, keep_values=keep_values, minimum=low, maximum=high)
        else:
            self._sample = LabelSample()

    def add(self, values: Sequence[Any], clusters: Sequence[str] | None = None) -> None:
        """Take in the scores of some records, which were found to be of the metric's kind.

        Args:
            values: verdicts, numbers or labels.
            clusters: the cluster of each, if the metric is clustered.

        Raises:
            ValueError: a number is NaN or infinite, or clusters are missing or not asked for.
        """
        self._sample.add(values, clusters)

    def summary(self, interval_method: IntervalMethod | None = None) -> Summary:
        """The summary of what came so far, more of which may come after it; records without a score are not among it.

        Args:
            interval_method: makes the interval in place of Wilson's or Student's t.

        Raises:
            ValueError: `interval_method` needs the numbers, and `keep_values` was not set.
        """
        sample = self._sample
        return self._empty._replace(
            n=sample.n,
            mean=sample.mean,
            std=sample.std,
            ci=sample.interval(self._level, interval_method),
            labels=sample.labels,
            clusters=None if sample.clusters is None else len(sample.clusters),
        )
