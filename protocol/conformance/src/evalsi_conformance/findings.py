"""What the kit found: one finding a check and fault, and the report that they make.

It must not know how a check is done.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

Level = Literal["loads", "behaves", "trustworthy", "stable"]
Status = Literal["passed", "failed", "waived", "unchecked"]

LEVELS: Final[tuple[Level, ...]] = ("loads", "behaves", "trustworthy", "stable")
"""From the least to the most; each asks for those before it."""
_SHOWN: Final = {"passed": "ok", "failed": "FAILED", "waived": "waived", "unchecked": "unchecked"}


class Fault(NamedTuple):
    """One thing that a check found wrong.

    Args:
        message: what was wrong with which value.
        hint: what to do, one imperative sentence.
        evaluator: whose it is; "" where it is the pack's.
    """

    message: str
    hint: str = ""
    evaluator: str = ""


class NotChecked(Exception):
    """A check cannot be done here; the sentence says why, and no result is pretended."""


class Finding(NamedTuple):
    """What one check says.

    Args:
        level: that it belongs to.
        check: its name, as a waiver gives it.
        status: passed; failed; waived, with the author's reason; or unchecked, with the host's.
        message: what was found.
        hint: what to do.
        evaluator: whose it is; "" where it is the pack's.
        reason: of the waiver.
    """

    level: Level
    check: str
    status: Status
    message: str = ""
    hint: str = ""
    evaluator: str = ""
    reason: str = ""


class Report(NamedTuple):
    """All of it.

    Args:
        pack: its name, as far as it can be read.
        version: likewise.
        findings: in the order of the checks.
        asked: the levels that were asked for.
        notes: what a reader should know besides, such as a waiver that nothing needs.
    """

    pack: str
    version: str
    findings: tuple[Finding, ...]
    asked: tuple[Level, ...]
    notes: tuple[str, ...] = ()

    @property
    def failed(self) -> tuple[Finding, ...]:
        """What must be repaired or waived."""
        return tuple(one for one in self.findings if one.status == "failed")

    @property
    def reached(self) -> tuple[Level, ...]:
        """The levels that the pack keeps, each with all before it."""
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
        """Whether nothing failed."""
        return not self.failed

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
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
    """The report for a program."""
    return json.dumps(report.to_dict(), ensure_ascii=False, indent=2)


def as_text(report: Report) -> str:
    """The report for a person."""
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
