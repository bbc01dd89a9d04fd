"""What came out of an evaluation.

It must not know how it was run.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.errors import EvalsiError, UsageError
from evalsi_kernel.status import Status

if TYPE_CHECKING:
    from evalsi_kernel.broker.preview import Preview
    from evalsi_kernel.packs.instances import Instance
    from evalsi_kernel.results.findings import Finding
    from evalsi_kernel.results.results_file import ResultsSpool
    from evalsi_kernel.scores.summaries import Summary


class Evaluation(NamedTuple):
    """What came out.

    `preview` is of a dry run, whose numbers say nothing, and `more` are other keys of the file. `tracebacks` has one of
    each distinct exception that an evaluator raised, with the evaluator's name; `log` is the file with what evaluators
    printed and logged, "" where they did neither.
    """

    status: Status
    error: EvalsiError | None
    records: int
    instances: tuple[Instance, ...]
    summaries: tuple[Summary, ...]
    findings: tuple[Finding, ...]
    manifest: dict[str, Any]
    spool: ResultsSpool | None
    preview: Preview | None = None
    more: Mapping[str, Any] = MappingProxyType({})
    tracebacks: tuple[tuple[str, str], ...] = ()
    log: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Manifest, summaries and findings as JSON; the results themselves are in the file."""
        return {
            "status": self.status.value,
            "manifest": self.manifest,
            "summaries": [summary.to_dict() for summary in self.summaries],
            "findings": [finding._asdict() for finding in self.findings],
            **self.more,
        }

    def write(self, path: Path) -> None:
        """Write `results.json`; raises `OutputError`."""
        if self.spool is None:
            raise UsageError("The results were not kept.", "Evaluate with keep_results, or name an output.")
        self.spool.write(path, self.manifest, [summary.to_dict() for summary in self.summaries], self.more)
