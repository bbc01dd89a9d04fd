"""The fields of a record as blocks for the judge: a text is one, a conversation one a message, a list one an item.

A role is a part of a block's name and never of its text, so that no text can play another's role.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from evalsi import Content, Record, Skip
from evalsi.content import message_calls, message_text
from evalsi.fencing import Block

FIELDS = ("input", "reference", "context")
"""What an answer is judged by, in the order in which it is shown."""
_NO_NAME = re.compile(r"[^a-z0-9]+")


def is_blank(text: str) -> bool:
    """Whether nothing of a text would be seen on paper: it is empty, or white space and invisible characters."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def content_blocks(name: str, content: Content) -> list[Block]:
    """Return one block, or of several chat messages one each: `input_1_user`, `input_2_assistant`."""
    messages = _messages(content)
    if len(messages) < 2 and not any(message_calls(message) for message in messages):
        return [(name, content.as_text())]
    return _message_blocks(name, messages) or [(name, "")]


def answer_blocks(name: str, answer: Content) -> list[Block]:
    """Return the answer as a block `name`, and every other message of its conversation as `name_history_…`.

    The answer is the last assistant message: its text and the tools that it calls.

    Raises:
        evalsi.Skip: it is a conversation without an assistant message.
    """
    messages = _messages(answer)
    if not messages:
        return [(name, answer.as_text())]
    place = answer.answer_place()
    blocks = _message_blocks(f"{name}_history", messages[:place])
    blocks.append((name, _message_text(messages[place])))
    return blocks + _message_blocks(f"{name}_history", messages[place + 1 :], first=place + 2)


def says_nothing(answer: Content) -> bool:
    """Return whether an answer has no text, and calls no tool."""
    return is_blank(dict(answer_blocks("answer", answer))["answer"])


def _messages(content: Content) -> list[dict[str, Any]]:
    wire = content.wire
    return content.messages() if isinstance(wire, dict) and "messages" in wire else []


def _message_blocks(name: str, messages: Sequence[dict[str, Any]], first: int = 1) -> list[Block]:
    return [
        (f"{name}_{number}_{_NO_NAME.sub('_', str(message.get('role')).casefold()).strip('_') or 'other'}", text)
        for number, message in enumerate(messages, first)
        if not is_blank(text := _message_text(message))
    ]


def material(record: Record, shows: Collection[str], needs: Collection[str]) -> list[Block]:
    """What an answer is judged by.

    Args:
        record: that is judged.
        shows: the fields of it, of `FIELDS`; one that the record lacks, or that is blank, is left out.
        needs: those of them that must be there.

    Raises:
        evalsi.Skip: the record lacks a needed field, the context is needed and an empty list, or a field that is
            shown holds an image or the like.
        ValueError: a needed field holds no text.
    """
    blocks: list[Block] = []
    for field in FIELDS:
        if field in needs or (field in shows and record.has(field)):
            record.require_shown(field)
            contents = _contents(record, field)
            found = [block for name, content in contents for block in content_blocks(name, content)]
            said = [block for block in found if not is_blank(block[1])]
            if field in needs and not contents:
                raise Skip(f"the {field} is empty: nothing was retrieved")
            if field in needs and not said:
                raise ValueError(f"the {field} holds no text; correct the {field} of this record")
            blocks += said
    return blocks


def _contents(record: Record, field: str) -> Sequence[tuple[str, Content]]:
    if field == "input":
        return [("input", record.input)]
    listed = record.references if field == "reference" else record.context
    return [(field if len(listed) == 1 else f"{field}_{number}", one) for number, one in enumerate(listed, 1)]


def _message_text(message: dict[str, Any]) -> str:
    """Return what a message says, and which tools it calls."""
    calls = message_calls(message)
    said = [message_text(message), json.dumps(calls, ensure_ascii=False) if calls else ""]
    return "\n".join(part for part in said if part)
