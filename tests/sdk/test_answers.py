"""E1 and E2: the answer of a conversation, and media that judges are not shown."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import Context, Record, Score, Skip, evaluator
from evalsi.content import Content, ContentError, content, message_calls
from evalsi.testing import Bench

LOOK = {"role": "assistant", "content": "Let me look."}
STOCK = {"role": "tool", "content": "stock: 12"}
SORRY = {"role": "assistant", "content": "Sorry, I could not find out."}
IMAGE = {"type": "image_url", "image_url": {"url": "https://host.example/1.png"}}
BLOCK = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}
TEXT = {"type": "text", "text": "What is this?"}


def message(role: str, *parts: Any) -> list[dict[str, Any]]:
    return [{"role": role, "content": list(parts)}]


# -- E1: the answer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "answer"),
    [
        ([LOOK, STOCK, SORRY], "Sorry, I could not find out."),
        ([SORRY, {"role": "user", "content": "And now?"}, {"role": "assistant", "content": "12"}], "12"),
        ([{"role": "assistant", "content": "12"}, {"role": "user", "content": "Thanks."}], "12"),
        ([{"role": "user", "content": "How many?"}, {"role": "model", "content": "12"}], "12"),
        ([{"role": "AI", "content": "12"}, STOCK], "12"),
        ([LOOK, {"role": "assistant", "content": None, "tool_calls": [{"name": "stock"}]}], ""),
        ([LOOK, {"role": "assistant", "content": ""}], ""),
        (message("assistant", {"type": "refusal", "refusal": "I won't."}), "I won't."),
        (message("assistant", "1", {"type": "output_text", "text": "2"}), "12"),
        (message("assistant", {"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "12"}), "12"),
        (message("assistant", TEXT, IMAGE), "What is this?"),
    ],
)
def test_e1_the_text_of_an_output_or_reference_is_its_last_assistant_message(output: Any, answer: str) -> None:
    record = Record(output=output, reference=output)
    assert record.output_text == record.output.as_text() == answer
    assert record.reference_texts == [answer]
    assert Record(output="x", reference=["12", {"messages": output}]).reference_texts == ["12", answer]


def test_e1_inputs_and_contexts_are_read_whole() -> None:
    record = Record(input=[LOOK, STOCK], output="x", context=[{"messages": [LOOK, STOCK]}])
    assert record.input.as_text() == record.context[0].as_text() == "Let me look.\nstock: 12"


def test_e1_all_messages_stay_within_reach() -> None:
    assert Record(output=[LOOK, STOCK, SORRY]).output.messages() == [LOOK, STOCK, SORRY]


def test_e1_json_is_read_from_the_answer() -> None:
    record = Record(output=[LOOK, {"role": "assistant", "content": '{"stock": 12}'}])
    assert record.output.as_json() == {"stock": 12}
    with pytest.raises(ContentError):
        Record(output=[{"role": "assistant", "content": "{}"}, SORRY]).output.as_json()


@pytest.mark.parametrize("output", [[STOCK], [{"role": "user", "content": "12"}, STOCK], [{"role": None}]])
def test_e1_a_conversation_without_an_assistant_message_is_skipped(output: Any) -> None:
    with pytest.raises(Skip, match="the output has no assistant message"):
        _ = Record(output=output).output_text
    with pytest.raises(Skip, match="the reference has no assistant message"):
        _ = Record(output="x", reference=output).reference_texts


@pytest.mark.parametrize("part", [IMAGE, BLOCK, {"type": "input_audio", "input_audio": {"data": "AA=="}}])
def test_e1_an_answer_of_an_image_alone_is_skipped(part: dict[str, Any]) -> None:
    with pytest.raises(Skip, match="the output holds a"):
        _ = Record(output=message("assistant", part)).output_text


def test_e1_calls_are_read_in_both_vendors_forms() -> None:
    use = {"type": "tool_use", "id": "1", "name": "stock", "input": {}}
    assert message_calls({"role": "assistant", "content": [TEXT, use]}) == [use]
    assert message_calls({"role": "assistant", "tool_calls": [{"id": "1"}], "function_call": {"name": "f"}}) == [
        {"id": "1"},
        {"name": "f"},
    ]


# -- E2: what no judge is shown ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "unseen"),
    [
        ("data", []),
        (message("user", TEXT), []),
        (message("user", TEXT, IMAGE), ["an image"]),
        (message("user", BLOCK, IMAGE, TEXT), ["an image"]),
        (message("user", {"type": "input_image", "file_id": "1"}), ["an image"]),
        (message("user", {"type": "image"}), ["an image"]),
        (message("user", {"type": "input_audio", "input_audio": {"data": "AA=="}}), ["audio"]),
        (message("user", {"type": "file", "file": {"file_data": "AA=="}}), ["a file"]),
        (message("user", {"type": "document", "source": {"type": "base64", "data": "AA=="}}), ["a file"]),
        (message("user", {"type": "document", "source": {"type": "text", "data": "Dogs ride free."}}), []),
        (message("user", {"type": "hologram"}), ["a part of type 'hologram'"]),
        (message("user", {"type": "tool_result", "content": [TEXT, BLOCK]}), ["an image"]),
        (message("user", {"type": "tool_result", "content": "12"}), []),
        (message("assistant", TEXT, {"type": "tool_use", "name": "f", "input": {}}), []),
        ([{"role": "user", "content": BLOCK}], ["an image"]),
        ([{"role": "user", "content": "See.", "images": ["AA=="]}], ["an image"]),
        ([{"role": "user", "parts": [{"text": "See."}, {"inline_data": {"data": "AA=="}}]}], ["an image or a file"]),
        # Without a message around them.
        ([TEXT, IMAGE], ["an image"]),
        (BLOCK, ["an image"]),
        ({"question": "What is this?", "parts": [IMAGE]}, ["an image"]),
        # Ordinary data.
        ({"type": "image", "url": "https://host.example/1.png"}, []),
        ([{"type": "file", "path": "a.txt"}], []),
        ([1, {"a": None}], []),
    ],
)
def test_e2_what_the_text_of_content_leaves_out(value: Any, unseen: list[str]) -> None:
    assert Content(content(value)).unseen() == unseen


@evaluator(name="planned", needs=("input", "output"), asks=("judge",))
class Planned:
    def plan(self, record: Record) -> list[Any]:
        return []

    def reduce(self, record: Record, replies: Any) -> Score:
        return Score(value=1.0)


@evaluator(name="waiting", needs=("input", "output"), asks=("judge",))
def waiting(record: Record, ctx: Context) -> Score:
    return Score(value=1.0)


@evaluator(name="awaiting", needs=("input", "output"), asks=("judge",))
async def awaiting(record: Record, ctx: Context) -> Score:
    return Score(value=1.0)


@evaluator(name="silent", needs=("input", "output"))
def silent(record: Record) -> float:
    return 1.0


@pytest.mark.parametrize("asking", [Planned, waiting, awaiting])
@pytest.mark.parametrize("image", [IMAGE, BLOCK])
def test_e2_an_evaluator_that_asks_a_judge_skips_a_record_whose_needed_fields_hold_an_image(
    asking: Any, image: dict[str, Any]
) -> None:
    seen = Record(id="1", input="What is this?", output="A ferry.")
    asked = Record(id="2", input=message("user", TEXT, image), output="A ferry.")
    answered = Record(id="3", input="Draw it.", output=message("assistant", TEXT, image))
    elsewhere = Record(id="4", input="What is this?", output="A ferry.", reference=message("assistant", image))
    bench = Bench(judge=[])
    assert bench.score(asking, seen).value == bench.score(asking, elsewhere).value == 1.0
    assert bench.score(asking, asked).reason == "the input holds an image, which judges are not shown"
    assert bench.score(asking, answered).reason == "the output holds an image, which judges are not shown"


def test_e2_an_evaluator_that_asks_nobody_reads_the_text() -> None:
    assert Bench().score(silent, Record(input=message("user", TEXT, IMAGE), output="A ferry.")).value == 1.0
