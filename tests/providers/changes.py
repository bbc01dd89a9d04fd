"""How a good answer is made a wrong one, before it takes a vendor's form."""

from __future__ import annotations

from tests.providers.answers import Answer
from tests.providers.faults import Change

DECLINED = "I will not help with this."


def changed(answer: Answer, change: Change) -> Answer:
    """The answer with one thing wrong; what is wrong with the reply as a whole is left to the API."""
    match change:
        case "empty_content":
            return answer._replace(text="", finish="stop")
        case "refusal":
            return answer._replace(text=DECLINED, finish="refusal")
        case "length":
            return answer._replace(text=answer.text[: len(answer.text) // 2], finish="length")
        case "content_filter":
            return answer._replace(text="", finish="content_filter")
        case "no_choices" | "no_usage":
            return answer
