"""What `evalsi doctor` finds: a check and how it went, as lines for a person and as JSON for a script.

It must not know what is checked.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from evalsi_cli.terminal import broken_at, columns, paint
from evalsi_kernel.errors import EvalsiError

Status = Literal["ok", "error", "declared", "enforced"]
# A person is told of a problem; scripts know it as an error.
_WORDS: Final = {"error": "problem"}


class Check(NamedTuple):
    """One check.

    Args:
        status: how it went; what packs are told is "enforced" only where something on this host holds them to it.
        name: of what was looked at.
        detail: what was found.
        remedy: what to do about it; "" where nothing need be done, or the detail says it.
    """

    status: Status
    name: str
    detail: str
    remedy: str = ""


def check(name: str, look: Callable[[], str]) -> Check:
    """What looking at something brings; an error of it is a problem that is found, with its hint as the remedy."""
    try:
        return Check("ok", name, look())
    except EvalsiError as error:
        return Check("error", name, error.message, error.hint)
    except OSError as error:
        return Check("error", name, str(error))


def are_well(checks: Sequence[Check]) -> bool:
    """Whether none of them is a problem."""
    return all(one.status != "error" for one in checks)


def as_dict(checks: Sequence[Check], required: str) -> dict[str, Any]:
    """For a script: what was required, whether it is there, and each check."""
    return {"required": required, "ready": are_well(checks), "checks": [one._asdict() for one in checks]}


def print_lines(checks: Sequence[Check]) -> None:
    """For a person: a line a check."""
    width = columns(sys.stdout)
    for one in checks:
        word = _WORDS.get(one.status, one.status)
        line = broken_at(f"{word:<8} {one.name}: {one.detail} {one.remedy}".rstrip(), width, 9)
        print(paint(line[:8], "red" if one.status == "error" else "dim", sys.stdout) + line[8:])
