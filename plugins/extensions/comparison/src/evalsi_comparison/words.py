"""Owns the sentences and figures of a comparison, the same in a terminal, in Markdown and on a page.

It must not know a layout.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from evalsi_kernel.scores.intervals import Interval

from .comparison import Comparison, RunName, named
from .difference import POINTS, Difference, Flip
from .error_share import errors_told
from .paired_tests import TEST_WORDS
from .run_changes import Change

NONE = "-"
MAX_CLAUSES = 3


def headline(found: Comparison) -> str:
    """What a reader wants to know first, in one line."""
    alpha = found.settings.alpha
    by_direction: dict[str, list[Difference]] = {}
    tested = [one for one in found.differences if one.kind != "label"]
    unlike = [one for one in found.differences if one.not_comparable]
    for one in tested:
        by_direction.setdefault(one.direction(alpha), []).append(one)
    of_errors = errors_clause(found)
    clauses = [of_errors] if of_errors else []
    for direction in ("worse", "better", "higher", "lower"):
        if told := by_direction.get(direction):
            names = [f"{one.metric} {signed(one.difference)}" for one in told[:MAX_CLAUSES]]
            more = f" and {len(told) - MAX_CLAUSES} more" if len(told) > MAX_CLAUSES else ""
            clauses.append(f"{direction.capitalize()}: {', '.join(names)}{more}")
    if not clauses:
        as_output_error = any(one.p_holm is not None for one in tested)
        if as_output_error or not unlike:
            clauses.append("No significant difference" if as_output_error else "Too little to compare")
        return f"{'. '.join([*clauses, *_incomparable(unlike)])}."
    same = sum(one.p_holm is not None for one in by_direction.get("same", ()))
    if same:
        other = "" if clauses == [of_errors] else "other "
        clauses.append(f"No significant difference in {same} {other}metric{'' if same == 1 else 's'}")
    return f"{'. '.join([*clauses, *_incomparable(unlike)])}."


def _incomparable(unlike: Sequence[Difference]) -> Iterator[str]:
    """The metrics that were measured differently, as a clause of the headline."""
    if unlike:
        names = [f"{one.metric} ({one.not_comparable})" for one in unlike[:MAX_CLAUSES]]
        more = f" and {len(unlike) - MAX_CLAUSES} more" if len(unlike) > MAX_CLAUSES else ""
        yield f"Not comparable: {', '.join(names)}{more}"


def errors_clause(found: Comparison) -> str:
    """What the headline says of errors, without a full stop; "" where their difference may be chance."""
    direction = found.errors.direction(found.settings.alpha)
    if direction == "same":
        return ""
    return f"{'More' if direction == 'worse' else 'Fewer'} errors: {errors_told(found.errors)}"


def run_line(run: RunName) -> str:
    """What tells a run from the other one."""
    parts = (run.path, run.run_id, run.model, run.branch, run.commit[:12], run.started_at[:16].replace("T", " "))
    states = [run.status if run.status != "complete" else "", run.verdict and f"gates: {run.verdict}"]
    return " · ".join(part for part in (*parts, *states) if part)


def counts_line(found: Comparison) -> str:
    """How many records and metrics were compared."""
    records, metrics = found.records.both, len(found.differences)
    return f"{records:,} record{'' if records == 1 else 's'} in both · {metrics} metric{'' if metrics == 1 else 's'}"


def number(value: float | None) -> str:
    """Three decimals; three digits where that many decimals would show nothing, or would be lost in the digits."""
    if value is None:
        return NONE
    size = abs(value)
    return f"{value:.3g}" if 0 < size < 0.001 or size >= 1e12 else f"{value:.3f}"


def signed(value: float | None) -> str:
    """A difference with its sign."""
    if value is None:
        return NONE
    return f"{'+' if value > 0 else ''}{number(value)}" if value else "0"


def ends(ci: Interval | None) -> str:
    """An interval."""
    if ci is None:
        return NONE
    low, high = signed(ci.low), signed(ci.high)
    if low == high and ci.low != ci.high:
        # Three decimals of a narrow interval are the same at both ends.
        digits = next(one for one in range(4, 18) if f"{ci.low:+.{one}g}" != f"{ci.high:+.{one}g}")
        low, high = f"{ci.low:+.{digits}g}", f"{ci.high:+.{digits}g}"
    return f"[{low}, {high}]"


def p_value(p: float | None) -> str:
    """A p-value with two digits that tell."""
    if p is None:
        return NONE
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def level(found: Comparison) -> str:
    """The name of the intervals' column."""
    return f"{found.settings.level * 100:g}% CI"


