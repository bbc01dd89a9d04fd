"""The advice on trials told to a person: one line, of the metric that varies most from trial to trial.

It must not know how it is reckoned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def trials_line(advice: Mapping[str, Any] | None) -> str:
    """The line; "" where there is nothing to say.

    Args:
        advice: `trial_advice` of a results file; None where there is none.
    """
    if advice is None:
        return ""
    metrics = [one for one in advice["metrics"] if one["trial_margin"] is not None]
    if not metrics:
        return ""
    most = max(metrics, key=lambda one: one["trial_margin"] / one["scale"])
    left = (
        f"{advice['trials']} of each record leave up to ±{_shown(most['trial_margin'])} of {most['metric']} to chance"
    )
    yet = "" if most["within_variance"] else ", though none differs from another yet"
    text = f"trials: {left}{yet}{_more(most)}."
    if most["record_margin"]:
        which = f"the choice of {most['records']:,} records"
        text += f" {which.capitalize()} leaves ±{_shown(most['record_margin'])}, which no trial narrows."
    return text


def _more(metric: Mapping[str, Any]) -> str:
    """How many would be needed for the next margin that is narrower."""
    scale = metric["scale"]
    for share, needed in metric["trials_for_margin"].items():
        if float(share) * scale < metric["trial_margin"]:
            return f"; {needed:,} would leave ±{_shown(float(share) * scale)}"
    return ""


def _shown(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 1000 else f"{value:,.0f}"
