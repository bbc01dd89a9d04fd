"""Is the last number of the output the last number of the reference.

How a number is read is told in `numbers`; this holds only what to compare and how near.
"""

from __future__ import annotations

import json
from math import isclose
from typing import Annotated

from evalsi import Content, Output, Param, Record, Score, Skip, evaluator
from evalsi_pack_core.numbers import last_number


@evaluator(
    name="numeric-match",
    version=1,
    needs=("output", "reference"),
    outputs=[Output(kind="pass")],
)
def numeric_match(
    record: Record,
    *,
    rel_tol: Annotated[float, Param(description="tolerance relative to the larger number", minimum=0)] = 1e-6,
    abs_tol: Annotated[float, Param(description="tolerance near zero", minimum=0)] = 1e-9,
) -> bool | Score:
    """The last number of the output is the last number of the reference, within tolerance."""
    expected = [number for reference in record.references if (number := last_number(_text_of(reference))) is not None]
    if not expected:
        raise Skip("reference has no number")
    found = last_number(_text_of(record.output))
    if found is None:
        return Score(passed=False, explanation="The output has no number.")
    if found in expected:
        return True
    if not rel_tol and not abs_tol:
        # Of whole numbers beyond a float's digits, isclose() would see the float.
        return False
    return any(isclose(found, number, rel_tol=rel_tol, abs_tol=abs_tol) for number in expected)


def _text_of(content: Content) -> str:
    """The text; of JSON a form that keeps its numbers apart, as the compact [1,234] would not."""
    wire = content.wire
    if isinstance(wire, dict) and "json" in wire and not isinstance(wire["json"], str):
        return json.dumps(wire["json"], ensure_ascii=False)
    return content.as_text()