def needed(found: Difference) -> str:
    """How many records a change would need."""
    return NONE if found.tested.needed is None else f"{found.tested.needed:,}"


def needed_line(found: Comparison) -> str:
    """What the column of needed records is about; "" without one."""
    told = [one for one in found.differences if one.tested.needed is not None]
    if not told:
        return ""
    relative = any(one.change is not None and not math.isclose(one.change, POINTS) for one in told)
    of_mean = ", of other numbers 2 % of the base's mean" if relative else ""
    return (
        f"needs: how many records it takes to find a change of two points ({POINTS:g}{of_mean}) four times out of five."
    )


def verdict(found: Difference, alpha: float) -> str:
    """The last cell of a metric's row."""
    if found.not_comparable:
        return f"not comparable: {found.not_comparable}"
    if found.p_holm is None:
        return "nothing to compare" if not found.pairs or found.is_too_large else "too few"
    return {"same": "no significant difference"}.get(found.direction(alpha), found.direction(alpha))


def flip_heading(found: Difference, shown_lost: int, shown_won: int) -> str:
    """What stands above the changed records of a metric."""
    names = ("worse", "better") if found.higher_is_better is not None else ("lower", "higher")
    counts = [f"{count:,} {name}" for count, name in zip((found.lost, found.won), names, strict=True) if count]
    total, shown = found.lost + found.won, shown_lost + shown_won
    first = f"; {shown} of them" if shown < total else ""
    return f"{found.metric}: {', '.join(counts)}, {found.tied:,} the same{first}"


def flip_change(found: Difference, flip: Flip) -> str:
    """How a record changed."""
    if found.kind != "pass":
        return f"{number(flip.before)} → {number(flip.after)}"
    if flip.trials == 1:
        return " → ".join("pass" if one else "fail" for one in (flip.before, flip.after))
    return " → ".join(f"{round(one * flip.trials)} of {flip.trials} pass" for one in (flip.before, flip.after))


def labels_line(found: Difference) -> str:
    """The counts of labels."""
    counts = ", ".join(f"{name} {before:,} → {after:,}" for name, (before, after) in found.labels.items())
    return f"{found.metric}: {counts or 'no label in both runs'}; {found.relabelled:,} pairs changed"


def footnotes(found: Comparison) -> Iterator[str]:
    """What stands below the table of metrics."""
    tested = [one for one in found.differences if one.tested.p is not None]
    if tested:
        names = list(dict.fromkeys(TEST_WORDS[one.tested.test].removeprefix("the ") for one in tested))
        adjusted = f", adjusted for the {len(tested)} metrics (Holm)" if len(tested) > 1 else ""
        yield f"p: two-sided, {' or '.join(names)}{adjusted}."
    surprising = [one.metric for one in tested if _excludes_zero(one) and not one.significant(found.settings.alpha)]
    if surprising:
        why = (
            "each interval is for one metric alone, and p is adjusted for all of them"
            if len(tested) > 1
            else ("interval and p come from different methods, and p decides")
        )
        yield f"The interval of {named(surprising)} excludes 0 without a significant difference: {why}."
    if found.errors.base or found.errors.candidate:
        yield f"Errors: {errors_told(found.errors)}."
    if line := needed_line(found):
        yield line
    for one in found.differences:
        if one.kind == "label":
            yield f"{labels_line(one)}."
    for whole in found.whole:
        yield f"{whole.metric}: {number(whole.base)} → {number(whole.candidate)}; one value a run, not tested."


def _excludes_zero(found: Difference) -> bool:
    return found.ci is not None and (found.ci.low > 0 or found.ci.high < 0)


def change_cells(change: Change) -> tuple[str, str, str, str]:
    """What differs between the runs, as cells."""
    about = f"{change.group}: {change.name}"
    return about, change.base or NONE, change.candidate or NONE, "weakened" if change.weakens else ""


def regression_lines(found: Comparison) -> Iterator[str]:
    """What `--fail-on-regression` finds, a line each metric that fails or is not judged."""
    judged = found.judged or ()
    for one in judged:
        if one.verdict != "fine":
            yield f"{one.verdict}: {one.metric}, {one.reason}"
    if judged and not any(one.fails for one in judged):
        fine = sum(one.verdict == "fine" for one in judged)
        yield f"no regression in {fine} metric{'' if fine == 1 else 's'}"
