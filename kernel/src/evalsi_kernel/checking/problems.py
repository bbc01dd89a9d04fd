"""A problem at a place of a document, and one error for several of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

from evalsi_kernel.errors import EvalsiError


class Problem(NamedTuple):
    """A problem at one place of a document.

    Args:
        at: the place, such as "evaluators[0].outputs[1].kind"; "" means the whole document.
        what: the problem as the rest of a sentence that begins with the place, without a full stop.
        hint: one imperative sentence, or "".
    """

    at: str
    what: str
    hint: str = ""

    def to_dict(self) -> dict[str, str]:
        """Return the problem for the details of an error."""
        return {"at": self.at, "what": self.what, "hint": self.hint}


def describe_problems(document: str, problems: Sequence[Problem]) -> tuple[str, str]:
    """Return the message and hint of an error about all problems of a document."""
    if len(problems) == 1:
        only = problems[0]
        return f"{document}: {_sentence(only)}", only.hint
    lines = [f"  {_sentence(problem)} {problem.hint}".rstrip() for problem in problems]
    return "\n".join([f"{document}: {len(problems)} problems:", *lines]), ""


ErrorType = TypeVar("ErrorType", bound=EvalsiError)


def problems_error(
    kind: type[ErrorType], code: str, document: str, problems: Sequence[Problem], **details: Any
) -> ErrorType:
    """Return an error about all problems of a document; `details["problems"]` lists them."""
    message, hint = describe_problems(document, problems)
    return kind(message, hint, code=code, problems=[problem.to_dict() for problem in problems], **details)


def inside(place: str, key: str | int) -> str:
    """Return the place of a key or an index within another place."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else key


def _sentence(problem: Problem) -> str:
    return f"{problem.at} {problem.what}".strip() + "."
