"""The fields of a record as blocks for the judge: a text is one, a conversation one a message, a list one an item.

A role is a part of a block's name and never of its text, so that no text can play another's role. It must not know a
rubric or a judge.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence

from evalsi import Content, Record, Skip
from evalsi.fencing import Block

FIELDS = ("input", "reference", "context")
"""What an answer is judged by, in the order in which it is shown."""
# The parts of a message that are words, if there are any.
_WORDS = ("text", "output_text", "refusal")
_NO_NAME = re.compile(r"[^a-z0-9]+")


def is_blank(text: str) -> bool:
    """Whether nothing of a text would be seen on paper: it is empty, or white space and invisible characters."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def content_blocks(name: str, content: Content) -> list[Block]:
    """One block, or of several chat messages one each: `input_1_user`, `input_2_assistant`."""
    wire = content.wire
    messages = wire["messages"] if isinstance(wire, dict) and "messages" in wire else []
    if len(messages) < 2 and not any("tool_calls" in message for message in messages):
        return [(name, content.as_text())]
    said = [
        (f"{name}_{number}_{_NO_NAME.sub('_', str(message.get('role')).casefold()).strip('_') or 'other'}", text)
        for number, message in enumerate(messages, 1)
        if not is_blank(text := _message_text(message))
    ]
    return said or [(name, "")]


def says_nothing(content: Content) -> bool:
    """Whether there is no text in it, and no call of a tool."""
    return all(is_blank(text) for _, text in content_blocks("", content))


def require_words(content: Content) -> None:
    """Make sure that a judge is shown what there is to judge.

    Raises:
        evalsi.Skip: there is no text, but something else, such as an image; this is not to say nothing.
    """
    wire = content.wire
    messages = wire["messages"] if isinstance(wire, dict) and "messages" in wire else []
    listed = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    kinds = {part.get("type") for parts in listed for part in parts if isinstance(part, dict)}
    if not kinds <= {*_WORDS} and says_nothing(content):
        raise Skip("the output holds no text, but parts that no judge is shown, such as an image")


def material(record: Record, shows: Collection[str], needs: Collection[str]) -> list[Block]:
    """What an answer is judged by.

    Args:
        record: that is judged.
        shows: the fields of it, of `FIELDS`; one that the record lacks, or that is blank, is left out.
        needs: those of them that must be there.

    Raises:
        evalsi.Skip: the record lacks a needed field.
        ValueError: a needed field holds no text. An empty context is no fault: it says that nothing was retrieved.
    """
    blocks: list[Block] = []
    for field in FIELDS:
        if field in needs or (field in shows and record.has(field)):
            contents = _contents(record, field)
            found = [block for name, content in contents for block in content_blocks(name, content)]
            said = [block for block in found if not is_blank(block[1])]
            if field in needs and contents and not said:
                raise ValueError(f"the {field} holds no text; mend the {field} of this record")
            blocks += said
    return blocks


def _contents(record: Record, field: str) -> Sequence[tuple[str, Content]]:
    if field == "input":
        return [("input", record.input)]
    listed = record.references if field == "reference" else record.context
    return [(field if len(listed) == 1 else f"{field}_{number}", one) for number, one in enumerate(listed, 1)]


def _message_text(message: dict[str, object]) -> str:
    """What a message says, and which tools it calls."""
    text = Content({"messages": [message]}).as_text()
    calls = message.get("tool_calls")
    return "\n".join(part for part in (text, json.dumps(calls, ensure_ascii=False) if calls else "") if part)
