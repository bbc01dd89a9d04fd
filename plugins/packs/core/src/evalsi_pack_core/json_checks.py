"""Is the output JSON, and does it equal the reference.

JSON is RFC 8259's: no NaN, no comments, no trailing commas. An output that is no JSON fails; one that is nested too
deep to be compared, or has a number out of range, is an error. Where no reference is JSON, that is the data's fault,
and an error.
"""

from __future__ import annotations

from typing import Annotated, Any

from evalsi import ContentError, ContentLimitError, Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_core.json_difference import FieldDifference, differences
from evalsi_pack_core.json_grammar import first_fault
from evalsi_pack_core.violations import first_few, travelling

MAX_LISTED = 100
PASS = [Output(kind="pass")]


@evaluator(name="json-valid", version=1, needs=("output",), outputs=PASS)
def json_valid(record: Record) -> bool | Score:
    """Output is strict JSON."""
    try:
        record.output.as_json()
    except ContentLimitError:
        fault = first_fault(record.output_text)
        return True if fault is None else Score(passed=False, explanation=f"The output is {fault}.")
    except ContentError as error:
        return Score(passed=False, explanation=f"The output is {error}.")
    return True


@evaluator(
    name="json-equal",
    version=2,
    needs=("output", "reference"),
    outputs=[Output(kind="pass"), Output("json-equal.fields", minimum=0.0, maximum=1.0)],
)
class JsonEqual:
    """Output and reference are equal as JSON; also the share of equal fields. 1 equals 1.0, true is not 1."""

    def __init__(
        self,
        *,
        ignore: Annotated[
            list[str] | None, Param(description="fields left out: a name, or a path such as a.b[0]")
        ] = None,
        tolerance: Annotated[
            dict[str, float] | None, Param(description="field → absolute tolerance of its numbers")
        ] = None,
    ) -> None:
        for field, value in (tolerance or {}).items():
            if value < 0:
                raise ParamError("tolerance", f"that of {field!r} is {value!r}, which is below zero")
        self._ignore = ignore or []
        self._tolerance = tolerance or {}

    def score(self, record: Record) -> list[Score]:
        """Pass, and the share of equal fields of the best reference; the explanation and metadata list what differs."""
        expected = _reference_values(record)
        try:
            value = record.output.as_json()
        except ContentLimitError:
            # Whether it is equal cannot be told, which is no fail.
            raise
        except ContentError as error:
            return _scores(f"The output is {error}.", share=0.0, fields=[])
        found = [differences(value, one, self._ignore, self._tolerance) for one in expected]
        best = max(found, key=lambda difference: difference.share)
        return _scores(first_few([str(field) for field in best.fields]), best.share, best.fields)


def _reference_values(record: Record) -> list[Any]:
    """The references that are JSON; raises `ValueError` where none is."""
    values = []
    fault: ContentError | None = None
    for reference in record.references:
        try:
            values.append(reference.as_json())
        except ContentError as error:
            fault = error
    if not values:
        raise ValueError(f"the reference is {fault}; mend the reference of this record") from fault
    return values


def _scores(explanation: str | None, share: float, fields: list[FieldDifference]) -> list[Score]:
    listed = [
        {key: travelling(text) for key, text in field._asdict().items() if text is not None}
        for field in fields[:MAX_LISTED]
    ]
    return [
        Score(
            passed=explanation is None,
            explanation=explanation,
            metadata={"differences": listed, "different": len(fields)} if listed else None,
        ),
        Score(name="json-equal.fields", value=share),
    ]
