"""The texts of a record that the evaluators of this pack read: whether one says something, and the numbered chunks.

It must not know a judge.
"""

from __future__ import annotations

from typing import NamedTuple

from evalsi import Content, Record, Skip


class Chunk(NamedTuple):
    """One text of the context; `number` is its place there, from 1, by which an answer cites it."""

    number: int
    text: str


def is_blank(text: str) -> bool:
    """Whether nothing of a text would be seen on paper: it is empty, or white space and invisible characters."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def answer_of(record: Record) -> str:
    """The output's text, which may be blank.

    Raises:
        Skip: it holds no text, but something else: a call of a tool, or an image. This is not to say nothing.
    """
    answer = record.output.as_text()
    if is_blank(answer) and _holds_more(record.output):
        raise Skip("the output holds no text, but a call of a tool, an image or the like, which no judge is shown")
    return answer


def _holds_more(content: Content) -> bool:
    wire = content.wire
    messages = wire["messages"] if isinstance(wire, dict) and "messages" in wire else []
    listed = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    kinds = {part.get("type") for parts in listed for part in parts if isinstance(part, dict)}
    calls = any(message.get("tool_calls") or message.get("function_call") for message in messages)
    return calls or not kinds <= {"text", "output_text", "refusal"}


def chunks_of(record: Record) -> list[Chunk]:
    """The chunks that are not blank; none for an empty list, which says that nothing was retrieved.

    Raises:
        ValueError: there are chunks, and all of them are blank.
    """
    context = record.context
    chunks = [Chunk(number, text) for number, text in enumerate((one.as_text() for one in context), 1)]
    said = [chunk for chunk in chunks if not is_blank(chunk.text)]
    if chunks and not said:
        raise ValueError("no chunk of the context holds text; mend the context of this record")
    return said


def question_of(record: Record) -> str:
    """The input's text; raises `ValueError` when it is blank."""
    question = record.input.as_text()
    if is_blank(question):
        raise ValueError("the input holds no text; mend the input of this record")
    return question


def question_blocks(record: Record) -> list[tuple[str, str]]:
    """The question as a block beside what is judged, where the record has one."""
    question = record.input.as_text() if record.has("input") else ""
    return [] if is_blank(question) else [("question", question)]
