"""Owns the position bias of a judge that compares two outputs: whether its verdict follows the order they come in.

It reads the orders that a score's metadata tells; it must not know people's labels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .shares import Share

_POINTS = {"win": 1.0, "tie": 0.5, "loss": 0.0}


class PositionBias(NamedTuple):
    """How the verdicts of the two orders of a record compare.

    Args:
        changed: the records on which they differ, of those that were asked in both orders.
        toward_first: of those that changed, where the output that stood first did better than when it stood second.
    """

    changed: Share
    toward_first: Share

    def to_dict(self, level: float) -> dict[str, Any]:
        """As JSON."""
        return {"changed": self.changed.to_dict(level), "toward_first": self.toward_first.to_dict(level)}


def position_bias(metadata: Iterable[Mapping[str, Any]]) -> PositionBias | None:
    """The position bias that scores' metadata shows; None where none was asked in both orders.

    Args:
        metadata: of each score. `orders` lists what was said in each order: `first` is "output" or "other", for
            whichever stood first, and `verdict` is win, tie or loss of the output.
    """
    asked = changed = toward_first = 0
    for one in metadata:
        verdicts = _verdicts(one.get("orders"))
        if verdicts is None:
            continue
        ahead, behind = verdicts
        asked += 1
        changed += ahead != behind
        toward_first += ahead > behind
    return PositionBias(Share(changed, asked), Share(toward_first, changed)) if asked else None


def _verdicts(orders: object) -> tuple[float, float] | None:
    """How the output does when it stands first, and when it stands second; None unless both were asked."""
    if not isinstance(orders, list):
        return None
    points = {
        order.get("first"): _POINTS[order["verdict"]]
        for order in orders
        if isinstance(order, Mapping) and order.get("verdict") in _POINTS
    }
    if not points.keys() >= {"output", "other"}:
        return None
    return points["output"], points["other"]
