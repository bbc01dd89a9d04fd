"""What a run could take at most, before anything of it is asked.

It must not know how a call is made.
"""

from __future__ import annotations

from typing import NamedTuple

from evalsi_kernel.runs.opening import prices_of
from evalsi_kernel.runs.prepared import Prepared
from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.target import Target, TargetInput


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


def foresee(prepared: Prepared, target: Target, records: RecordStore) -> Foreseen:
    """Add up the bounds of every call of a run that is begun anew."""
    prices = prices_of(target, prepared.request, prepared.extensions)
    trials = prepared.spec.trials
    tokens: int | None = 0
    usd: float | None = 0.0
    for number in range(len(records)):
        bounds = target.bounds(TargetInput(records[number], 1))
        if bounds.input_tokens is None or bounds.output_tokens is None:
            tokens = usd = None
            break
        together = bounds.input_tokens + bounds.output_tokens
        most = prices.worst_case_usd(target.provider, target.model, bounds.input_tokens, bounds.output_tokens)
        most = most if together else 0.0  # What takes nothing costs nothing, whatever its price.
        tokens = (tokens or 0) + trials * together
        usd = None if usd is None or most is None else usd + trials * most
    asking = tuple(one.name for one in prepared.plan.instances if one.info.asks)
    return Foreseen(len(records), len(records) * trials, tokens, usd, asking)
