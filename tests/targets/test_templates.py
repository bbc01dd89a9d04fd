"""Templates give JSON whatever a record holds, and paths find what they name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.broker.connector import ProviderError
from evalsi_targets.json_template import JsonTemplate
from evalsi_targets.reply_paths import found_at, steps_of
from evalsi_targets.template import filled

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, VALUES)
def test_a_filled_template_is_json_with_exactly_what_the_record_holds(text: str, value: Any) -> None:
    template = JsonTemplate('{"a": "say \\"{{input}}\\" twice: {{input}}", "b": [{{metadata.v}}, {"c": {{input}}}]}')
    record = {"input": text, "metadata": {"v": value}}
    assert json.loads(template.filled(record)) == {"a": f'say "{text}" twice: {text}', "b": [value, {"c": text}]}


@given(VALUES.filter(lambda value: not isinstance(value, str)))
def test_within_quotes_what_is_no_text_stands_as_json(value: Any) -> None:
    said = json.loads(JsonTemplate('{"a": "{{metadata.v}}"}').filled({"metadata": {"v": value}}))["a"]
    assert json.loads(said) == value


@given(TEXTS)
def test_a_value_that_looks_like_a_place_is_not_filled_again(text: str) -> None:
    assert filled("<{{input}}>", {"input": f"{{{{id}}}}{text}", "id": "r1"}) == f"<{{{{id}}}}{text}>"


def test_contents_stand_in_templates_as_their_authors_wrote_them() -> None:
    record = {"input": {"json": {"q": "why"}}, "reference": {"messages": [{"role": "user", "content": "hi"}]}}
    assert filled("{{input.q}} {{ input }} {{reference.messages.0.content}}", record) == 'why {"q": "why"} hi'


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", {"a": {"b": 1}}),
        ("$.a[0]", {"a": [1]}),
        ("a[-1].b", {"a": [0, {"b": 1}]}),
        ("a.0", {"a": [1]}),
        ('["a b"].c', {"a b": {"c": 1}}),
        ("[0]", [1]),
        ("a.b", {"a.b": 1}),
    ],
)
def test_a_path_leads_through_maps_and_lists(path: str, value: Any) -> None:
    assert found_at(value, path, "output_path", "It") == 1


def test_the_whole_reply_has_a_path_too() -> None:
    assert steps_of("$") == ()


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({}, "the reply is empty"),
        ({"b": 1}, "the reply has b"),
        ([], "the reply is a list of 0"),
        (None, "the reply is null"),
        ({"a": 5}, "a is a number"),
        ({"a": {str(number): 0 for number in range(20)}}, "a has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 more"),
    ],
)
def test_what_stands_there_instead_is_told(value: Any, told: str) -> None:
    with pytest.raises(ProviderError) as caught:
        found_at(value, "a.x", "output_path", "It")
    assert told in caught.value.error.message
