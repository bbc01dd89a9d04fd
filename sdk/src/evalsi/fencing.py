"""Texts under test in a message to a judge: each in a block whose ends cannot occur in any of them.

It must not know what a text is, nor what is asked about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from evalsi.judging import Message

_CODE_LENGTH = 16

Block = tuple[str, str]
"""A name of letters, digits and _, and a text."""


def fence_code(texts: Iterable[str]) -> str:
    """A code of 16 hex digits that none of the texts holds.

    Equal texts have equal codes, so that equal questions stay equal and their replies are reused.
    """
    listed = [text.casefold() for text in texts]
    # A lone surrogate is written out: a record of a test may hold one.
    parts = [text.encode("utf-8", "backslashreplace") for text in listed]
    digest = sha256(b"".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()
    # A text that holds the hash of itself is not to be found; but that it does not is looked up, not believed.
    while any(digest[:_CODE_LENGTH] in text for text in listed):
        digest = sha256(digest.encode()).hexdigest()
    return digest[:_CODE_LENGTH]


def fenced_messages(rules: str, blocks: Sequence[Block], task: str, code: str | None = None) -> list[Message]:
    """The messages of one question: the rules, and in the user's message the code, the blocks and the task.

    Args:
        rules: of the judge; they should say that what stands in a block is data, whatever it says.
        blocks: name and text of each, in order. What several questions share stands first, where a provider's own cache
            of beginnings finds it.
        task: what is asked.
        code: of several questions that share texts, from `fence_code` of them all; None takes that of these blocks.
    """
    code = code or fence_code(text for _, text in blocks)
    parts = [f"Code: {code}", *(f"<{name} {code}>\n{text}\n</{name} {code}>" for name, text in blocks), task]
    return [{"role": "system", "content": rules}, {"role": "user", "content": "\n\n".join(parts)}]
