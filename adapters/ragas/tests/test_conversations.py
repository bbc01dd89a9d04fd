"""Conversations of a record as turns: messages, calls in either form, and the tools of a trajectory."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import Record, Skip
from evalsi_ragas.conversations import Call, Turn, calls_of, conversation

ASKED = Turn("human", "Is it free?")
LOOK = Call("look", {"q": "dogs"})
TOLD = Turn("ai", "It is.")
MESSAGE = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "name": "look", "arguments": '{"q": "dogs"}'}],
}


def test_plain_texts_are_a_question_and_an_answer() -> None:
    assert conversation(Record(input="Is it free?", output="It is.")) == [ASKED, TOLD]
    assert conversation(Record(output="It is.")) == [TOLD]


def test_messages_of_input_and_output_follow_one_another_without_those_of_the_system() -> None:
    one = Record(
        input=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Is it free?"}],
        output=[
            MESSAGE,
            {"role": "tool", "content": "free", "tool_call_id": "1"},
            {"role": "assistant", "content": "It is."},
        ],
    )
    assert conversation(one) == [ASKED, Turn("ai", "", (LOOK,)), Turn("tool", "free"), TOLD]


def test_the_tools_of_a_trajectory_stand_between_them() -> None:
    steps: list[dict[str, Any]] = [
        {"type": "llm", "output": "thinking"},
        {"type": "tool", "name": "look", "input": {"q": "dogs"}, "output": {"usd": 0}},
    ]
    one = Record(input="Is it free?", output="It is.", trajectory=steps)
    assert conversation(one) == [ASKED, Turn("ai", "", (LOOK,)), Turn("tool", '{"usd": 0}'), TOLD]


def test_a_trajectory_is_not_counted_beside_messages_that_call_tools() -> None:
    steps = [{"type": "tool", "name": "look", "input": {"q": "dogs"}, "output": "free"}]
    one = Record(output=[MESSAGE, {"role": "assistant", "content": "It is."}], trajectory=steps)
    assert sum(len(turn.calls) for turn in conversation(one)) == 1


@pytest.mark.parametrize(
    "written",
    [
        {"name": "look", "args": {"q": "dogs"}},
        {"name": "look", "arguments": {"q": "dogs"}},
        {"name": "look", "arguments": '{"q": "dogs"}'},
        {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"q": "dogs"}'}},
    ],
)
def test_a_call_in_whatever_form(written: dict[str, Any]) -> None:
    assert calls_of([written]) == [LOOK]


@pytest.mark.parametrize("nothing", [{}, {"args": {}}, {"arguments": ""}, {"arguments": None}])
def test_a_call_without_arguments(nothing: dict[str, Any]) -> None:
    assert calls_of([{"name": "look", **nothing}]) == [Call("look", {})]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("look", "a tool call is 'look'"),
        ({"function": "look"}, "a tool call is"),
        ({"args": {}}, "has no name"),
        ({"name": ""}, "has no name"),
        ({"name": "look", "args": [1]}, "write an object"),
        ({"name": "look", "arguments": "[1]"}, "write an object"),
        ({"name": "look", "arguments": "{"}, "are no JSON"),
    ],
)
def test_what_is_no_call_is_an_error(written: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        calls_of([written])


def test_an_unknown_role_is_an_error_and_no_output_a_skip() -> None:
    with pytest.raises(ValueError, match="the role 'wizard'"):
        conversation(Record(output=[{"role": "wizard", "content": "So be it."}]))
    with pytest.raises(Skip, match="record has no output"):
        conversation(Record(input="Is it free?"))
