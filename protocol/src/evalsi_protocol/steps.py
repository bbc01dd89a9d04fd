"""Normalize the steps of an agent's trajectory, whose keys differ between recording tools.

A tool call is `{"type": "tool", "name": …, "input": …, "output": …}`. These keys are added; the original keys are kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

TOOL = "tool"
_TYPE_KEYS = ("kind", "steptype", "spantype")
_TOOL_TYPES = frozenset({"tool", "toolcall", "tooluse", "toolexecution", "function", "functioncall"})
_ALIASES: dict[str, tuple[str, ...]] = {
    "name": ("toolname", "tool", "functionname", "function", "action"),
    "input": (
        *("arguments", "args", "argument", "toolinput", "toolargs", "toolarguments", "actioninput", "kwargs", "inputs"),
        *("inputparameters", "parameters", "params"),
    ),
    "output": (
        *("result", "results", "tooloutput", "toolresult", "toolresponse", "response", "observation", "outputs"),
        *("returnvalue", "content"),
    ),
}
_SAYS_TOOL = frozenset({"toolname", "tool", "functionname", "toolinput", "toolargs", "toolarguments"})
_ARGUMENTS = ("arguments", "args")


class StepError(ValueError):
    """A step has two keys with the same meaning but different values. `keys` holds both."""

    def __init__(self, number: int, keys: tuple[str, str]) -> None:
        super().__init__(f"step {number} of the trajectory has {keys[0]} and {keys[1]}, which differ")
        self.keys = keys


def read_steps(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the steps with the standard keys of a tool call added if other spellings are present.

    Raises:
        StepError: a call has both `input` and `arguments` (or `args`), and they differ.
    """
    return [_read(number, step) for number, step in enumerate(steps, 1)]


def _read(number: int, step: dict[str, Any]) -> dict[str, Any]:
    if step.get("type") == TOOL and step.keys() <= {"type", "name", "input", "output"}:
        return step  # The common case.
    folded = {_folded(key): key for key in step if isinstance(key, str)}
    if not _is_call(step, folded):
        return step
    read = {**step, "type": TOOL}
    nested = step.get(folded.get("function", ""))
    if isinstance(nested, Mapping):
        # The form of chat messages: {"type": "function", "function": {"name": …, "arguments": …}}.
        for key in ("name", *_ARGUMENTS):
            if nested.get(key) is not None:
                folded.setdefault(key, key)
                read.setdefault(key, nested[key])
    for key, aliases in _ALIASES.items():
        found = [folded[alias] for alias in aliases if read.get(folded.get(alias, "")) is not None]
        if key == "name":
            found = [alias for alias in found if isinstance(read[alias], str)]
        if not found:
            continue
        value = _arguments(read[found[0]]) if key == "input" else read[found[0]]
        if read.get(key) is None:
            read[key] = value
        elif key == "input" and _folded(found[0]) in _ARGUMENTS and _arguments(read[key]) != value:
            raise StepError(number, (key, found[0]))
    return read


def _is_call(step: Mapping[str, Any], folded: Mapping[str, str]) -> bool:
    kind = step.get("type")
    if kind is None:
        kind = next((step[folded[key]] for key in _TYPE_KEYS if key in folded), None)
    if isinstance(kind, str) and kind:
        return _folded(kind) in _TOOL_TYPES
    if any(isinstance(step[folded[key]], (str, Mapping, list)) for key in _SAYS_TOOL & folded.keys()):
        return True
    return "name" in step and any(key in folded for key in _ARGUMENTS)


def _folded(key: str) -> str:
    return key.replace("_", "").replace("-", "").replace(".", "").lower()


def _arguments(given: Any) -> Any:
    """Return the arguments of a call. In chat messages they are the text of a JSON object."""
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        read = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return read if isinstance(read, dict) else given
