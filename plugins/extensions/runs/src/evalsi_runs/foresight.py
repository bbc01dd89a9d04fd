"""Owns the dry run of a run: all of it checked, and what its target could take at most; nothing asked, nothing written.

It must not know how a call is made.
"""

from __future__ import annotations

from typing import NamedTuple

from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.packs.catalog import Catalog
from evalsi_kernel.request import Listener
from evalsi_kernel.runs.opening import check_budget, prices_of, target_of
from evalsi_kernel.runs.prepared import Prepared, prepare, read_records
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.runs.request import RunRequest
from evalsi_kernel.supervision.event_loop import run_in_loop
from evalsi_kernel.target import Target, TargetInput, fallbacks_of


class Foreseen(NamedTuple):
    """What a run could take.

    Args:
        records: how many there are.
        calls: to the target.
        max_tokens: of all of them; None where the target cannot say.
        max_usd: of all of them; None where a price or a bound is unknown.
        asking: the evaluators that ask models besides; what they ask depends on the answers.
    """

    records: int
    calls: int
    max_tokens: int | None
    max_usd: float | None
    asking: tuple[str, ...]


def foresee(request: RunRequest, catalog: Catalog, extensions: Extensions, listener: Listener) -> Foreseen:
    """What a run could take; raises `EvalsiError` as `execute` does before the target is asked."""
    prepared = prepare(request, catalog, extensions, listener)
    try:
        _, records = read_records(prepared)
        try:
            return run_in_loop(lambda: _foreseen(prepared, records))
        finally:
            records.close()
    finally:
        prepared.plan.abandon()


async def _foreseen(prepared: Prepared, records: RecordStore) -> Foreseen:
    async with target_of(prepared.request, prepared.extensions) as target:
        check_budget(target, prepared.request, records)
        return _bounds(prepared, target, records)


def _bounds(prepared: Prepared, target: Target, records: RecordStore) -> Foreseen:
    """Add up the bounds of every call of a run that is begun anew."""
    prices = prices_of(target, prepared.request, prepared.extensions)
    models = [(target.provider, target.model), *fallbacks_of(target)]
    trials = prepared.spec.trials
    tokens: int | None = 0
    usd: float | None = 0.0
    for number in range(len(records)):
        bounds = target.bounds(TargetInput(records[number], 1))
        if bounds.input_tokens is None or bounds.output_tokens is None:
            tokens = usd = None
            break
        together = bounds.input_tokens + bounds.output_tokens
        costs = [prices.worst_case_usd(*model, bounds.input_tokens, bounds.output_tokens) for model in models]
        known = [cost for cost in costs if cost is not None]
        most = max(known) if len(known) == len(costs) else None
        most = most if together else 0.0  # What takes nothing costs nothing, whatever its price.
        tokens = (tokens or 0) + trials * together
        usd = None if usd is None or most is None else usd + trials * most
    asking = tuple(one.name for one in prepared.plan.instances if one.info.asks)
    return Foreseen(len(records), len(records) * trials, tokens, usd, asking)
