"""The methods of protocol v1: who may send which, and as what kind of frame.

It must not know what a method does; the specification says it, the two ends do it.
"""

from __future__ import annotations

from typing import Final, Literal

Role = Literal["kernel", "pack"]

KERNEL_REQUESTS: Final = frozenset(
    {"hello", "describe", "open", "score", "plan", "reduce", "aggregate", "close", "bye", "ping"}
)
KERNEL_EVENTS: Final = frozenset({"cancel"})
PACK_REQUESTS: Final = frozenset({"judge.ask", "embed.ask", "sandbox.run", "blob.get", "blob.put"})
PACK_EVENTS: Final = frozenset({"item", "progress", "cancel"})

UNWINDOWED: Final = frozenset({"hello", "ping", "bye"})
"""Requests that need no credit, so that control is never stuck behind work."""

OUTCOMES: Final = ("scored", "skipped", "error", "cancelled", "state", "planned")
"""What an item may say of a record; `state` feeds an aggregate, `planned` a reduce, and neither is a result."""

VERDICTS: Final = ("passed", "value", "label")
"""The parts of a score of which it has exactly one; a run is of one of them."""

ITEM_RUNS: Final = "item.runs"
"""The capability of a kernel that takes runs beside items."""

ITEM_DURATIONS: Final = "item.durations"
"""The capability of a kernel that takes, as an item's fifth element, how many milliseconds its evaluation took."""


def requests_from(role: Role) -> frozenset[str]:
    """The requests that this role may send."""
    return KERNEL_REQUESTS if role == "kernel" else PACK_REQUESTS


def events_from(role: Role) -> frozenset[str]:
    """The events that this role may send."""
    return KERNEL_EVENTS if role == "kernel" else PACK_EVENTS


def other(role: Role) -> Role:
    """The role at the far end."""
    return "pack" if role == "kernel" else "kernel"
