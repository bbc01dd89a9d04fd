"""Is the output JSON, does it fit a schema, does it equal the reference.

JSON is RFC 8259's: no NaN, no comments, no trailing commas. An output that is no JSON fails; a reference that is none is
the data's fault, and an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from evalsi import ContentError, Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_core.json_difference import differences, parse_paths

MAX_SHOWN = 5
PASS = [Output(kind="pass")]


@evaluator(name="json-valid", version=1, needs=("output",), outputs=PASS)
def json_valid(record: Record) -> bool | Score:
    """Output is strict JSON."""
    try:
        record.output.as_json()
    except ContentError as error:
        return Score(passed=False, explanation=f"The output is {error}.")
    return True


@evaluator(name="json-schema", version=1, needs=("output",), outputs=PASS)
class JsonSchema:
    """Output is JSON that fits a JSON Schema."""

    def __init__(self, *, schema: Annotated[dict[str, Any], Param(description="a JSON Schema")]) -> None:
        from jsonschema import exceptions, validators  # Loaded by those who validate with it.

        validator: Any = validators.validator_for(schema, default=validators.Draft202012Validator)
        try:
            validator.check_schema(schema)
        except exceptions.SchemaError as error:
            raise ParamError("schema", f"it is no JSON Schema: {error.message} at {error.json_path}") from error
        self._validator = validator(schema, format_checker=validator.FORMAT_CHECKER)

    def score(self, record: Record) -> bool | Score:
        """Whether it fits; the explanation names the first violations with their paths."""
        try:
            value = record.output.as_json()
        except ContentError as error:
            return Score(passed=False, explanation=f"The output is {error}.")
        violations = sorted(self._validator.iter_errors(value), key=lambda violation: violation.json_path)
        if not violations:
            return True
        shown = "; ".join(f"{violation.json_path}: {violation.message}" for violation in violations[:MAX_SHOWN])
        more = f"; and {len(violations) - MAX_SHOWN} more" if len(violations) > MAX_SHOWN else ""
        return Score(passed=False, explanation=shown + more)


@evaluator(
    name="json-equal",
    version=1,
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
        self._ignore = parse_paths(ignore or [])
        self._tolerance: Mapping[str, float] = tolerance or {}

    def score(self, record: Record) -> list[Score]:
        """Pass, and the share of equal fields of the best reference; the explanation lists what differs."""
        expected = [_reference_json(reference.as_json) for reference in record.references]
        try:
            value = record.output.as_json()
        except ContentError as error:
            return _scores(passed=False, share=0.0, explanation=f"The output is {error}.")
        best = min(
            (differences(value, one, self._ignore, self._tolerance) for one in expected), key=lambda found: found.rank
        )
        shown = "; ".join(best.differing[:MAX_SHOWN])
        more = f"; and {len(best.differing) - MAX_SHOWN} more" if len(best.differing) > MAX_SHOWN else ""
        return _scores(passed=not best.differing, share=best.share, explanation=shown + more or None)


def _reference_json(parse: Any) -> Any:
    try:
        return parse()
    except ContentError as error:
        raise ValueError(f"the reference is {error}; mend the reference of this record") from error


def _scores(*, passed: bool, share: float, explanation: str | None) -> list[Score]:
    return [Score(passed=passed, explanation=explanation), Score(name="json-equal.fields", value=share)]
