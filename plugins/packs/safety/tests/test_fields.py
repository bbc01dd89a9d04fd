"""Every text of an output is a field with a place, and no place shows what must stay hidden."""

from typing import Any

from evalsi import Record
from evalsi_pack_safety.fields import text_fields


def fields(output: Any, **settings: bool) -> list[tuple[str, str, str]]:
    return [(field.where, field.text, field.label) for field in text_fields(Record(output=output).output, **settings)]


def test_text_is_one_field() -> None:
    assert fields("hello") == [("", "hello", "")]


def test_messages_give_every_text_that_they_hold() -> None:
    call = {"id": "c1", "name": "mail", "arguments": '{"to":"a@b.example"}'}
    output = [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": [{"type": "text", "text": "two"}], "tool_calls": [call]},
    ]
    found = {where: text for where, text, _ in fields(output)}
    assert found["messages[0].content"] == "one"
    assert found["messages[1].content[0].text"] == "two"
    assert found["messages[1].tool_calls[0].arguments"] == '{"to":"a@b.example"}'


def test_json_gives_texts_numbers_and_keys_with_the_nearest_key_as_label() -> None:
    output = {"json": {"user": {"cards": [4111111111111111, "x"]}, "ok": True, "share": 0.5, "none": None}}
    found = [field for field in fields(output) if not field[0].endswith("(key)")]
    assert found == [("user.cards[0]", "4111111111111111", "cards"), ("user.cards[1]", "x", "cards")]
    assert ("user.cards (key)", "cards", "") in fields(output)


def test_json_that_is_one_text_or_a_list_has_places_too() -> None:
    assert fields({"json": "plain"}) == [("", "plain", "")]
    assert fields({"json": ["a", ["b"]]}) == [("[0]", "a", ""), ("[1][0]", "b", "")]


def test_a_key_that_is_no_plain_word_is_a_number_in_places() -> None:
    for key in ("jane@example.com", "AKIAIOSFODNN7EXAMPLE", "4111 1111", "x" * 40, "a.b", "ключ"):
        (name, _, _), (where, _, _) = fields({"json": {key: "v"}})
        assert (name, where) == ("{0} (key)", "{0}")
    for key in ("email", "firstName", "first_name", "first-name", "EMAIL", "line2", "x_api_key"):
        assert fields({"json": {key: "v"}})[1][0] == key


def test_names_of_keys_can_be_left_out_altogether() -> None:
    assert fields({"json": {"email": "v"}}, name_keys=False)[1][0] == "{0}"


def test_deep_nesting_and_huge_numbers_are_walked() -> None:
    deep: Any = "core"
    for _ in range(5000):
        deep = [deep]
    assert fields({"json": deep})[0][1] == "core"
    assert fields({"json": [10**5000]}) == []
