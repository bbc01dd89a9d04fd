"""The request for an evaluation, with checks that need no work, and the listener of its progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.errors import UsageError
from evalsi_kernel.files.data_path import check_path
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.records.sources import Source
from evalsi_kernel.supervision.launch import RECORD_TIMEOUT_S


class Request(NamedTuple):
    """What to evaluate, and how.

    Args:
        data: the value of `--data`, or a source of rows.
        evaluators: the evaluators to run.
        params: evaluator name → params, for evaluators without params of their own.
        mapping: field → path, from `--map`.
        limit: maximum number of records to score; None scores all.
        concurrency: records in progress for evaluators that wait; None means 16, the number of concurrent model calls
            (at least 64) for packs that call a model, or 5,000 for packs that use a batch API.
        processes: number of processes of a pack that computes; None means one per core.
        record_timeout_s: timeout of one record for the user's own evaluators; packs set theirs in the manifest.
        cluster_by: metadata key of a record's cluster.
        confidence: confidence level of the intervals, between 0 and 1.
        ci: "auto", or the name of an interval method such as "bootstrap".
        models: the models that evaluators may call; None for none.
        output: path of `results.json`; None writes none.
        keep_results: keep every result and record in memory, for `Evaluation.results`.
    """

    data: str | Source
    evaluators: Sequence[Wanted]
    params: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    mapping: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    limit: int | None = None
    concurrency: int | None = None
    processes: int | None = None
    record_timeout_s: float = RECORD_TIMEOUT_S
    cluster_by: str | None = None
    confidence: float = 0.95
    ci: str = "auto"
    models: BrokerSettings | None = None
    output: Path | None = None
    keep_results: bool = False

    @property
    def keeps_results(self) -> bool:
        """Whether results are kept until the end, for a file or in memory."""
        return self.keep_results or self.output is not None

    def check(self) -> None:
        """Validate the request before any work; raise `UsageError`, `ConfigError` or `OutputError`."""
        if isinstance(self.data, str):
            check_path(self.data)
        if self.concurrency is not None and self.concurrency < 1:
            raise UsageError(f"concurrency is {self.concurrency}; it must be at least 1.", "Use 1 or more.")
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"processes is {self.processes}; it must be at least 1.", "Use 1 or more.")
        if not 0 < self.record_timeout_s < float("inf"):
            raise UsageError(
                f"record_timeout_s is {self.record_timeout_s:g}; it must be positive and finite.",
                "Use a number above 0.",
            )
        if self.cluster_by == "":
            raise UsageError("cluster_by is empty.", "Set it to the metadata key of the clusters, or drop it.")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; it must be at least 1.", "Use 1 or more.")
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"confidence is {self.confidence:g}; it must be between 0 and 1.", "Use 0.95, for example."
            )
        if self.output is not None:
            from evalsi_kernel.files.output_check import check_results_output  # Imported only where needed.

            check_results_output(self.output, *([Path(self.data)] if isinstance(self.data, str) else []))


def _ignore(_: object) -> None:
    """Ignore a notification."""


class Listener(NamedTuple):
    """Callbacks for the progress of an evaluation.

    Args:
        on_note: receives messages for the user, such as that an environment is being built.
        on_records: receives the number of records that every evaluator has finished.
        on_log: receives each line that a pack writes to stderr, as with `--verbose`; they are logged to a file in any
            case.
        on_total: receives the expected number of records whenever the estimate improves; None means unknown.
    """

    on_note: Callable[[str], None] = _ignore
    on_records: Callable[[int], None] = _ignore
    on_log: Callable[[str], None] | None = None
    on_total: Callable[[int | None], None] = _ignore


NOBODY = Listener()
"""A listener that ignores everything."""
