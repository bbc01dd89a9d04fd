"""Which schemas keep to the limits of strict structured output."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_connectors.strict_schema import fits_strict
from tests.connectors.calling import VERDICT
from tests.providers.strict_schemas import openai_fault


def closed(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    "schema",
    [
        VERDICT,
        closed(),
        closed(a={"type": ["string", "null"]}, b={"enum": ["x", "y"]}, c={"const": 1}),
        closed(a={"type": "array", "items": closed(b={"type": "number", "minimum": 0, "maximum": 1})}),
        closed(a={"anyOf": [{"type": "string"}, {"type": "null"}]}),
        {**closed(a={"$ref": "#/$defs/B"}), "$defs": {"B": closed(c={"type": "boolean"})}, "title": "T"},
    ],
)
def test_a_closed_schema_of_known_keywords_fits(schema: dict[str, Any]) -> None:
    assert fits_strict(schema)
    assert openai_fault(schema) is None


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
        {**closed(), "anyOf": [closed()]},
        {**closed(a={"type": "string"}), "required": []},
        {**closed(), "additionalProperties": True},
        {"type": "object", "properties": {}, "required": []},
        closed(a={"type": "object"}),
        closed(a={"type": ["object", "null"]}),
        closed(a={"type": "string", "minLength": 1}),
        closed(a={"type": "string", "default": "x"}),
        closed(a={"oneOf": [{"type": "string"}]}),
        closed(a={"type": "array", "items": {"type": "object"}}),
        closed(a=True),
        {**closed(), "$defs": {"B": {"type": "object"}}},
    ],
)
def test_a_schema_that_is_open_or_knows_other_keywords_does_not(schema: dict[str, Any]) -> None:
    assert not fits_strict(schema)


def test_a_schema_that_is_too_deep_or_too_large_does_not_fit() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(11):
        deep = closed(a=deep)

    assert not fits_strict(deep)
    assert not fits_strict(closed(**{f"p{n}": {"type": "string"} for n in range(5001)}))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "properties", "required", "items", "anyOf", "$defs", "additionalProperties", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["properties", "required", "$defs", "items", "title"]), ANY_JSON))
def test_no_schema_however_wrong_raises(schema: dict[str, Any]) -> None:
    assert fits_strict({**closed(), **schema}) in (True, False)
