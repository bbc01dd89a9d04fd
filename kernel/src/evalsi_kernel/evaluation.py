"""One evaluation from end to end: checked, planned, run. The door that the CLI and the SDK share.

It must not know a terminal, a file format or a pack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi_kernel.catalog import Catalog
from evalsi_kernel.errors import EvalsiError, UsageError
from evalsi_kernel.extensions import Extensions, check_path, default_extensions, interval_method, open_source
from evalsi_kernel.planning import LocalPack, Wanted, make_plan
from evalsi_kernel.sources import Source
from evalsi_kernel.status import Status

if TYPE_CHECKING:
    from evalsi_kernel.findings import Finding
    from evalsi_kernel.instances import Instance
    from evalsi_kernel.results_file import ResultsSpool
    from evalsi_kernel.summaries import Summary


@dataclass(frozen=True, slots=True)
class Request:
    """What to evaluate, and how.

    Args:
        data: what `--data` names, or a source of rows at hand.
        evaluators: what to score them with.
        params: evaluator's name → its params, for those that do not carry their own.
        mapping: field → path, from `--map`.
        limit: score so many records only; None scores all.
        concurrency: records in flight at once within a pack that waits (judges, async functions).
        processes: of a pack that computes; None takes one a core.
        cluster_by: the metadata key that names a record's cluster.
        confidence: level of the intervals, between 0 and 1.
        ci: "auto", or the name of an interval method such as "bootstrap".
        output: where to write `results.json`; None writes none.
        keep_results: keep every result and record at hand, for `Evaluation.results`.
    """

    data: str | Source
    evaluators: Sequence[Wanted]
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    mapping: dict[str, tuple[str, ...]] = field(default_factory=dict)
    limit: int | None = None
    concurrency: int = 16
    processes: int | None = None
    cluster_by: str | None = None
    confidence: float = 0.95
    ci: str = "auto"
    output: Path | None = None
    keep_results: bool = False

    def check(self) -> None:
        """Refuse what cannot be, before any work; raises `UsageError`, `ConfigError` or `OutputError`."""
        if isinstance(self.data, str):
            check_path(self.data)
        if self.concurrency < 1:
            raise UsageError(
                f"concurrency is {self.concurrency}; at least one record must be in flight.", "Use 1 or more."
            )
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"limit is {self.limit}; at least one record must be scored.", "Use 1 or more.")
        if not 0 < self.confidence < 1:
            raise UsageError(f"confidence is {self.confidence:g}; it lies between 0 and 1.", "Use 0.95, for example.")
        if self.output is not None:
            from evalsi_kernel.output_check import check_output  # Only who writes pays for it.

            check_output(self.output)


def _hear_nothing(_: object) -> None:
    """What a listener does that does not listen."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who hears how an evaluation goes.

    Args:
        on_note: gets a sentence for a person, such as that an environment is being built.
        on_records: gets the number of records that every evaluator has answered for.
    """

    on_note: Callable[[str], None] = _hear_nothing
    on_records: Callable[[int], None] = _hear_nothing


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came out."""

    status: Status
    error: EvalsiError | None
    records: int
    instances: tuple[Instance, ...]
    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    manifest: dict[str, Any]
    spool: ResultsSpool | None

    def to_dict(self) -> dict[str, Any]:
        """Manifest, summaries and findings as JSON; the results themselves are in the file."""
        return {
            "status": self.status.value,
            "manifest": self.manifest,
            "summaries": [summary.to_dict() for summary in self.summaries],
            "findings": [
                {"severity": finding.severity, "message": finding.message, "mend": finding.mend}
                for finding in self.findings
            ],
        }

    def write(self, path: Path) -> None:
        """Write `results.json`; raises `OutputError`."""
        if self.spool is None:
            raise UsageError("The results were not kept.", "Evaluate with keep_results, or name an output.")
        self.spool.write(path, self.manifest, [summary.to_dict() for summary in self.summaries])


def evaluate(
    request: Request,
    catalog: Catalog,
    *,
    extensions: Callable[[], Extensions] = default_extensions,
    local: LocalPack | None = None,
    listener: Listener = Listener(),
) -> Evaluation:
    """Evaluate and wait for it; Ctrl-C ends it in an orderly way with what was finished, a second one at once.

    Args:
        request: what to evaluate, and how.
        catalog: where evaluators are found.
        extensions: gives the extensions that read the data and make intervals.
        local: evaluators of this process, which `request` refers to.
        listener: hears how it goes.

    Raises:
        EvalsiError: something is wrong before the first record is scored. A fault on the way ends the evaluation with
            `status` failed and the `error` at hand instead, so that nothing scored is lost.
    """
    request.check()
    plan = make_plan(
        request.evaluators,
        request.params,
        catalog,
        local,
        concurrency=request.concurrency,
        processes=request.processes,
        on_progress=listener.on_note,
    )
    try:
        # All this loads while the packs start up: half of a short evaluation's time.
        loaded = extensions()
        method = None if request.ci == "auto" else interval_method(request.ci, loaded)
        source = open_source(request.data, loaded) if isinstance(request.data, str) else request.data
        from evalsi_kernel.scoring_run import run
    except BaseException:
        plan.abandon()
        raise
    return run(request, source, plan, method, listener)
