"""Test reading content as text, JSON or messages."""

from __future__ import annotations

from typing import Any

import msgpack
import pytest

from evalsi.content import Content, ContentError, ContentLimitError, content
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.rows_source import RowsSource

CHAT = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]


@pytest.mark.parametrize(
    ("written", "wire"),
    [
        ("plain", "plain"),
        ("", ""),
        (CHAT, {"messages": CHAT}),
        ({"messages": CHAT}, {"messages": CHAT}),
        ({"text": "plain"}, "plain"),
        ({"json": [1, 2]}, {"json": [1, 2]}),
        ([], {"json": []}),
        ([1, "two"], {"json": [1, "two"]}),
        ({"a": 1}, {"json": {"a": 1}}),
        ({"text": 1}, {"json": {"text": 1}}),
        ({"text": "x", "more": 1}, {"json": {"text": "x", "more": 1}}),
        ({"messages": "none"}, {"json": {"messages": "none"}}),
        ([{"role": "user"}, {"no": "role"}], {"json": [{"role": "user"}, {"no": "role"}]}),
        (0, {"json": 0}),
        (False, {"json": False}),
    ],
)
def test_what_an_author_writes_becomes_the_same_content_as_what_the_kernel_reads_from_data(
    written: Any, wire: Any
) -> None:
    [chunk] = Intake(RowsSource([{"output": written}], "rows")).chunks()
    assert content(written) == wire
    assert msgpack.unpackb(chunk.packed[0])["output"] == wire


def test_content_that_is_content_already_stays_as_it_is() -> None:
    assert content(Content("plain")) == "plain"


def test_text_is_read_as_it_is() -> None:
    assert Content("  Grüße\n").as_text() == "  Grüße\n"
    assert Content("x").is_text
    assert not Content({"json": "x"}).is_text


def test_messages_are_read_as_their_texts_a_line_each() -> None:
    assert Content({"messages": CHAT}).as_text() == "Hello\nHi"


def test_a_message_without_text_gives_no_line() -> None:
    tool_call: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": []}
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {}}]}
    assert Content({"messages": [CHAT[0], tool_call, picture, CHAT[1]]}).as_text() == "Hello\nHi"


def test_the_text_parts_of_a_message_are_joined_and_its_other_parts_left_out() -> None:
    parts = [{"type": "text", "text": "see "}, {"type": "image_url"}, {"type": "text", "text": None}, {"text": "this"}]
    assert Content({"messages": [{"role": "user", "content": parts}]}).as_text() == "see this"


def test_json_is_read_as_its_compact_form_with_sorted_keys() -> None:
    assert Content({"json": {"b": [1, None], "a": "ü"}}).as_text() == '{"a":"ü","b":[1,null]}'


def test_a_json_string_is_read_as_the_text_that_it_holds() -> None:
    assert Content({"json": "plain"}).as_text() == "plain"


def test_json_content_is_its_value_and_text_is_parsed() -> None:
    assert Content({"json": {"a": 1}}).as_json() == {"a": 1}
    assert Content('{"a": [1, 2.5, true, null]}').as_json() == {"a": [1, 2.5, True, None]}


def test_the_text_of_messages_is_parsed_as_json() -> None:
    assert Content({"messages": [{"role": "assistant", "content": "[1]"}]}).as_json() == [1]


@pytest.mark.parametrize("text", ["", "no", "{'a': 1}", "[1,]", "{} {}", "\ufeff{}", '"\x01"'])
def test_text_that_is_not_json_is_refused_with_the_place(text: str) -> None:
    with pytest.raises(ContentError, match=r"not JSON: .*line 1 column"):
        Content(text).as_json()


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}'])
def test_python_s_own_constants_are_no_json(text: str) -> None:
    with pytest.raises(ContentError, match="is not a JSON value") as caught:
        Content(text).as_json()
    assert not isinstance(caught.value, ContentLimitError)


def test_json_nested_too_deep_is_an_error_and_no_crash() -> None:
    with pytest.raises(ContentLimitError, match="nested too deep"):
        Content("[" * 100_000 + "]" * 100_000).as_json()


def test_an_integer_longer_than_python_reads_is_not_called_bad_json() -> None:
    with pytest.raises(ContentLimitError, match="not JSON that can be read: it has an integer of too many digits"):
        Content("1" * 5_000).as_json()


@pytest.mark.parametrize("text", ["1e999", "-1e999", '{"a": [2e999]}', "1" * 400 + ".0"])
def test_a_number_beyond_every_float_is_refused_and_never_read_as_infinity(text: str) -> None:
    with pytest.raises(ContentLimitError, match="is beyond the range of a float"):
        Content(text).as_json()


def test_a_number_at_the_ends_of_a_float_s_range_is_read() -> None:
    assert Content("[1.7976931348623157e308, 5e-324, 1e-999]").as_json() == [1.7976931348623157e308, 5e-324, 0.0]


def test_messages_are_given_as_a_list_of_their_own() -> None:
    wire = {"messages": list(CHAT)}
    messages = Content(wire).messages()
    messages.clear()
    assert wire == {"messages": CHAT}


def test_text_is_one_message_of_the_user() -> None:
    assert Content("Hello").messages() == [{"role": "user", "content": "Hello"}]


def test_json_has_no_messages() -> None:
    with pytest.raises(ContentError, match="has no messages"):
        Content({"json": [1]}).messages()


def test_contents_are_equal_when_they_hold_the_same() -> None:
    assert Content("a") == Content("a")
    assert Content("a") != Content({"json": "a"})
    assert Content("a") == "a"
    assert Content("a") != "b"
    assert Content({"json": [1]}) == [1]
    assert Content("[1]") != [1]
    assert repr(Content("a")) == "Content('a')"
