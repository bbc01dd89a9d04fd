"""The checks of `evalsi doctor` and their results, as text and as JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

from evalsi_cli.terminal import broken_at, columns, paint
from evalsi_kernel.errors import EvalsiError

Status = Literal["ok", "error", "declared", "enforced"]
# The JSON status "error" is shown as "problem" in text.
_WORDS: Final = {"error": "problem"}


class Check(NamedTuple):
    """One check.

    Args:
        status: result of the check. A limit of packs is "enforced" only if this host enforces it, else "declared".
        name: name of the check.
        detail: what was found.
        remedy: what to do about it; "" if nothing, or if the detail says it.
    """

    status: Status
    name: str
    detail: str
    remedy: str = ""


def check(name: str, look: Callable[[], str]) -> Check:
    """Run a check. An exception becomes a check with the status "error", with its hint as the remedy."""
    try:
        return Check("ok", name, look())
    except EvalsiError as error:
        return Check("error", name, error.message, error.hint)
    except OSError as error:
        return Check("error", name, str(error))


def are_well(checks: Sequence[Check]) -> bool:
    """Return whether no check failed."""
    return all(one.status != "error" for one in checks)


def as_dict(checks: Sequence[Check], required: str) -> dict[str, Any]:
    """Return the checks for JSON: what was required, whether it is available, and each check."""
    return {"required": required, "ready": are_well(checks), "checks": [one._asdict() for one in checks]}


def print_lines(checks: Sequence[Check]) -> None:
    """Print one line for each check."""
    width = columns(sys.stdout)
    for one in checks:
        word = _WORDS.get(one.status, one.status)
        line = broken_at(f"{word:<8} {one.name}: {one.detail} {one.remedy}".rstrip(), width, 9)
        print(paint(line[:8], "red" if one.status == "error" else "dim", sys.stdout) + line[8:])
