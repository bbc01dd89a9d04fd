"""The smallest value of a schema is one that the schema allows, and always the same."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.providers.minimal import minimal

NODE: dict[str, Any] = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["next"],
        }
    },
    "$ref": "#/$defs/node",
}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (True, None),
        ({}, None),
        ({"const": 3}, 3),
        ({"enum": ["no", "yes"]}, "no"),
        ({"type": "string", "minLength": 2}, "xx"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 1),
        ({"type": "integer", "exclusiveMinimum": 1}, 2),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "number", "minimum": 0.2, "maximum": 0.8}, 0.2),
        ({"type": "number", "multipleOf": 0.5, "minimum": 0.2}, 0.5),
        ({"type": "boolean"}, False),
        ({"type": ["null", "string"]}, None),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [0, 0]),
        ({"type": "array", "prefixItems": [{"const": "a"}], "items": {"const": "b"}, "minItems": 2}, ["a", "b"]),
        ({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}, {"a": ""}),
        ({"minimum": 4}, 4),
        ({"anyOf": [{"type": "string", "pattern": "x"}, {"type": "null"}]}, None),
        ({"allOf": [{"type": "integer", "minimum": 2}, {"minimum": 4, "maximum": 9}]}, 4),
        ({"allOf": [{"required": ["a"]}, {"properties": {"a": {"const": 1}}}], "required": ["b"]}, {"b": None, "a": 1}),
        ({"$defs": {"a/b": {"const": 7}}, "type": "object", "properties": {"x": {"$ref": "#/$defs/a~1b"}},
          "required": ["x"]}, {"x": 7}),
    ],
)  # fmt: skip
def test_a_schema_has_its_smallest_value(schema: Any, value: Any) -> None:
    assert minimal(schema) == value
    jsonschema.validate(value, schema)


@pytest.mark.parametrize(
    ("schema", "why"),
    [
        (False, "no value is allowed"),
        ({"type": "string", "pattern": "^a+$"}, "pattern"),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, "allows no number"),
        ({"type": "tuple"}, "'tuple' is unknown"),
        ({"$ref": "other.json"}, "points out of the schema"),
        (NODE | {"$defs": {"node": {"type": "array", "items": {"$ref": "#/$defs/node"}, "minItems": 1}}}, "endless"),
    ],
)
def test_what_is_not_made_here_is_said(schema: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        minimal(schema)


def test_a_list_that_may_end_ends_at_once() -> None:
    assert minimal(NODE) == {"next": None}


LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.builds(
        lambda low, size: {"type": "integer", "minimum": low, "maximum": low + size},
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(lambda low: {"type": "number", "minimum": low}, st.floats(-9, 9)),
    st.builds(lambda high: {"type": "number", "exclusiveMaximum": high}, st.floats(-9, 9)),
    st.builds(lambda length: {"type": "string", "minLength": length}, st.integers(0, 5)),
    st.builds(lambda values: {"enum": values}, st.lists(st.text() | st.integers(), min_size=1, unique=True)),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": ["string", "null"]}, {}]),
)


def closed(shape: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": shape,
        "required": sorted(shape)[::2],
        "additionalProperties": False,
    }


def inside(schemas: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.dictionaries(st.text("abc", min_size=1), schemas, max_size=4).map(closed)
    arrays = st.builds(
        lambda one, least: {"type": "array", "items": one, "minItems": least}, schemas, st.integers(0, 3)
    )
    either = st.lists(schemas, min_size=1, max_size=3).map(lambda several: {"anyOf": several})
    both = schemas.map(lambda one: {"allOf": [one, {"title": "again"}]})
    return objects | arrays | either | both


@settings(deadline=None, max_examples=60)
@given(st.recursive(LEAVES, inside, max_leaves=8))
def test_the_smallest_value_is_allowed_by_its_schema(schema: Any) -> None:
    value = minimal(schema)
    jsonschema.validate(value, schema)
    assert minimal(schema) == value
