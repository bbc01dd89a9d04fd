"""Is the output JSON, and does it equal the reference.

JSON is RFC 8259's: no NaN, no comments, no trailing commas. An output that is no JSON fails; one that is nested too
deep to be compared, or has a number out of range, is an error. Where no reference is JSON, that is the data's fault,
and an error.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from evalsi import ContentError, ContentLimitError, Output, Param, ParamError, Record, Score, evaluator
from evalsi_pack_core.json_difference import FieldDifference, differences
from evalsi_pack_core.json_grammar import first_fault
from evalsi_pack_core.violations import first_few, travelling

MAX_LISTED = 100
PASS = [Output(kind="pass")]


@evaluator(name="json-valid", version=2, needs=("output",), outputs=PASS)
def json_valid(
    record: Record,
    *,
    duplicate_keys: Annotated[
        Literal["note", "fail"], Param(description="a key twice in one object: pass with a note, or fail")
    ] = "note",
) -> bool | Score:
    """Output is strict JSON."""
    try:
        record.output.as_json()
    except ContentLimitError:
        fault = first_fault(record.output_text)
        return True if fault is None else Score(passed=False, explanation=f"The output is {fault}.")
    except ContentError as error:
        return Score(passed=False, explanation=f"The output is {error}.")
    twice = _duplicate_keys(record)
    if not twice:
        return True
    named = first_few([json.dumps(key, ensure_ascii=False) for key in twice])
    note = f"An object has a key more than once, and readers differ on which value counts: {named}."
    return Score(passed=duplicate_keys == "note", explanation=note)


def _duplicate_keys(record: Record) -> list[str]:
    """Return the keys that stand more than once in one object of the output's text, each once."""
    if isinstance(record.output.wire, dict) and "json" in record.output.wire:
        return []
    twice: dict[str, None] = {}

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            seen: set[str] = set()
            twice.update((key, None) for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        return read

    json.loads(record.output_text, object_pairs_hook=object_of)
    return list(twice)


@evaluator(
    name="json-equal",
    version=3,
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
        whole = _whole_list(record) if isinstance(value, list) else None
        if whole is None or (not best.fields and expected != [whole]):
            return _scores(first_few([str(field) for field in best.fields]), best.share, best.fields)
        one = differences(value, whole, self._ignore, self._tolerance)
        if not one.fields:
            return _scores(None, 1.0, [], note=_AS_ONE)
        best = max(best, one, key=lambda difference: difference.share)
        return _scores(first_few([*map(str, best.fields)]), best.share, best.fields, note=_EITHER)


def _reference_values(record: Record) -> list[Any]:
    """Return the references that are JSON; raises `ValueError` where none is.

    A list of references that holds plain texts may be one list of texts.
    """
    values: list[Any] = []
    fault: ContentError | None = None
    for reference in record.references:
        try:
            values.append(reference.as_json())
        except ContentError as error:
            fault = error
    if not values:
        whole = _whole_list(record)
        if whole is not None:
            return [whole]
        raise ValueError(f"the reference is {fault}; correct the reference of this record") from fault
    return values


_AS_ONE = "The list of references was read as one list, which the output equals."
_EITHER = "The list of references was read as one list and as any of its items; the output equals neither"


def _whole_list(record: Record) -> list[Any] | None:
    """Return a list of references as the one JSON list that it may have been written as; None for one reference."""
    written = record.wire.get("reference")
    if not isinstance(written, list):
        return None
    return [
        (item["json"] if "json" in item else item["messages"]) if isinstance(item, dict) else item for item in written
    ]


def _scores(
    explanation: str | None, share: float, fields: list[FieldDifference], *, note: str | None = None
) -> list[Score]:
    listed = [
        {key: travelling(text) for key, text in field._asdict().items() if text is not None}
        for field in fields[:MAX_LISTED]
    ]
    return [
        Score(
            passed=explanation is None,
            explanation=": ".join(part for part in (note, explanation) if part) or None,
            metadata={"differences": listed, "different": len(fields)} if listed else None,
        ),
        Score(name="json-equal.fields", value=share),
    ]
