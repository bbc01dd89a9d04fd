"""What outcomes say of metrics, one value at a time: what conditions, early stopping and pairs look at.

It must not know what any of them makes of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.scores.score_check import KINDS


def values_of(instance: Instance, outcome: Outcome | None) -> Iterator[tuple[str, Any]]:
    """Each metric that an outcome scored, with its verdict: a number, 1.0 or 0.0 for a pass or failure, or a label."""
    for score in outcome[1] if outcome is not None and outcome[0] == "scored" else ():
        if "error" in score:
            continue
        value = next((score[key] for key in KINDS if score.get(key) is not None), None)
        yield instance.metric(score.get("name") or ""), float(value) if type(value) is bool else value


def numbers_of(instance: Instance, outcome: Outcome | None) -> Iterator[tuple[str, float]]:
    """The same without labels."""
    return ((metric, float(value)) for metric, value in values_of(instance, outcome) if isinstance(value, int | float))
