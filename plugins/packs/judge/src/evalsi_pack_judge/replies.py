"""Forms of the judge's answers, and what a score says of where it comes from.

A form names every part that is asked for, the reason first: it is written before the verdict, and not to suit it. An
answer that does not fit is refused by the kernel and never counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalsi import JudgeReply
from evalsi_pack_judge.prompt import Prompt

_REASON = {"type": "string", "description": "what decided, in one or two sentences"}


def form(**verdict: Any) -> dict[str, Any]:
    """The schema of a reason and a verdict, and of nothing else."""
    parts = {"reason": _REASON, **verdict}
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


def origin(prompt: Prompt, replies: Sequence[JudgeReply]) -> dict[str, Any]:
    """For a score's metadata: the prompt and the replies that it rests on."""
    return {"prompt_sha256": prompt.sha256, "replies": [reply.ref for reply in replies if reply.ref]}
