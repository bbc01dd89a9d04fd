"""`--map` puts columns and nested values into fields."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_kernel.errors import UsageError
from evalsi_kernel.records.contents import BadField
from evalsi_kernel.records.mapping import MISSING, Mapper, parse_mapping, reach


def mapped(row: dict[str, Any], *words: str) -> dict[str, Any]:
    return Mapper(parse_mapping(words))(row)


@pytest.mark.parametrize("word", ["input", "input=", "=question", "", "="])
def test_a_word_without_field_or_column_is_refused_with_an_example(word: str) -> None:
    with pytest.raises(UsageError, match="is not FIELD=COLUMN") as caught:
        parse_mapping([word])
    assert "--map input=question" in caught.value.hint


def test_an_unknown_field_is_met_with_the_nearest_one_and_with_all_of_them() -> None:
    with pytest.raises(UsageError, match="'refrence', which a record does not have") as caught:
        parse_mapping(["refrence=answer"])
    assert 'Did you mean "reference"?' in caught.value.hint
    assert "id, input, output, reference, context" in caught.value.hint


def test_a_field_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="gives the field 'input' twice"):
        parse_mapping(["input=a", "input=b"])


@pytest.mark.parametrize("field", ["usage.", "metadata..a"])
def test_a_field_with_an_empty_name_in_it_is_refused(field: str) -> None:
    with pytest.raises(UsageError, match="in which a name is empty"):
        parse_mapping([f"{field}=a"])


def test_a_column_may_have_an_equals_sign() -> None:
    assert parse_mapping(["input=a=b"]) == {"input": ("a=b",)}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("plain", 1),
        ("deep.inner", 2),
        ("list.0", "first"),
        ("list.-1", "last"),
        ("list.1.name", 3),
        ("dotted.name", 4),
        ("dotted.map.inner", 5),
        ("deep.also.dotted", 6),
        ("none", None),
        ("0", 7),
    ],
)
def test_a_path_reaches_through_maps_and_lists_and_names_with_dots(path: str, value: Any) -> None:
    row = {
        "plain": 1,
        "deep": {"inner": 2, "also.dotted": 6},
        "list": ["first", {"name": 3}, "last"],
        "dotted.name": 4,
        "dotted.map": {"inner": 5},
        "none": None,
        "0": 7,
    }
    assert reach(row, tuple(path.split("."))) == value


@pytest.mark.parametrize(
    "path", ["gone", "plain.x", "list.3", "list.-4", "list.--1", "list.x", "list.", "list.²", "none.x"]
)
def test_a_path_that_leads_nowhere_is_missing(path: str) -> None:
    assert reach({"plain": 1, "list": [1, 2, 3], "none": None}, tuple(path.split("."))) is MISSING


def test_a_column_whose_name_has_dots_comes_before_a_nested_value() -> None:
    assert reach({"a.b": 1, "a": {"b": 2}}, ("a", "b")) == 1


def test_a_mapped_column_moves_and_the_others_stay() -> None:
    assert mapped({"question": "2+2?", "topic": "sums"}, "input=question") == {"input": "2+2?", "topic": "sums"}


def test_a_mapped_column_with_dots_in_its_name_moves_too() -> None:
    assert mapped({"q.text": "2+2?"}, "input=q.text") == {"input": "2+2?"}


def test_a_column_that_is_reached_into_stays_because_there_is_more_in_it() -> None:
    row = {"qa": {"q": "2+2?", "lang": "en"}}
    assert mapped(row, "input=qa.q") == {"qa": {"q": "2+2?", "lang": "en"}, "input": "2+2?"}


def test_the_map_wins_over_a_column_that_has_the_fields_name() -> None:
    assert mapped({"input": "raw", "prompt": "clean"}, "input=prompt") == {"input": "clean"}


def test_a_field_whose_column_is_missing_is_absent_and_takes_nothing_else() -> None:
    mapper = Mapper(parse_mapping(["input=prompt", "output=answer"]))
    assert mapper({"input": "raw", "answer": "4"}) == {"output": "4"}
    assert mapper({"prompt": None}) == {"input": None}
    assert mapper.missing == {"input": 1, "output": 1}


def test_two_columns_can_be_swapped() -> None:
    row = {"output": "the question", "input": "the answer"}
    assert mapped(row, "input=output", "output=input") == {"input": "the question", "output": "the answer"}


def test_one_column_may_go_to_two_fields() -> None:
    assert mapped({"q": "2+2?"}, "input=q", "metadata.q=q") == {"input": "2+2?", "metadata": {"q": "2+2?"}}


def test_a_nested_field_is_set_inside_of_what_is_there_and_the_row_itself_is_not_touched() -> None:
    row = {"usage": {"input_tokens": 3}, "ms": 235}
    assert mapped(row, "usage.latency_ms=ms") == {"usage": {"input_tokens": 3, "latency_ms": 235}}
    assert row == {"usage": {"input_tokens": 3}, "ms": 235}


def test_a_field_that_is_mapped_as_a_whole_is_there_before_what_is_set_inside_of_it() -> None:
    row = {"info": {"lang": "en"}, "t": "sums"}
    assert mapped(row, "metadata.topic=t", "metadata=info") == {"metadata": {"lang": "en", "topic": "sums"}}


def test_nothing_can_be_set_inside_of_what_is_no_map() -> None:
    with pytest.raises(BadField, match="usage is 'fast', which is not an object"):
        mapped({"usage": "fast", "ms": 235}, "usage.latency_ms=ms")
