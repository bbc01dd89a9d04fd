"""Aggregate the states of all records into a dataset score, with bootstrap replicates.

States are resampled with replacement for the percentile bootstrap (Efron 1979), so that modules need not do it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from evalsi_wasm.calls import Calls
from evalsi_wasm.description import Opened

MAX_AGGREGATED = 20_000_000
"""Maximum number of states in all resamples together; larger data get fewer resamples."""


def aggregated(
    calls: Calls, opened: Opened, states: Sequence[Any], *, resamples: int, seed: int, about: tuple[int, int]
) -> dict[str, Any]:
    """Return the answer to `aggregate`: the outcome, and for each metric its value in every resample.

    Args:
        calls: calls the module's functions.
        opened: the evaluator; it has dataset scope.
        states: states of the records.
        resamples: number of bootstrap resamples; 0 for none.
        seed: seed of the resampling.
        about: ids of the request and the session, for `Calls.running`.
    """
    if not states:
        return {"outcome": "skipped", "payload": {"reason": "no record could be observed"}, "replicates": {}}
    kind, payload = calls.aggregate(opened, states, about)
    replicates: dict[str, list[float]] = {}
    generator = random.Random(seed)
    wanted = max(1, min(resamples, MAX_AGGREGATED // len(states))) if resamples else 0
    for _ in range(wanted if kind == "scored" and len(states) > 1 else 0):
        of_sample, scores = calls.aggregate(opened, generator.choices(states, k=len(states)), about)
        if of_sample != "scored":
            # The score is valid, but an interval from only some of the resamples would be biased.
            return {"outcome": kind, "payload": payload, "replicates": {}}
        for score in scores:
            number = score.get("value", score.get("passed"))
            if number is not None:
                replicates.setdefault(score.get("name") or "", []).append(float(number))
    return {"outcome": kind, "payload": payload, "replicates": replicates}
