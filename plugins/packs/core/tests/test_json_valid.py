"""Strict JSON, as RFC 8259 has it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import Record, Score
from evalsi_pack_core.json_checks import json_valid
from evalsi_pack_core.json_grammar import first_fault


def passes(output: object) -> bool:
    result = json_valid(Record(output=output))
    if isinstance(result, Score):
        assert result.explanation is not None
        assert result.passed or result.explanation.startswith("The output is not JSON")
        return bool(result.passed)
    return result


@pytest.mark.parametrize(
    "output",
    [
        "{}",
        "[]",
        "null",
        "0",
        '"text"',
        " \n[1, -2.5e3, true] ",
        '{"a": {"b": [null]}}',
        "123456789012345678901234567890",
        '{"a": 1, "a": 2}',  # Unwise, and allowed.
        '"\\ud83d\\ude00"',
        '"東京"',
        "[" * 500 + "]" * 500,
        "[" * 2000 + "]" * 2000,
        '{"a":' * 50_000 + "1" + "}" * 50_000,
        "1" * 5000,
        "-1.5e999",
        "[1e999, " + "1" * 5000 + "]",
    ],
)
def test_json_passes(output: str) -> None:
    assert passes(output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "   ",
        "NaN",
        "[Infinity]",
        "-Infinity",
        "[1,]",
        '{"a": 1,}',
        "{'a': 1}",
        "{a: 1}",
        "[1] // one",
        "[1] [2]",
        "01",
        ".5",
        "1.",
        "+1",
        "0x1",
        "True",
        "undefined",
        '"line\nbreak"',
        '"\\x41"',
        "\ufeff{}",
        "```json\n{}\n```",
        "[1",
        "[" * 100_000,
        "[" * 2000 + "1,]" + "]" * 1999,
        "[" * 2000 + "}" + "]" * 1999,
        "1" * 5000 + ",",
        "[1e999,]",
        '{"a": 1e999, 1: 2}',
    ],
)
def test_what_only_looks_like_json_fails(output: str) -> None:
    assert not passes(output)


def test_json_content_is_json_and_messages_are_judged_by_their_text() -> None:
    assert passes({"json": {"a": 1}})
    assert passes([{"role": "assistant", "content": "[1]"}])
    assert not passes([{"role": "assistant", "content": "Sure: [1]"}])


def test_the_explanation_says_where_it_stops_being_json() -> None:
    result = json_valid(Record(output='{"a": 1,}'))
    assert isinstance(result, Score)
    assert result.explanation is not None
    assert "line 1 column" in result.explanation


def pythons_own_verdict(text: str) -> bool:
    def refuse(constant: str) -> float:
        raise ValueError(constant)

    try:
        json.loads(text, parse_int=str, parse_float=str, parse_constant=refuse)
    except ValueError:
        return False
    return True


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(values, st.booleans(), st.data())
def test_the_grammar_agrees_with_pythons_parser(value: object, spaced: bool, data: st.DataObject) -> None:
    text = json.dumps(value, indent=1 if spaced else None)
    assert (first_fault(text) is None) is pythons_own_verdict(text)
    place = data.draw(st.integers(0, len(text)))
    other = (
        text[:place]
        + data.draw(st.sampled_from(list('[]{},:"\\ 0-.e\n\x01t')))
        + text[place + data.draw(st.integers(0, 1)) :]
    )
    assert (first_fault(other) is None) is pythons_own_verdict(other)


@given(st.text('[]{},:"\\ 01-.eE+\n\ttrue', max_size=12))
def test_the_grammar_agrees_with_pythons_parser_on_any_marks(text: str) -> None:
    assert (first_fault(text) is None) is pythons_own_verdict(text)


def test_the_grammar_says_where_a_text_stops_being_json() -> None:
    assert first_fault('{"a": 1,}') == "not JSON: it stops being it after character 8"
    assert first_fault("[1] [2]") == "not JSON: it goes on after character 3"


@pytest.mark.parametrize("text", ['{"p": 1, "p": 2}', '[{"a": {"p": 1, "q": 2, "p": 1}}]', '{"p":1,"\\u0070":2}'])
def test_e7_a_duplicate_key_is_reported(text: str) -> None:
    noted = json_valid(Record(output=text))
    assert isinstance(noted, Score)
    assert noted.passed
    assert '"p"' in (noted.explanation or "")
    failed = json_valid(Record(output=text), duplicate_keys="fail")
    assert isinstance(failed, Score)
    assert not failed.passed


def test_e7_the_same_key_in_two_objects_is_no_duplicate() -> None:
    assert json_valid(Record(output='[{"p": 1}, {"p": {"p": 2}}]'), duplicate_keys="fail") is True
    assert json_valid(Record(output={"p": 1}), duplicate_keys="fail") is True
