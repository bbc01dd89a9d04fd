"""Checks of your own on what an agent did; each runs in a process of its own, like a pack."""

from typing import Any


def worked_it_out(record: Any) -> bool:
    """Whether the agent added prices up rather than guess."""
    return any(step.get("name") == "add" for step in record.trajectory)
