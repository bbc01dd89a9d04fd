"""One score for the whole of the data, and its value in every resample, from the states of the records.

States are resampled with replacement (the percentile bootstrap, Efron 1979) here, so that no module has to. It must not
know frames.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from evalsi_wasm.calls import Calls
from evalsi_wasm.description import Opened

MAX_AGGREGATED = 20_000_000
"""How many states all resamples together may hold; of larger data there are fewer resamples."""


def aggregated(
    calls: Calls, opened: Opened, states: Sequence[Any], *, resamples: int, seed: int, about: tuple[int, int]
) -> dict[str, Any]:
    """The answer to `aggregate`: the outcome, and for each metric its value in every resample."""
    if not states:
        return {"outcome": "skipped", "payload": {"reason": "no record could be observed"}, "replicates": {}}
    kind, payload = calls.aggregate(opened, states, about)
    replicates: dict[str, list[float]] = {}
    generator = random.Random(seed)
    wanted = max(1, min(resamples, MAX_AGGREGATED // len(states))) if resamples else 0
    for _ in range(wanted if kind == "scored" and len(states) > 1 else 0):
        of_sample, scores = calls.aggregate(opened, generator.choices(states, k=len(states)), about)
        if of_sample != "scored":
            # The score stands; without every resample there is no interval to believe in.
            return {"outcome": kind, "payload": payload, "replicates": {}}
        for score in scores:
            number = score.get("value", score.get("passed"))
            if number is not None:
                replicates.setdefault(score.get("name") or "", []).append(float(number))
    return {"outcome": kind, "payload": payload, "replicates": replicates}
