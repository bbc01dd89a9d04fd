"""What a person should know of a run's calls to models besides their price.

It must not know how a finding is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.broker.broker import Broker
from evalsi_kernel.results.findings import Finding


def broker_findings(broker: Broker, asking: Sequence[int]) -> list[Finding]:
    """The problems first; `asking` are the sessions of evaluators that ask models."""
    found = []
    if broker.over_budget:
        questions = "1 question was" if broker.over_budget == 1 else f"{broker.over_budget:,} questions were"
        found.append(
            Finding(
                "problem",
                f"The budget for model calls is used up: {questions} not asked.",
                "Raise the budget and run again; what was answered comes from the cache and costs nothing.",
            )
        )
    if (why := broker.broken) is not None:
        found.append(Finding("problem", f"A model is not asked any more: {why.message}", why.mend))
    if broker.error is not None:
        found.append(
            Finding("problem", f"The judge's raw replies are not kept: {broker.error.strerror}.", "Free some space.")
        )
    if not asking:
        found.append(Finding("notice", "A judge is named, and none of the evaluators asks one."))
    return found
