"""Findings of the checks, and the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

Level = Literal["loads", "behaves", "trustworthy", "stable"]
Status = Literal["passed", "failed", "waived", "unchecked"]

LEVELS: Final[tuple[Level, ...]] = ("loads", "behaves", "trustworthy", "stable")
"""The levels, from lowest to highest. Each requires those before it."""
_SHOWN: Final = {"passed": "ok", "failed": "FAILED", "waived": "waived", "unchecked": "unchecked"}


class Fault(NamedTuple):
    """One fault found by a check.

    Args:
        message: what is wrong with which value.
        hint: what to do, as one imperative sentence.
        evaluator: the faulty evaluator; "" for the whole pack.
    """

    message: str
    hint: str = ""
    evaluator: str = ""


class NotChecked(Exception):
    """A check cannot be run here. The message gives the reason."""


class Finding(NamedTuple):
    """The result of one check.

    Args:
        level: level of the check.
        check: name of the check, as used by waivers.
        status: passed; failed; waived by the author; or unchecked, if the host does not support the check.
        message: what was found.
        hint: what to do.
        evaluator: the faulty evaluator; "" for the whole pack.
        reason: reason of the waiver.
    """

    level: Level
    check: str
    status: Status
    message: str = ""
    hint: str = ""
    evaluator: str = ""
    reason: str = ""


class Report(NamedTuple):
    """The results of all checks.

    Args:
        pack: name of the pack; "" if it cannot be read.
        version: version of the pack; "" if it cannot be read.
        findings: findings in the order of the checks.
        asked: the requested levels.
        notes: additional notes, such as about an unused waiver.
    """

    pack: str
    version: str
    findings: tuple[Finding, ...]
    asked: tuple[Level, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Finding, ...]:
        """The checks that must be fixed or waived."""
        return tuple(one for one in self.findings if one.status == "failed")

    @property
    def reached(self) -> tuple[Level, ...]:
        """The levels that the pack reaches."""
        broken = {one.level for one in self.failed}
        done = {one.level for one in self.findings}
        kept: list[Level] = []
        for level in self.asked:
            if level in broken or level not in done:
                break
            kept.append(level)
        return tuple(kept)

    @property
    def conforms(self) -> bool:
        """Whether no check failed."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict for JSON."""
        return {
            "report": 1,
            "pack": self.pack,
            "version": self.version,
            "conforms": self.conforms,
            "asked": list(self.asked),
            "reached": list(self.reached),
            "findings": [one._asdict() for one in self.findings],
            "notes": list(self.notes),
        }


def as_json(report: Report) -> str:
    """Return the report as JSON."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2)


def as_text(report: Report) -> str:
    """Return the report as text."""
    lines = [f"{report.pack} {report.version}".strip()]
    for level in report.asked:
        found = [one for one in report.findings if one.level == level]
        lines += ["", level, *_lines(found or [Finding(level, "", "unchecked", "the levels before it failed")])]
    lines += ["", *(f"note: {note}" for note in report.notes), _verdict(report)]
    return "\n".join(lines)


def _lines(findings: Sequence[Finding]) -> list[str]:
    lines = []
    for one in findings:
        what = f"{one.evaluator}: {one.message}" if one.evaluator else one.message
        tail = f" (waived: {one.reason})" if one.status == "waived" else f" {one.hint}" if one.hint else ""
        lines.append(f"  {_SHOWN[one.status]:<9}  {one.check:<14}  {what}{tail}".rstrip())
    return lines


def _verdict(report: Report) -> str:
    reached = ", ".join(report.reached) or "no level"
    if report.conforms:
        return f"{report.pack} conforms: {reached}."
    faults = len(report.failed)
    return f"{report.pack} does not conform: {faults} fault{'s' * (faults != 1)}; it reaches {reached}."
