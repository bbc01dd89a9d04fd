"""Whether two runs measured a metric alike, so that its difference says something about the target.

Gates with a baseline and `compare` share this rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def incomparable(
    before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, roles: tuple[Any, Any] | None = None
) -> str:
    """Return why a difference of a metric may come from how it was measured, as a clause; "" where nothing changed.

    Args:
        before, after: the metric's evaluator in the manifests of the two runs; None where a manifest lacks it.
        roles: the judges of the two runs by role; None where no judge was asked for the metric.
    """
    if before is not None and after is not None:
        if before.get("ref") != after.get("ref"):
            return f"the evaluator changed from {before.get('ref')} to {after.get('ref')}"
        if (before.get("params") or {}) != (after.get("params") or {}):
            return "the params of the evaluator changed"
        if _other_prompts(before, after):
            return "the prompts of the evaluator changed"
        if "sha256" in before and "sha256" in after and before["sha256"] != after["sha256"]:
            return "the file of the evaluator changed"
    return "the judge changed" if roles is not None and roles[0] != roles[1] else ""


def _other_prompts(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether each run used a prompt that the other did not; a run may need only some of an evaluator's prompts."""
    one, other = ({str(prompt) for prompt in entry.get("prompts") or ()} for entry in (before, after))
    return not (one <= other or other <= one)
