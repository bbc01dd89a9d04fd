"""The texts of a record that the evaluators of this pack read: whether one says something, and the numbered chunks."""

from __future__ import annotations

from typing import NamedTuple

from evalsi import Content, Record, Skip
from evalsi.content import message_calls

EMPTY_CONTEXT = "the context is empty: nothing was retrieved"


class Chunk(NamedTuple):
    """One text of the context; `number` is its place there, from 1, by which an answer cites it."""

    number: int
    text: str


def is_blank(text: str) -> bool:
    """Whether nothing of a text would be seen on paper: it is empty, or white space and invisible characters."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def answer_of(record: Record) -> str:
    """Return the output's text, which may be blank: of a conversation that of the last assistant message.

    Raises:
        Skip: there is no assistant message, the output holds an image or the like, or the answer only calls a tool.
    """
    record.require_shown("output")
    answer = record.output.as_text()
    if is_blank(answer) and _calls_a_tool(record.output):
        raise Skip("the answer holds no text, but a call of a tool, which judges are not shown")
    return answer


def _calls_a_tool(output: Content) -> bool:
    wire = output.wire
    if not isinstance(wire, dict) or "messages" not in wire:
        return False
    return bool(message_calls(output.messages()[output.answer_place()]))


def chunks_of(record: Record) -> list[Chunk]:
    """Return the chunks that are not blank, at least one.

    Raises:
        Skip: the context is an empty list, or holds an image or the like.
        ValueError: there are chunks, and all of them are blank.
    """
    record.require_shown("context")
    context = record.context
    if not context:
        raise Skip(EMPTY_CONTEXT)
    chunks = [Chunk(number, text) for number, text in enumerate((one.as_text() for one in context), 1)]
    said = [chunk for chunk in chunks if not is_blank(chunk.text)]
    if not said:
        raise ValueError("no chunk of the context holds text; correct the context of this record")
    return said


def question_of(record: Record) -> str:
    """Return the input's text.

    Raises:
        Skip: the input holds an image or the like.
        ValueError: it is blank.
    """
    record.require_shown("input")
    question = record.input.as_text()
    if is_blank(question):
        raise ValueError("the input holds no text; correct the input of this record")
    return question


def question_blocks(record: Record) -> list[tuple[str, str]]:
    """Return the question as a block beside what is judged, where the record has one.

    Raises:
        Skip: the input holds an image or the like.
    """
    record.require_shown("input")
    question = record.input.as_text() if record.has("input") else ""
    return [] if is_blank(question) else [("question", question)]
