"""Owns how a comparison reads in a terminal and in Markdown.

It must not know how a figure came about, nor a terminal: no colour, no width.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalsi_kernel.results.grid import Grid, display_width, escaped, markdown_grid, printable, text_grid

from . import words
from .comparison import Comparison
from .difference import Difference

_HEADER = ("metric", "pairs", "base", "candidate", "difference")
_RIGHT = (1, 2, 3, 4, 6, 7, 8, 9, 10)
MAX_ANSWER_COLUMNS = 60


def text_report(found: Comparison) -> str:
    """The comparison as plain text."""
    blocks = [printable(words.headline(found)), _printed(_runs(found))]
    blocks += [text_grid(one) for one in (metrics_grid(found),) if one.rows]
    blocks += [
        _printed(lines) for lines in (list(words.footnotes(found)), list(words.regression_lines(found))) if lines
    ]
    if found.changes:
        blocks.append(text_grid(changes_grid(found)))
    if found.notes:
        blocks.append(_printed(f"note: {one}" for one in found.notes))
    for one in found.differences:
        if (grid := flips_grid(found, one)) is not None:
            blocks.append(f"{printable(_heading(found, one))}\n{text_grid(grid)}")
    return "\n\n".join(blocks)


def markdown_report(found: Comparison) -> str:
    """The comparison in Markdown, for the summary of a job: what changed first, records folded."""
    blocks = [f"**{escaped(words.headline(found))}**"]
    blocks += [_list(words.regression_lines(found))] if found.judged else []
    weakened = [one for one in found.changes if one.weakens]
    if weakened:
        told = (f"Weakened: {one.name}, {one.base or words.NONE} → {one.candidate or words.NONE}" for one in weakened)
        blocks.append(_list(told))
    blocks += [markdown_grid(one) for one in (metrics_grid(found),) if one.rows]
    blocks += [escaped(line) for line in words.footnotes(found)]
    if found.changes:
        blocks += ["What differs between the runs:", markdown_grid(changes_grid(found))]
    if found.notes:
        blocks.append(_list(found.notes))
    for one in found.differences:
        if (grid := flips_grid(found, one)) is not None:
            heading = escaped(_heading(found, one))
            blocks.append(f"<details><summary>{heading}</summary>\n\n{markdown_grid(grid)}\n\n</details>")
    blocks.append(_list(_runs(found)))
    return "\n\n".join(blocks)


def metrics_grid(found: Comparison) -> Grid:
    """A row a metric that has numbers or verdicts."""
    alpha = found.settings.alpha
    rows = [
        (
            one.metric,
            f"{one.pairs:,}",
            words.number(one.base),
            words.number(one.candidate),
            words.signed(one.difference),
            words.ends(one.ci),
            words.p_value(one.p_holm),
            f"{one.won:,}",
            f"{one.lost:,}",
            f"{one.tied:,}",
            words.needed(one),
            words.verdict(one, alpha),
        )
        for one in found.differences
        if one.kind != "label"
    ]
    header = (*_HEADER, words.level(found), "p", "won", "lost", "tied", "needs", "")
    return Grid(header, rows, _RIGHT)


def changes_grid(found: Comparison) -> Grid:
    """A row a thing that differs between how the runs were made."""
    rows = [words.change_cells(one) for one in found.changes]
    if not any(row[-1] for row in rows):
        return Grid(("differs", "base", "candidate"), [row[:-1] for row in rows])
    return Grid(("differs", "base", "candidate", ""), rows)


def flips_grid(found: Comparison, one: Difference) -> Grid | None:
    """The changed records of a metric to show; None without any."""
    lost, won = found.flips_of(one)
    rows = []
    for flip in (*lost, *won):
        said = found.excerpts[flip.item]
        rows.append((flip.record_id, words.flip_change(one, flip), _short(said.base), _short(said.candidate)))
    return Grid(("record", "change", "base says", "candidate says"), rows) if rows else None


def _heading(found: Comparison, one: Difference) -> str:
    lost, won = found.flips_of(one)
    return words.flip_heading(one, len(lost), len(won))


def _runs(found: Comparison) -> Iterator[str]:
    yield f"base: {words.run_line(found.base)}"
    yield f"candidate: {words.run_line(found.candidate)}"
    yield words.counts_line(found)


def _printed(lines: Iterable[str]) -> str:
    """Lines that hold texts of strangers, one below the other."""
    return "\n".join(map(printable, lines))


def _list(lines: Iterator[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _short(text: str) -> str:
    """As much of a text as so many columns of a terminal show, with what cannot be printed escaped."""
    columns = 0
    for end, char in enumerate(text):
        columns += display_width(printable(char))
        if columns > MAX_ANSWER_COLUMNS:
            return f"{text[:end]}…"
    return text
