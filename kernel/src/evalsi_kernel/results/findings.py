"""What a person should know of an evaluation besides its numbers: metrics without a value, columns that were missing.

It makes sentences with a hint; it must not know how they are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.records.intake import MAX_COLUMNS_KEPT, Intake
from evalsi_kernel.scores.tally import Tally

_NO_FIELD = "record has no "
WHEN_FALSE = "when is false: "
"""How the reason begins of what the spec of a run left out; that is as it was meant, and no problem."""


class Finding(NamedTuple):
    """A sentence and its hint; a problem makes the evaluation fail, a notice does not."""

    severity: Literal["problem", "notice"]
    message: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


def findings(tallies: Sequence[Tally], intake: Intake, records: int) -> list[Finding]:
    """What there is to say of so many records, the problems first."""
    found = [*_missing_columns(intake), *_of_tallies(tallies, intake, records), *_of_metrics(tallies, records)]
    found += _shadowed(intake, records)
    found += _lists_kept(intake, records)
    notes = getattr(intake.source, "notes", None)
    found += [Finding("notice", *note) for note in (notes() if notes is not None else ())]
    return sorted(found, key=lambda finding: finding.severity != "problem")


def cut_off_findings(whose: str, replies: int, truncated: int, filtered: int, hint: str) -> list[Finding]:
    """Return what there is to say of replies that are incomplete.

    Args:
        whose: replies they are.
        replies: how many there are.
        truncated: those that were cut off at the most tokens that they might take.
        filtered: those that were refused or stopped by a content filter.
        hint: what to do about the former.
    """
    found = []
    if truncated:
        were = "was" if truncated == 1 else "were"
        found.append(Finding("notice", f"{truncated:,} of {replies:,} replies of {whose} {were} cut off.", hint))
    if filtered:
        were = "was" if filtered == 1 else "were"
        message = f"{filtered:,} of {replies:,} replies of {whose} {were} refused or stopped by a content filter."
        found.append(Finding("notice", message))
    return found


def _missing_columns(intake: Intake) -> Iterator[Finding]:
    for field, missing in intake.mapped_missing.items():
        column = ".".join(intake.mapping[field])
        message = f"The column {column!r}, mapped to {field}, is missing in {_of(missing, intake.count)}."
        # Of what was read, not of what was scored: a run may have been stopped in between.
        if missing and missing >= intake.count:
            hint = f"{did_you_mean(column, intake.columns)} {_columns(intake)}".strip()
            yield Finding("problem", message, hint)
        elif missing:
            yield Finding("notice", message)


def _of_tallies(tallies: Sequence[Tally], intake: Intake, records: int) -> Iterator[Finding]:
    for tally in tallies:
        name = tally.instance.name
        if tally.scored and tally.errors:
            yield Finding("notice", f"{name} failed on {_of(tally.errors, records)}{mostly(tally.error_reasons)}")
        elif tally.scored or tally.cancelled or not records:
            continue
        elif tally.errors and tally.skipped:
            counts = f"{tally.skipped:,} {'was' if tally.skipped == 1 else 'were'} skipped, {tally.errors:,} failed"
            yield Finding("problem", f"{name} scored no record: {counts}{mostly(tally.error_reasons)}")
        elif tally.errors:
            yield Finding("problem", f"{name} failed on every record{mostly(tally.error_reasons)}")
        elif tally.skipped:
            message = f"{name} skipped every record{mostly(tally.skip_reasons)}"
            is_meant = all(reason.startswith(WHEN_FALSE) for reason in tally.skip_reasons)
            yield Finding("notice" if is_meant else "problem", message, _hint_of_skips(tally, intake))
        else:
            yield Finding("problem", f"{name} gave no score.", "Correct the evaluator.")


def _of_metrics(tallies: Sequence[Tally], records: int) -> Iterator[Finding]:
    """The metrics that failed where others of their evaluator did not."""
    for tally in tallies:
        for name, failed in tally.metric_failures.items():
            never = name not in tally.metrics or not tally.metrics[name].summary().n
            what = f"{tally.instance.metric(name)} failed on {_of(failed, records)}"
            yield Finding("problem" if never else "notice", f"{what}{mostly(tally.metric_errors[name])}")


def _shadowed(intake: Intake, records: int) -> Iterator[Finding]:
    for column, count in intake.shadowed.items():
        yield Finding(
            "notice",
            f"The column {column!r} differs from metadata.{column} in {_of(count, records)}; the latter is kept.",
            f"To take the column's, add --map metadata.{column}={column}.",
        )


def _lists_kept(intake: Intake, records: int) -> Iterator[Finding]:
    """Cells of a table that hold a JSON list and stay text."""
    for field, count in intake.lists_kept.items():
        yield Finding(
            "notice",
            f"The cell of {field} holds a list in JSON in {_of(count, records)}, and stays text.",
            "Only lists of texts are read, for reference and context; JSON Lines (.jsonl) holds any list.",
        )


def _hint_of_skips(tally: Tally, intake: Intake) -> str:
    reason = tally.skip_reasons.most_common(1)[0][0]
    field = reason.removeprefix(_NO_FIELD)
    is_column = field != reason and field not in intake.mapping
    return f"{_columns(intake)} Use --map {field}=COLUMN if one of them holds it." if is_column else ""


def mostly(reasons: Counter[str]) -> str:
    """The commonest of some reasons, as the end of a sentence that ends here."""
    reason, times = reasons.most_common(1)[0]
    if not reason:
        return "."
    how = "" if len(reasons) == 1 else "for instance, " if times == 1 else f"{times:,} times, "
    return f": {how}{reason}" + ("" if reason.endswith((".", "!", "?", "…")) else ".")


def _columns(intake: Intake) -> str:
    more = ", …" if len(intake.columns) >= MAX_COLUMNS_KEPT else ""
    return f"The columns are: {', '.join(intake.columns)}{more}."


def _of(part: int, whole: int) -> str:
    return "every record" if part >= whole else f"{part:,} of {whole:,} records"
