"""What a host asks of a run, and what came of it.

It must not know how a run is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalsi_kernel.broker.settings import BrokerSettings
from evalsi_kernel.gates.verdicts import GateResult
from evalsi_kernel.runs.run_folder import RUNS
from evalsi_kernel.runs.spec import RunDocument

if TYPE_CHECKING:
    from evalsi_kernel.results.evaluated import Evaluation
    from evalsi_kernel.runs.history import State


class RunRequest(NamedTuple):
    """What to run, and how.

    Args:
        document: what the spec says.
        name: of the run.
        folder: where relative paths of the spec start.
        spec_file: as the user named it, for those who list runs; "" where there is no file.
        runs: where runs lie.
        models: judges and other models that evaluators may ask; None where there are none.
        output: where to write the results besides the run's folder; None writes them there only.
        fresh: begin a new run, whatever became of the last one.
        retry_errors: do again what failed in the last run of this name, and nothing else.
        concurrency: records in flight where evaluators wait; as for an evaluation.
        processes: of a pack that computes; as for an evaluation.
        source: what is known of the code that runs: `commit`, `branch`, `pull_request`, `url`, `ci`.
        prices: a file of what the target costs, which goes before all others; None for none.
    """

    document: RunDocument
    name: str
    folder: Path
    spec_file: str = ""
    runs: Path = RUNS
    models: BrokerSettings | None = None
    output: Path | None = None
    fresh: bool = False
    retry_errors: bool = False
    concurrency: int | None = None
    processes: int | None = None
    source: Mapping[str, Any] = MappingProxyType({})
    prices: Path | None = None


class RunEnd(NamedTuple):
    """What came of a run.

    Args:
        run_id: of the run.
        state: in which it ended.
        evaluation: its numbers; its `more` has verdict, gates and slices as the results file has them.
        gates: one result a gate.
        verdict: of all gates; None where there are none that apply.
        items: how many the run has.
        done: how many of them are done.
        kept: how many of these an earlier attempt did.
        results: where the results were written.
        reason: why it ended before all was done; "" where it did not.
    """

    run_id: str
    state: State
    evaluation: Evaluation
    gates: tuple[GateResult, ...]
    verdict: Literal["pass", "fail", "undecided"] | None
    items: int
    done: int
    kept: int
    results: Path
    reason: str = ""
