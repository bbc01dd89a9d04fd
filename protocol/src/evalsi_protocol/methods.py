"""The methods of protocol v1, by role and kind of frame."""

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
"""Requests that need no credit, so that work never blocks control messages."""

OUTCOMES: Final = ("scored", "skipped", "error", "cancelled", "state", "planned")
"""Outcomes of a record. `state` is input for `aggregate` and `planned` for `reduce`; neither is a result."""

VERDICTS: Final = ("passed", "value", "label")
"""The verdicts of a score, which has exactly one. A run contains one kind."""

ITEM_RUNS: Final = "item.runs"
"""Capability of a kernel that accepts runs in addition to items."""

ITEM_DURATIONS: Final = "item.durations"
"""Capability of a kernel that accepts the duration in milliseconds as fifth element of an item."""


def requests_from(role: Role) -> frozenset[str]:
    """Return the requests that a role may send."""
    return KERNEL_REQUESTS if role == "kernel" else PACK_REQUESTS


def events_from(role: Role) -> frozenset[str]:
    """Return the events that a role may send."""
    return KERNEL_EVENTS if role == "kernel" else PACK_EVENTS


def other(role: Role) -> Role:
    """Return the role of the peer."""
    return "pack" if role == "kernel" else "kernel"
