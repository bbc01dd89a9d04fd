"""G7: single braces in a prompt are warned of, and messages in a text are their texts or an error, for every target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.request import Listener
from evalsi_targets.model_messages import messages_of, single_brace_warnings
from tests.providers import Provider, fixed
from tests.runs.running import executed, model_of, write_spec
from tests.targets.asking import failure_of, output_of
from tests.targets.service import serving

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def asked(value: Any, prompt: str = "Answer: {{input}}") -> str:
    return messages_of({"input": value}, prompt)[0]["content"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("Hi", "Answer: Hi"),
        ({"messages": [{"role": "user", "content": "Hi"}]}, "Answer: Hi"),
        (
            {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]},
            "Answer: system: Be brief.\nuser: Hi",
        ),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}, "Answer: Hi"),
        ({"json": {"a": 1}}, 'Answer: {"a": 1}'),
    ],
)
def test_g7_a_chat_input_in_a_prompt_is_the_texts_of_its_messages(value: Any, text: str) -> None:
    assert asked(value) == text


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, IMAGE]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
    ],
)
@pytest.mark.parametrize("place", ["{{input}}", "{{input.messages}}"])
def test_g7_a_message_that_is_more_than_text_is_an_error_of_the_record(message: dict[str, Any], place: str) -> None:
    with pytest.raises(ProviderError) as caught:
        asked({"messages": [message]}, place)
    assert (caught.value.error.code, caught.value.error.retry) == ("target.input", "no")


@pytest.mark.parametrize(
    ("prompt", "count"),
    [
        ("Answer: {input}", 1),
        ("{ input } and {metadata.topic}", 2),
        ("{{input}}", 0),
        ("{{input}}, as {x}", 0),
        ('{"a": 1}', 0),
        (None, 0),
    ],
)
def test_g7_single_braces_around_a_field_are_warned_of(prompt: str | None, count: int) -> None:
    assert len(single_brace_warnings({"prompt": prompt})) == count


def test_g7_a_run_tells_the_warning_before_it_asks(tmp_path: Path) -> None:
    told: list[str] = []
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor, prompt="Answer: {input}"))
        executed(tmp_path, listener=Listener(on_note=told.append))
    assert any("{input}" in note and "{{input}}" in note for note in told)


CHAT = {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": 'Say "hi".'}]}
CHAT_TEXT = 'system: Be brief.\nuser: Say "hi".'
PICTURE = {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}, IMAGE]}]}
CALL = {"messages": [{"role": "assistant", "content": "Wait.", "tool_calls": [{"id": "1", "name": "f"}]}]}


@pytest.mark.parametrize("options", [{"command": ["printf", "%s", "{{input}}"]}, {"command": "cat"}])
def test_g7_a_command_gets_the_texts_of_messages(tmp_path: Path, options: dict[str, Any]) -> None:
    assert output_of("command", tmp_path, CHAT, **options) == CHAT_TEXT
    for more_than_text in (PICTURE, CALL):
        error = failure_of("command", tmp_path, more_than_text, **options)
        assert (error.error.code, error.error.retry) == ("target.input", "no")


def test_g7_a_command_that_reads_json_gets_the_messages(tmp_path: Path) -> None:
    found = output_of("command", tmp_path, PICTURE, command="cat", input="json", output_path="input")
    assert found == PICTURE


def test_g7_a_service_gets_texts_within_quotes_and_json_elsewhere(tmp_path: Path) -> None:
    with serving() as service:
        url = f"{service.url}/body"
        text, value = '{"message": "Q: {{input}}"}', '{"messages": {{input.messages}}, "all": {{input}}}'
        assert output_of("http", tmp_path, CHAT, url=url, body_template=text) == {"message": f"Q: {CHAT_TEXT}"}
        assert output_of("http", tmp_path, PICTURE, url=url, body_template=value) == {
            "messages": PICTURE["messages"],
            "all": PICTURE,
        }
        assert output_of("http", tmp_path, PICTURE, url=url) == {"input": PICTURE}
        before = len(service.seen)
        for more_than_text in (PICTURE, CALL):
            for place in ({"url": url, "body_template": text}, {"url": f"{url}?q={{{{input}}}}"}):
                error = failure_of("http", tmp_path, more_than_text, None, **place)
                assert (error.error.code, error.error.retry) == ("target.input", "no")
        assert len(service.seen) == before


@pytest.mark.parametrize("place", ["{{input.messages.0}}", "{{input.messages.0.content}}"])
def test_g7_one_message_and_its_content_are_texts_too(place: str) -> None:
    assert asked(CHAT, place) == "Be brief."
    assert asked({"messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]}, place) == "Hi"
    with pytest.raises(ProviderError):
        asked(PICTURE, place)


@pytest.mark.parametrize("value", [[], [1], [{"a": 1}], {"role": "owner", "content": {"a": 1}}, {"messages": "none"}])
def test_g7_other_values_are_json(value: Any) -> None:
    assert json.loads(asked({"json": value}, "{{input}}")) == value
