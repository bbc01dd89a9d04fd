"""G7: a prompt with single braces is warned of, and messages in a prompt are their texts or an error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.request import Listener
from evalsi_targets.model_messages import messages_of, single_brace_warnings
from tests.providers import Provider, fixed
from tests.runs.running import executed, model_of, write_spec

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
