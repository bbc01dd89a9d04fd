"""Forms of the judge's answers, and how answers become part of a score's metadata.

A form names every part that is asked for, so that an answer with one too few or too many is refused by the kernel,
after one try to correct it, and never counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalsi import AskError, JudgeReply
from evalsi_pack_rag.prompts import Prompt, prompt_sha256

REASON = {"type": "string", "description": "why, in one sentence"}


def form(**parts: Any) -> dict[str, Any]:
    """The schema of an object with exactly these parts, in this order."""
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def answered(replies: Sequence[JudgeReply | AskError]) -> list[JudgeReply]:
    """The replies; raises the `AskError` of a question that got none."""
    given = []
    for reply in replies:
        if isinstance(reply, AskError):
            raise reply
        given.append(reply)
    return given


def parts_of(reply: JudgeReply, names: Sequence[str]) -> list[Mapping[str, Any]]:
    """The parts of an answer in the order of their names; raises `ValueError` when they are not those asked for."""
    if reply.value.keys() != set(names):
        found = ", ".join(reply.value) or "nothing"
        raise ValueError(f"the judge was asked for {', '.join(names)} and answered {found}; nothing of it is counted")
    return [reply.value[name] for name in names]


def origin(replies: Sequence[JudgeReply], *prompts: Prompt) -> dict[str, Any]:
    """For a score's metadata: the prompts and the replies that it rests on."""
    return {"prompt_sha256": prompt_sha256(*prompts), "replies": [reply.ref for reply in replies if reply.ref]}
