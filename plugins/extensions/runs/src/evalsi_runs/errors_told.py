"""Owns what the notes of a run say of errors: the target's once, and beside them those that evaluators made themselves.

For the kernel an item without an answer is an error of each evaluator, and each has its finding. It must not know where
notes are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from evalsi_kernel.results.evaluated import Evaluation
from evalsi_kernel.results.findings import Finding, mostly
from evalsi_kernel.results.results_file import ResultsSpool
from evalsi_kernel.runs.request import RunEnd

MAX_REASONS = 50
_FAILED, _NO_SCORE = " failed on ", " scored no record: "


class _Own:
    """How the records that the target answered ended for one evaluator; of the reasons the first 50."""

    def __init__(self) -> None:
        self.scored = self.skipped = self.failed = 0
        self.skips: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()


class _Errors(NamedTuple):
    """On how many records the target failed, and why; and by evaluator what became of the others."""

    lost: int
    target: Counter[str]
    own: dict[str, _Own]


def with_errors_told(end: RunEnd) -> RunEnd:
    """The same end of a run, with findings that tell an error of the target once.

    Raises:
        OutputError: what was spooled cannot be read.
    """
    evaluation = end.evaluation
    if evaluation.spool is None or not any(summary.errors for summary in evaluation.summaries):
        return end
    errors = _read(evaluation.spool)
    if not errors.lost:
        return end
    return end._replace(evaluation=evaluation._replace(findings=tuple(_findings(evaluation, errors))))


def _findings(evaluation: Evaluation, errors: _Errors) -> Iterator[Finding]:
    """What there is to say, the problems first."""
    lost, records = errors.lost, evaluation.records
    all_lost = lost >= records
    of = "every record" if all_lost else f"{lost:,} of {records:,} records"
    told = Finding("problem" if all_lost else "notice", f"The target failed on {of}{mostly(errors.target)}")
    found = [told]
    for finding in evaluation.findings:
        own = next((own for name, own in errors.own.items() if _is_about_errors(finding, name)), None)
        if own is None:
            found.append(finding)
        elif not all_lost:
            found += _of_evaluator(finding, own, records - lost)
    yield from sorted(found, key=lambda finding: finding.severity != "problem")


def _is_about_errors(finding: Finding, name: str) -> bool:
    return finding.message.startswith((f"{name}{_FAILED}", f"{name}{_NO_SCORE}"))


def _of_evaluator(finding: Finding, own: _Own, answered: int) -> Iterator[Finding]:
    """The same of the records that the target answered; nothing where the evaluator has no error of its own."""
    name = finding.message.partition(_NO_SCORE if _NO_SCORE in finding.message else _FAILED)[0]
    which = "that the target answered"
    if own.failed and not own.scored and own.skipped:
        counts = f"{own.skipped:,} {'was' if own.skipped == 1 else 'were'} skipped, {own.failed:,} failed"
        yield finding._replace(message=f"{name} scored no record {which}: {counts}{mostly(own.errors)}")
    elif own.failed:
        of = "every record" if own.failed >= answered else f"{own.failed:,} of the {answered:,} records"
        yield finding._replace(message=f"{name} failed on {of} {which}{mostly(own.errors)}")
    elif own.skipped and not own.scored:
        yield finding._replace(message=f"{name} skipped every record {which}{mostly(own.skips)}")


def _read(spool: ResultsSpool) -> _Errors:
    target: Counter[str] = Counter()
    lost = set()
    for record in spool.records():
        told = (record.get("provenance") or {}).get("run") or {}
        if "error" in told:
            _count(target, told["error"]["message"])
            lost.add((record["id"], told["trial"]))
    own: dict[str, _Own] = {}
    whole = set()
    for result in spool.results() if lost else ():
        name = result["evaluator"]
        if not result["record_id"]:
            whole.add(name)  # It scores all data at once, and failed on no record of them.
        elif (result["record_id"], result.get("trial", 1)) not in lost:
            _take(own.setdefault(name, _Own()), result["outcome"], result.get("reason") or "")
        else:
            own.setdefault(name, _Own())
    return _Errors(len(lost), target, {name: one for name, one in own.items() if name not in whole})


def _take(own: _Own, outcome: str, reason: str) -> None:
    if outcome == "scored":
        own.scored += 1
    elif outcome == "skipped":
        own.skipped += 1
        _count(own.skips, reason)
    elif outcome == "error":
        own.failed += 1
        _count(own.errors, reason)


def _count(reasons: Counter[str], reason: str) -> None:
    if reason in reasons or len(reasons) < MAX_REASONS:
        reasons[reason] += 1
