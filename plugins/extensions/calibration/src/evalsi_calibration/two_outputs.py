"""Owns what an evaluator that compares two outputs has beside its verdict: where the other output is, and the lengths.

Such an evaluator gives a label, and has a param `other` that says where in the metadata the other output stands. It
must not know verdicts of people.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.records.contents import content
from evalsi_kernel.records.mapping import MISSING, reach

VERDICTS = ("win", "tie", "loss")
POINTS = {"win": 1.0, "tie": 0.5, "loss": 0.0}
OTHER = "other"


def compares_two(instance: Instance) -> bool:
    """Whether an evaluator gives win, tie or loss of the output against another one."""
    outputs = instance.info.outputs
    return isinstance(instance.params.get(OTHER), str) and bool(outputs) and outputs[0].kind == "label"


def longer_by(record: Mapping[str, Any], other: str) -> int | None:
    """How many characters longer the output is than the one at this path of the metadata; None where one is missing."""
    there = reach(record.get("metadata", {}), tuple(other.split(".")))
    if "output" not in record or there is MISSING or there is None:
        return None
    return _length(record["output"]) - _length(there)


def _length(given: Any) -> int:
    """The characters of a text, of what messages say, or of JSON."""
    wire = content(given)
    if isinstance(wire, str):
        return len(wire)
    if "messages" in wire:
        return sum(len(one["content"]) for one in wire["messages"] if isinstance(one.get("content"), str))
    return len(json.dumps(wire["json"], ensure_ascii=False))
