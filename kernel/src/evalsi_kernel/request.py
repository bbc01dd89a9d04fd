"""What to evaluate and how, checked as far as that costs nothing; and who listens.

It must not know how it is done.
"""

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
        data: what `--data` names, or a source of rows at hand.
        evaluators: what to score them with.
        params: evaluator's name → its params, for those that do not carry their own.
        mapping: field → path, from `--map`.
        limit: score so many records only; None scores all.
        concurrency: records in flight at once where evaluators wait; None takes 16, as many as calls to models (at
            least 64) where a pack asks one, or 5,000 where it asks in batches.
        processes: of a pack that computes; None takes one a core.
        record_timeout_s: how long a record may take an evaluator of the user's own; a pack's manifest says its own.
        cluster_by: the metadata key that names a record's cluster.
        confidence: level of the intervals, between 0 and 1.
        ci: "auto", or the name of an interval method such as "bootstrap".
        models: the judge and other models that evaluators may ask; None where there is none.
        output: where to write `results.json`; None writes none.
        keep_results: keep every result and record at hand, for `Evaluation.results`.
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
        """Whether results are kept until the end, for a file or at hand."""
        return self.keep_results or self.output is not None

    def check(self) -> None:
        """Refuse what cannot be, before any work; raises `UsageError`, `ConfigError` or `OutputError`."""
        if isinstance(self.data, str):
            check_path(self.data)
        if self.concurrency is not None and self.concurrency < 1:
            raise UsageError(
                f"concurrency is {self.concurrency}; at least one record must be in flight.", "Use 1 or more."
            )
        if self.processes is not None and self.processes < 1:
            raise UsageError(f"processes is {self.processes}; at least one must score.", "Use 1 or more.")
        if not 0 < self.record_timeout_s < float("inf"):
            raise UsageError(f"record_timeout_s is {self.record_timeout_s:g}.", "Use a number above 0.")
        if self.cluster_by == "":
            raise UsageError("cluster_by is empty.", "Name the metadata key of the clusters, or leave it out.")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; at least one record must be scored.", "Use 1 or more.")
        if not 0 < self.confidence < 1:
            raise UsageError(f"confidence is {self.confidence:g}; it lies between 0 and 1.", "Use 0.95, for example.")
        if self.output is not None:
            from evalsi_kernel.files.output_check import check_results_output  # Only who writes pays for it.

            check_results_output(self.output, *([Path(self.data)] if isinstance(self.data, str) else []))


def _hear_nothing(_: object) -> None:
    """What a listener does that does not listen."""


class Listener(NamedTuple):
    """Who hears how an evaluation goes.

    Args:
        on_note: gets a sentence for a person, such as that an environment is being built.
        on_records: gets the number of records that every evaluator has answered for.
        on_log: gets each line that a pack writes to stderr, as with `--verbose`; they are in a file either way.
        on_total: gets how many records there will be, as often as that is known better; None where nothing says.
    """

    on_note: Callable[[str], None] = _hear_nothing
    on_records: Callable[[int], None] = _hear_nothing
    on_log: Callable[[str], None] | None = None
    on_total: Callable[[int | None], None] = _hear_nothing


NOBODY = Listener()
"""Who listens when nobody does."""
