"""`choices[0].message.content`: a place in the JSON that a target answers with, and what is said where it is not there.

It must not know who answered.
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.records.mapping import MISSING, reach

_STEP = re.compile(r"\.?([^.\[\]]+)|\[(-?\d+)\]|\[\"([^\"]+)\"\]")
_MOST_KEYS = 10


def steps_of(path: str) -> tuple[str, ...]:
    """The steps of a path; a leading `$`, as JSONPath has it, is the whole reply.

    Raises:
        ValueError: it is no path.
    """
    rest = path.removeprefix("$")
    steps, at = [], 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise ValueError(path)
        steps.append(found[1] or found[2] or found[3])
        at = found.end()
    return tuple(steps)


def _readable(path: str) -> str:
    try:
        steps_of(path)
    except ValueError:
        raise Misfit(f'is "{path}", which is no path', "Write it as in choices[0].message.content.") from None
    return path


ReplyPath = Annotated[str, Field(min_length=1, max_length=1000), AfterValidator(_readable)]


def found_at(reply: Any, path: str, key: str, whose: str) -> Any:
    """The value at a path.

    Args:
        reply: the JSON that was answered.
        path: into it.
        key: the spec's key that holds the path.
        whose: who answered, to begin a sentence with.

    Raises:
        ProviderError: `target.output`; the reply has no such place, and what there is instead is told.
    """
    value = reach(reply, steps_of(path))
    if value is MISSING:
        raise ProviderError(
            "target.output",
            f"{whose} answered without {path}: {_what_there_is(reply, steps_of(path))}.",
            f"Correct spec.target.{key}, or the target.",
        )
    return value


def found_or_missing(reply: Any, path: str | None) -> Any:
    """The value at a path; `MISSING` where there is none, or no path."""
    return MISSING if path is None else reach(reply, steps_of(path))


def _what_there_is(reply: Any, steps: tuple[str, ...]) -> str:
    """How far the path leads, and what stands there."""
    passed: list[str] = []
    value = reply
    for step in steps:
        inner = reach(value, (step,))
        if inner is MISSING:
            break
        passed.append(step)
        value = inner
    where = ".".join(passed) or "the reply"
    if isinstance(value, dict):
        names = [str(name)[:60] for name in value]
        more = f" and {len(names) - _MOST_KEYS} more" if len(names) > _MOST_KEYS else ""
        return f"{where} has {', '.join(names[:_MOST_KEYS])}{more}" if names else f"{where} is empty"
    if isinstance(value, list):
        return f"{where} is a list of {len(value)}"
    return f"{where} is {_kind(value)}"


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    return "a text" if isinstance(value, str) else "a number"
