"""Whether a metric of two results files was measured alike, by the rule of gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalsi_kernel.gates.comparability import incomparable as changed_between

from .side import Side


def incomparable(metric: str, base: Side, candidate: Side) -> str:
    """Return why a difference of a metric may come from how it was measured, as a clause; "" where nothing changed."""
    summaries = base.summaries[metric], candidate.summaries[metric]
    before, after = (_evaluator(side, one["evaluator"]) for side, one in zip((base, candidate), summaries, strict=True))
    is_judged = any(one.get("judge") for one in summaries)
    return changed_between(before, after, (_roles(base), _roles(candidate)) if is_judged else None)


def _evaluator(side: Side, name: str) -> Mapping[str, Any] | None:
    listed = side.manifest.get("evaluators")
    entries = listed if isinstance(listed, list) else []
    return next((one for one in entries if isinstance(one, dict) and one.get("name") == name), None)


def _roles(side: Side) -> Any:
    judge = side.manifest.get("judge")
    return judge.get("roles") if isinstance(judge, dict) else None
