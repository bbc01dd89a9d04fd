"""Owns how the gates of two runs differ, and whether the candidate's let more pass.

It must not know scores, nor what a gate does with a number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from .run_changes import Change, shown, spec_of

_BOUNDS = {
    # Key, whether a larger one lets more pass, and what an absent one stands for.
    "min": (False, -math.inf),
    "max": (True, math.inf),
    "max_drop": (True, math.inf),
    "max_error_rate": (True, 0.0),
    "max_skip_rate": (True, 0.5),
}
_FOR_ALL = ("max_error_rate", "max_skip_rate")


def gate_changes(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[Change]:
    """How gates differ.

    Args:
        base, candidate: heads of results files.
    """
    sides = [_gates(head) for head in (base, candidate)]
    changes: list[Change] = []
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        before, after = sides[0].get(name), sides[1].get(name)
        if before is None or after is None:
            changes.append(Change("gates", name, _told(before), _told(after), weakens=after is None))
        else:
            changes += _of_gate(name, before, after)
    specs = [spec_of(head["manifest"]) for head in (base, candidate)]
    changes += _of_gate("all gates", _for_all(specs[0]), _for_all(specs[1]))
    return changes


def _of_gate(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for key, (larger_lets_more, absent) in _BOUNDS.items():
        one, other = _number(before.get(key), absent), _number(after.get(key), absent)
        if one != other:
            weakens = (other > one) == larger_lets_more
            yield Change("gates", f"{name} {key}", shown(before.get(key)), shown(after.get(key)), weakens)
    one, other = bool(before.get("significant")), bool(after.get("significant"))
    if one != other:
        # A drop that must be significant to fail fails less often.
        yield Change("gates", f"{name} significant", shown(one), shown(other), weakens=other)
    policies = [str(gate.get("undecided") or "fail") for gate in (before, after)]
    if policies[0] != policies[1]:
        yield Change("gates", f"{name} undecided", policies[0], policies[1], policies[1] == "pass")


def _gates(head: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The gates of a run by what they hold to a bound; those of the spec tell more than those of the outcome."""
    listed = spec_of(head["manifest"]).get("gates") or head.get("gates") or []
    found: dict[str, Mapping[str, Any]] = {}
    for gate in listed if isinstance(listed, list) else []:
        if isinstance(gate, dict) and isinstance(gate.get("metric"), str):
            name = _name(gate)
            # Two gates on one thing stay two.
            while name in found:
                name = f"{name}'"
            found[name] = gate
    return found


def _name(gate: Mapping[str, Any]) -> str:
    stat = str(gate.get("stat") or "mean").removeprefix("GATE_STAT_").lower()
    parts = [gate["metric"], *([] if stat == "mean" else [stat])]
    parts += [shown(gate[key]) for key in ("slice", "when", "baseline") if gate.get(key)]
    return " ".join(parts)


def _told(gate: Mapping[str, Any] | None) -> str:
    if gate is None:
        return ""
    bounds = [f"{key} {shown(gate[key])}" for key in _BOUNDS if gate.get(key) is not None]
    return ", ".join(bounds) or "gate"


def _for_all(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: spec[key] for key in (*_FOR_ALL, "undecided") if spec.get(key) is not None}


def _number(value: Any, absent: float) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else absent
