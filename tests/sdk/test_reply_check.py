"""The SDK and the kernel agree on which answers match a schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi.reply_check import misfit, schema_fault
from evalsi_kernel.checking.value_schema import BOUNDS, KEYWORDS, LENGTHS, TYPES, value_problems

NUMBERS = st.one_of(st.integers(-6, 6), st.sampled_from([0.0, 0.5, 1.0, 2.5]))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, st.text("ab", max_size=3))
KEYS = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def schemas(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas over inner ones."""
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(sorted(TYPES)) | st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=2),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "items": inner,
            "properties": st.dictionaries(KEYS, inner, max_size=2),
            "additionalProperties": st.booleans() | inner,
            "required": st.lists(KEYS, unique=True, max_size=2),
            **dict.fromkeys(BOUNDS, NUMBERS),
            **dict.fromkeys(LENGTHS, st.integers(0, 3)),
        },
    )


SCHEMAS = st.recursive(schemas(st.just({})), schemas, max_leaves=4)


@given(SCHEMAS, VALUES)
def test_the_harness_and_the_kernel_agree_on_what_fits(schema: dict[str, Any], value: Any) -> None:
    assert (misfit(schema, value) == "") == (list(value_problems(schema, value, "")) == [])


def test_the_harness_knows_the_keywords_that_the_kernel_knows_and_no_other() -> None:
    for keyword in KEYWORDS:
        inner: dict[str, Any] = {keyword: {} if keyword == "properties" else []}
        assert schema_fault({"type": "object", "properties": {"a": inner}}) == ""
    for keyword in ("pattern", "oneOf", "$ref", "maxLength", "format", "multipleOf"):
        assert repr(keyword) in schema_fault({"type": "object", keyword: 1})


@pytest.mark.parametrize(
    ("schema", "value", "why"),
    [
        ({"type": ["string", "null"]}, 1, "the answer is 1, not of type string or null"),
        ({"enum": ["yes", "no"]}, "maybe", "the answer is 'maybe', not one of ['yes', 'no']"),
        ({"const": 1}, True, "the answer is True, not 1"),
        ({"items": {"type": "string"}}, ["a", 2], "the answer[1] is 2, not of type string"),
        ({"properties": {"a": {"minLength": 1}}}, {"a": ""}, "the answer.a is '', which violates minLength 1"),
        ({"required": ["a"]}, {}, "the answer lacks 'a'"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "the answer is 1, which matches no option"),
        ({"additionalProperties": False}, {"b": 1}, "the answer has the unknown key 'b'; allowed: none"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_told_with_its_place(schema: dict[str, Any], value: Any, why: str) -> None:
    assert misfit(schema, value) == why
