"""What a person should know about an evaluation besides its numbers: metrics without a value, columns that were missing.

It makes sentences with a mend; it must not know how they are shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evalsi_kernel.intake import Intake
from evalsi_kernel.tally import Tally


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence and its mend; a problem makes the evaluation fail, a notice does not."""

    severity: Literal["problem", "notice"]
    message: str
    mend: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.mend}".strip()


def findings(tallies: Sequence[Tally], intake: Intake, records: int) -> Iterator[Finding]:
    """What there is to say, the worst first."""
    for tally in tallies:
        if records and not tally.scored and not tally.cancelled:
            yield _without_value(tally, intake, records)
    for tally in tallies:
        if tally.scored and tally.errors:
            reason, count = tally.error_reasons.most_common(1)[0]
            yield Finding("notice", f"{tally.instance.name} failed on {_of(tally.errors, records)}; {count} times: {reason}")
    for field, missing in intake.mapped_missing.items():
        if missing:
            column = ".".join(intake.mapping[field])
            severity: Literal["problem", "notice"] = "problem" if missing == records else "notice"
            yield Finding(
                severity,
                f"The column {column!r}, mapped to {field}, is missing in {_of(missing, records)}.",
                _columns(intake) if missing == records else "",
            )


def _without_value(tally: Tally, intake: Intake, records: int) -> Finding:
    name = tally.instance.name
    if tally.errors and not tally.skipped:
        reason = tally.error_reasons.most_common(1)[0][0]
        return Finding("problem", f"{name} failed on every record: {reason}")
    if not tally.errors:
        reason = tally.skip_reasons.most_common(1)[0][0]
        mend = ""
        if reason.startswith("record has no "):
            field = reason.removeprefix("record has no ")
            mend = f"{_columns(intake)} Use --map {field}=COLUMN if one of them holds it."
        return Finding("problem", f"{name} skipped every record: {reason}.", mend)
    reason = tally.error_reasons.most_common(1)[0][0]
    return Finding(
        "problem", f"{name} scored no record: {tally.skipped} were skipped, {tally.errors} failed: {reason}"
    )


def _columns(intake: Intake) -> str:
    return f"The columns are: {', '.join(intake.columns)}."


def _of(part: int, whole: int) -> str:
    if part == whole:
        return "every record"
    return f"{part:,} of {whole:,} records"
