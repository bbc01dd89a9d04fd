"""What is wrong at one place of a document, and how several such problems are told in one error.

It must not know which document.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from evalsi_kernel.errors import EvalsiError


class Problem(NamedTuple):
    """What is wrong at one place.

    Args:
        at: the place within the document, such as "evaluators[0].outputs[1].kind"; "" is the whole.
        what: what is wrong there, as the rest of a sentence that begins with the place, without a full stop.
        hint: one imperative sentence, or "".
    """

    at: str
    what: str
    hint: str = ""

    def to_dict(self) -> dict[str, str]:
        """For the details of an error."""
        return {"at": self.at, "what": self.what, "hint": self.hint}


def told(document: str, problems: Sequence[Problem]) -> tuple[str, str]:
    """Message and hint of the one error that tells all the problems of a document."""
    if len(problems) == 1:
        only = problems[0]
        return f"{document}: {_sentence(only)}", only.hint
    lines = [f"  {_sentence(problem)} {problem.hint}".rstrip() for problem in problems]
    return "\n".join([f"{document}: {len(problems)} problems:", *lines]), ""


ErrorType = TypeVar("ErrorType", bound=EvalsiError)


def refusal(kind: type[ErrorType], code: str, document: str, problems: Sequence[Problem], **details: Any) -> ErrorType:
    """The one error that tells all the problems of a document, which are in its `details["problems"]` too."""
    message, hint = told(document, problems)
    return kind(message, hint, code=code, problems=[problem.to_dict() for problem in problems], **details)


def inside(place: str, key: str | int) -> str:
    """The place of a key or of an index within a place."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else key


def _sentence(problem: Problem) -> str:
    return f"{problem.at} {problem.what}".strip() + "."
