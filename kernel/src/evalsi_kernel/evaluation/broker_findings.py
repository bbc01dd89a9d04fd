"""What a person should know of a run's calls to models besides their price.

It must not know how a finding is shown.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.broker.broker import Broker
from evalsi_kernel.results.findings import Finding, cut_off_findings

OVERSHOOT = "A call took more than could be foreseen; set the limit lower where it must hold."


def broker_findings(broker: Broker, asking: Sequence[int]) -> list[Finding]:
    """The problems first; `asking` are the sessions of evaluators that ask models."""
    found = []
    if broker.over_budget:
        message = f"The budget for model calls does not cover every question: {broker.over_budget:,} went unasked."
        hint = "Raise it, or say what the model costs, and run again"
        if broker.keeps_replies:
            hint += "; what was answered comes from the cache at no cost."
        else:
            hint += ". Without the cache, what was answered is asked and paid again."
        found.append(Finding("problem", message, hint))
    found += [Finding("notice", sentence, OVERSHOOT) for sentence in broker.overshoots]
    if (why := broker.broken) is not None:
        found.append(Finding("problem", f"A model is not asked any more: {why.message}", why.hint))
    if broker.error is not None:
        found.append(
            Finding("problem", f"The judge's raw replies are not kept: {broker.error.strerror}.", "Free some space.")
        )
    hint = "Raise --judge-max-tokens."
    found += cut_off_findings("the judge", broker.questions, broker.truncated, broker.filtered, hint)
    if not asking:
        found.append(Finding("notice", "A judge is named, and none of the evaluators asks one."))
    return found
