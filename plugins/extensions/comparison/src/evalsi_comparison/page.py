"""Owns the page of a comparison: one file that needs nothing else, in light and dark, without a script.

It must not know how a figure came about.
"""

from __future__ import annotations

from importlib import resources
from typing import NamedTuple

from jinja2 import Environment

from evalsi_kernel.version import VERSION

from . import words
from .comparison import Comparison
from .difference import Difference
from .text_report import changes_grid, metrics_grid


class Bar(NamedTuple):
    """An interval as a picture: all in percent of its width, 0 at the left and 100 at the right end."""

    low: float
    width: float
    at: float
    zero: float


class Row(NamedTuple):
    """A metric's row: its cells, its direction as the name of a style, and the picture of its interval."""

    cells: tuple[str, ...]
    direction: str
    bar: Bar | None


class Changed(NamedTuple):
    """A record that changed, with what was asked and answered."""

    record_id: str
    change: str
    better: bool
    input: str
    base: str
    candidate: str


def html_report(found: Comparison) -> str:
    """The page."""
    text = resources.files("evalsi_comparison").joinpath("page.html").read_text("utf-8")
    # Whatever comes from data is text on the page, never a part of it.
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(text)
    grid, changes = metrics_grid(found), changes_grid(found)
    tested = [one for one in found.differences if one.kind != "label"]
    return template.render(
        headline=words.headline(found),
        tone=_tone(found),
        runs=[("base", words.run_line(found.base)), ("candidate", words.run_line(found.candidate))],
        counts=words.counts_line(found),
        regression=list(words.regression_lines(found)),
        header=grid.header,
        rows=[
            Row(tuple(cells), one.direction(found.settings.alpha), _bar(one))
            for cells, one in zip(grid.rows, tested, strict=True)
        ],
        footnotes=list(words.footnotes(found)),
        changes_header=changes.header,
        changes=[(row, change.weakens) for row, change in zip(changes.rows, found.changes, strict=True)],
        notes=found.notes,
        flips=[(heading, rows) for one in found.differences for heading, rows in [_flips(found, one)] if rows],
        version=VERSION,
    )


def _tone(found: Comparison) -> str:
    directions = {one.direction(found.settings.alpha) for one in found.differences}
    directions.add(found.errors.direction(found.settings.alpha))
    if found.failed or "worse" in directions:
        return "worse"
    return "better" if "better" in directions else "same"


def _bar(found: Difference) -> Bar | None:
    """The interval on a scale of its own, with 0 in its middle."""
    ci, difference = found.ci, found.difference
    if ci is None or difference is None:
        return None
    reach = max(abs(ci.low), abs(ci.high)) * 1.1

    def percent(value: float) -> float:
        return round(50 + 50 * value / reach, 2)

    return Bar(percent(ci.low), round(percent(ci.high) - percent(ci.low), 2), percent(difference), 50.0)


def _flips(found: Comparison, one: Difference) -> tuple[str, list[Changed]]:
    lost, won = found.flips_of(one)
    rows = []
    for flip, better in [*((flip, False) for flip in lost), *((flip, True) for flip in won)]:
        said = found.excerpts[flip.item]
        rows.append(
            Changed(flip.record_id, words.flip_change(one, flip), better, said.input, said.base, said.candidate)
        )
    return words.flip_heading(one, len(lost), len(won)), rows
