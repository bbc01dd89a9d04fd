"""Read `conformance.toml` next to a pack's plugin.toml: params for evaluators, answers of the judge, waivers.

All problems are reported at once. A waiver needs a reason.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from evalsi_conformance.scripted_judge import Answer

FILE: Final = "conformance.toml"
UNWAIVABLE: Final = ("manifest", "hello", "describe")
"""Checks that cannot be waived, because all others depend on them."""


class Waiver(NamedTuple):
    """A check that is known to fail.

    Args:
        check: name of the check.
        reason: why the failure is acceptable.
        evaluator: evaluator whose faults are waived; "" for all.
    """

    check: str
    reason: str
    evaluator: str = ""


class AuthorFile(NamedTuple):
    """The settings of a pack's author.

    Args:
        params: evaluator → its params.
        answers: answers of the judge to questions that contain a text.
        waivers: known failures.
        variants: evaluator → other sets of params, for concurrent sessions.
    """

    params: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    answers: tuple[Answer, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    variants: Mapping[str, tuple[Mapping[str, Any], ...]] = MappingProxyType({})


def read_author_file(folder: Path, checks: tuple[str, ...]) -> tuple[AuthorFile, list[str]]:
    """Read the file if it exists.

    Args:
        folder: folder of the pack.
        checks: names of all checks.

    Returns:
        The settings, and every problem as a sentence.
    """
    path = folder / FILE
    if not path.is_file():
        return AuthorFile(), []
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return AuthorFile(), [f"{FILE} cannot be read: {error}."]
    problems = list(_problems(tables, checks))
    if problems:
        return AuthorFile(), problems
    return (
        AuthorFile(
            tables.get("params", {}),
            tuple(Answer(one["contains"], one["value"]) for one in tables.get("answers", [])),
            tuple(
                Waiver(one["check"], one["reason"].strip(), one.get("evaluator", ""))
                for one in tables.get("waivers", [])
            ),
            {name: tuple(sets) for name, sets in tables.get("variants", {}).items()},
        ),
        [],
    )


def _problems(tables: Mapping[str, Any], checks: tuple[str, ...]) -> Iterator[str]:
    for key in sorted(tables.keys() - {"params", "variants", "answers", "waivers"}):
        yield f"{FILE}: {key} is not known. Write params, variants, answers or waivers."
    params = tables.get("params", {})
    if not isinstance(params, dict) or not all(isinstance(one, dict) for one in params.values()):
        yield f"{FILE}: params is no table of tables. Write [params.EVALUATOR]."
    variants = tables.get("variants", {})
    if not isinstance(variants, dict) or not all(
        isinstance(sets, list) and all(isinstance(one, dict) for one in sets) for sets in variants.values()
    ):
        yield f"{FILE}: variants is no table of lists of tables. Write [[variants.EVALUATOR]]."
    for place, one in enumerate(_tables(tables, "answers")):
        if not isinstance(one.get("contains"), str) or "value" not in one:
            yield f"{FILE}: answers[{place}] has no contains, or no value. Write both."
    for place, one in enumerate(_tables(tables, "waivers")):
        check, reason = one.get("check"), one.get("reason")
        if check not in checks:
            yield f"{FILE}: waivers[{place}].check is {check!r}. There are: {', '.join(checks)}."
        elif check in UNWAIVABLE:
            yield f"{FILE}: waivers[{place}] waives {check}, without which nothing can be checked. Correct the pack."
        if not isinstance(reason, str) or not reason.strip():
            yield f"{FILE}: waivers[{place}] has no reason. Write why the pack is right to fail {check}."
        if not isinstance(one.get("evaluator", ""), str):
            yield f"{FILE}: waivers[{place}].evaluator is no text. Write an evaluator's name."


def _tables(tables: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = tables.get(key, [])
    return [one if isinstance(one, dict) else {} for one in found] if isinstance(found, list) else [{}]
