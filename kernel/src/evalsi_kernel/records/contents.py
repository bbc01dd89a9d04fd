"""The forms in which a field of a record may be given, and its form on the wire (docs/decisions/0001).

It must not know where a record stands; whoever reads the rows adds the place to a refusal.
"""

from __future__ import annotations

from typing import Any

from evalsi_protocol.steps import StepError, read_steps

MAX_NESTING = 100
"""How many lists and maps may stand in one another in a field; the wire allows 128 with all that is put around it."""

_MAX_SHOWN_CHARS = 60


class BadField(ValueError):
    """A field that cannot be read: what is wrong with it, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def content(value: Any) -> Any:
    """Text as it is; messages, or any other value, in a map that says which."""
    if isinstance(value, str):
        return value
    if _is_messages(value):
        return {"messages": value}
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("text"), str):
            return value["text"]
        if "json" in value or _is_messages(value.get("messages")):
            return value
    return {"json": value}


def references(value: Any) -> Any:
    """One content, or a list of them of which any is right; None where the list holds none."""
    if isinstance(value, list) and not _is_messages(value):
        return [content(item) for item in value if item is not None] or None
    return content(value)


def contexts(value: Any) -> list[Any]:
    """A list of contents; a single one is a list of one."""
    items = value if isinstance(value, list) else [value]
    return [content(item) for item in items if item is not None]


def trajectory(value: Any) -> dict[str, Any]:
    """Return a map with the `steps`, the calls of tools in one form; a bare list is the steps.

    Raises:
        BadField: a step is no map, or names its arguments twice.
    """
    wire = {"steps": value} if isinstance(value, list) else a_map("trajectory", value)
    steps = wire.get("steps", [])
    if not isinstance(steps, list):
        raise BadField(f"trajectory.steps is {shown(steps)}, which is not a list", "Write a list of objects.")
    for number, step in enumerate(steps, 1):
        if not isinstance(step, dict):
            raise BadField(f"step {number} of the trajectory is {shown(step)}, not an object", "Write it as an object.")
    try:
        return {**wire, "steps": read_steps(steps)} if "steps" in wire else wire
    except StepError as error:
        raise BadField(f"{error}", f"Keep one of {error.keys[0]} and {error.keys[1]}.") from error


def a_map(name: str, value: Any) -> dict[str, Any]:
    """The map itself; raises `BadField` when it is none."""
    if not isinstance(value, dict):
        raise BadField(
            f"{name} is {shown(value)}, which is not an object",
            f"Write it as an object, or keep the column as it is with --map metadata.{name}={name}.",
        )
    return value


def check_nesting(name: str, value: Any, levels: int) -> None:
    """See that a list or map does not nest more levels than can travel; raises `BadField`."""
    if is_deeper(value, levels):
        raise BadField(
            f"{name} is nested deeper than {levels} levels", "Flatten it, or write it as a text that holds JSON."
        )


def shown(value: Any) -> str:
    """A value as an error sentence shows it: short, with whatever cannot be printed escaped."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN_CHARS else text[: _MAX_SHOWN_CHARS - 3] + "..."


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and maps stand in one another in more levels than these, of which `value`, one of them, is one."""
    if levels == 0:
        return True
    for item in value.values() if type(value) is dict else value:
        kind = type(item)
        if (kind is dict or kind is list) and is_deeper(item, levels - 1):
            return True
    return False
