"""A run from end to end: checked, begun or continued, worked on, judged, written. The door for every host.

It must not know a terminal, a file format, a target or a pack.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from evalsi_kernel.errors import OutputError
from evalsi_kernel.evaluation.manifest import own_code
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.request import NOBODY, Listener
from evalsi_kernel.runs.attempt import STOPPED
from evalsi_kernel.runs.beginning import begin
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.opening import check_budget, target_of
from evalsi_kernel.runs.prepared import Prepared, prepare, read_records
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunEnd, RunRequest
from evalsi_kernel.runs.running import Running
from evalsi_kernel.supervision.event_loop import run_in_loop, stopped_by_interrupt
from evalsi_kernel.target import Target, warnings_of

if TYPE_CHECKING:
    from evalsi_kernel.packs.catalog import Catalog

STOPPING = "stopping; what is finished is kept, and the same command goes on (Ctrl-C again stops at once)"


def execute(request: RunRequest, catalog: Catalog, extensions: Extensions, *, listener: Listener = NOBODY) -> RunEnd:
    """Run and wait for it; Ctrl-C ends it in an orderly way, and the same request goes on later.

    Args:
        request: what to run, and how.
        catalog: where evaluators are found.
        extensions: where targets, data, connectors and conditions come from.
        listener: hears how it goes; `on_records` gets the number of items that are done.

    Raises:
        EvalsiError: something is wrong before the target is asked. A fault on the way ends the run in the state `error`
            instead, with what came until then summed up and written.
    """
    if request.output is not None:
        from evalsi_kernel.files.output_check import check_results_output

        check_results_output(request.output)
    prepared = prepare(request, catalog, extensions, listener)
    try:
        intake, records = read_records(prepared)
    except BaseException:
        prepared.plan.abandon()
        raise
    return run_in_loop(lambda: _run(prepared, intake, records))


async def _run(prepared: Prepared, intake: Intake, records: RecordStore) -> RunEnd:
    request, listener = prepared.request, prepared.listener
    stop = asyncio.Event()
    try:
        async with target_of(request, prepared.extensions) as target:
            for warning in warnings_of(target):
                listener.on_note(warning)
            check_budget(target, request, records)
            inputs = _inputs(prepared, target, records)
            items = Items(records, prepared.spec.trials)
            begun = begin(request, inputs, len(items))
            try:
                run = Running(prepared, intake, items, target, begun)
                with stopped_by_interrupt(stop, lambda: listener.on_note(STOPPING)):
                    return await run.to_end(stop)
            except BaseException as error:
                # Also where the kernel itself fails: whoever lists runs must not find one that seems to go on.
                stopped = isinstance(error, asyncio.CancelledError)
                with suppress(OutputError):
                    begun.history.enter("cancelled" if stopped else "error", reason=str(error) or STOPPED)
                raise
            finally:
                begun.close()
    except BaseException:
        prepared.plan.abandon()
        raise
    finally:
        records.close()


def _inputs(prepared: Prepared, target: Target, records: RecordStore) -> dict[str, Any]:
    """What decides whether results belong together, as JSON."""
    models = prepared.request.models
    judges = {} if models is None else {role: model._asdict() for role, model in models.roles.items()}
    for judge in judges.values():
        # How it is reached does not change what it answers.
        for key in ("api_key_env", "timeout_s", "max_in_flight", "max_wait_s"):
            del judge[key]
    return {
        "target": dict(target.identity),
        "dataset": {"sha256": records.sha256, "records": len(records)},
        "trials": prepared.spec.trials,
        "evaluators": {
            one.name: {
                "ref": f"{one.info.ref}@{one.info.version}",
                "params": json.loads(json.dumps(dict(one.params))),
                "when": one.when,
                **own_code(one.info.pack),
            }
            for one in prepared.plan.instances
        },
        "judges": judges,
    }
