"""Whether a metric of two runs was measured alike, so that its difference says something about the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .side import Side


def incomparable(metric: str, base: Side, candidate: Side) -> str:
    """Return why a difference of a metric may come from how it was measured, as a clause; "" where nothing changed.

    The reasons are those that make a gate with a `baseline` undecided, and the file of an evaluator of one's own.
    """
    summaries = base.summaries[metric], candidate.summaries[metric]
    before, after = (_evaluator(side, one["evaluator"]) for side, one in zip((base, candidate), summaries, strict=True))
    if before is not None and after is not None:
        if before.get("ref") != after.get("ref"):
            return f"the evaluator changed from {before.get('ref')} to {after.get('ref')}"
        if (before.get("params") or {}) != (after.get("params") or {}):
            return "the params of the evaluator changed"
        if _other_prompts(before, after):
            return "the prompts of the evaluator changed"
        if "sha256" in before and "sha256" in after and before["sha256"] != after["sha256"]:
            return "the file of the evaluator changed"
    is_judged = any(one.get("judge") for one in summaries)
    return "the judge changed" if is_judged and _roles(base) != _roles(candidate) else ""


def _evaluator(side: Side, name: str) -> Mapping[str, Any] | None:
    listed = side.manifest.get("evaluators")
    entries = listed if isinstance(listed, list) else []
    return next((one for one in entries if isinstance(one, dict) and one.get("name") == name), None)


def _other_prompts(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether each run used a prompt that the other did not; a run may need only some of an evaluator's prompts."""
    one, other = ({str(prompt) for prompt in entry.get("prompts") or ()} for entry in (before, after))
    return not (one <= other or other <= one)


def _roles(side: Side) -> Any:
    judge = side.manifest.get("judge")
    return judge.get("roles") if isinstance(judge, dict) else None
