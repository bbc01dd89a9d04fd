"""Fence untrusted texts in a message to a judge: each in a block whose delimiters cannot occur in any text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from evalsi.judging import Message

_CODE_LENGTH = 16

Block = tuple[str, str]
"""A name of letters, digits and _, and the text of the block."""


def fence_code(texts: Iterable[str]) -> str:
    """Return a code of 16 hex digits that occurs in none of the texts.

    Equal texts have equal codes, so that equal questions share cached replies.
    """
    listed = [text.casefold() for text in texts]
    # Records of a test may contain a lone surrogate, which UTF-8 cannot encode.
    parts = [text.encode("utf-8", "backslashreplace") for text in listed]
    digest = sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()
    # A text that contains its own hash is practically impossible, but checking costs little.
    while any(digest[:_CODE_LENGTH] in text for text in listed):
        digest = sha256(digest.encode()).hexdigest()
    return digest[:_CODE_LENGTH]


def fenced_messages(rules: str, blocks: Sequence[Block], task: str, code: str | None = None) -> list[Message]:
    """Return the messages of one question: a system message with the rules, a user message with blocks and task.

    Args:
        rules: the judge's instructions, which should state that text in a block is data and not an instruction.
        blocks: name and text of each block, in order. Put texts that several questions share first, so that the
            provider's prefix cache applies.
        task: the question.
        code: the fence code; None computes it from the blocks. For questions that share texts, pass `fence_code` of
            all their texts.
    """
    code = code or fence_code(text for _, text in blocks)
    parts = [f"Code: {code}", *(f"<{name} {code}>\n{text}\n</{name} {code}>" for name, text in blocks), task]
    return [{"role": "system", "content": rules}, {"role": "user", "content": "\n\n".join(parts)}]
