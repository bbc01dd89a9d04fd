"""Strict JSON, as RFC 8259 has it."""

import pytest

from evalsi import Record, Score
from evalsi_pack_core.json_checks import json_valid


def passes(output: object) -> bool:
    result = json_valid(Record(output=output))
    if isinstance(result, Score):
        assert result.explanation is not None
        assert result.explanation.startswith("The output is not JSON")
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
