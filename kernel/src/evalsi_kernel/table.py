"""Summaries as a plain table, as text or Markdown.

It must not know a terminal: no colour, no width. Names come from packs and data, so what cannot be printed is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import category, east_asian_width

from evalsi_kernel.summaries import Summary

MAX_LABELS = 20
JUDGE_COLUMNS = ("calls", "cached", "cost")
# Counts stand under each other's last digit; everything else stands at its left.
_RIGHT = {"n", "skipped", "errors", "cancelled", *JUDGE_COLUMNS}
_SMALL = 0.001
_MARKDOWN = re.compile(r"[\\|`*<>\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def text_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The table that `evalsi eval` prints: a line of counts, then a row a metric, then the labels."""
    header, rows = _cells(summaries)
    widths = [max(map(display_width, column)) for column in zip(header, *rows, strict=True)]
    lines = [_headline(records, evaluators, status), ""]
    for row in [header, *rows]:
        cells = [
            padded(cell, width, right=name in _RIGHT) for name, cell, width in zip(header, row, widths, strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    labels = [f"{printable(summary.metric)}: {_labels(summary)}" for summary in summaries if summary.labels]
    return "\n".join([*lines, "", *labels] if labels else lines)


def markdown_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The same table in Markdown, the labels as a list."""
    header, rows = _cells(summaries)
    rules = ["---:" if name in _RIGHT else "---" for name in header]
    lines = [_headline(records, evaluators, status), "", _markdown_row(header), _markdown_row(rules)]
    lines += [_markdown_row([_escaped(row[0]), *row[1:]]) for row in rows]
    labels = [
        f"- {_escaped(printable(summary.metric))}: {_escaped(_labels(summary))}"
        for summary in summaries
        if summary.labels
    ]
    return "\n".join([*lines, "", *labels] if labels else lines)


def display_width(text: str) -> int:
    """How many columns of a terminal a printable text takes: two for wide characters, none for marks on another."""
    if text.isascii():
        return len(text)
    return sum(
        0 if category(char) in ("Mn", "Me", "Cf") else 2 if east_asian_width(char) in "WF" else 1 for char in text
    )


def _cells(summaries: Sequence[Summary]) -> tuple[list[str], list[list[str]]]:
    levels = {summary.ci.level for summary in summaries if summary.ci is not None}
    level = f"{levels.pop() * 100:g}% CI" if len(levels) == 1 else "CI"
    header = ["metric", "n", "mean", level, "skipped", "errors"]
    rows = [
        [
            printable(summary.metric),
            str(summary.n),
            "-" if summary.mean is None else _number(summary.mean),
            "-" if summary.ci is None else f"[{_number(summary.ci.low)}, {_number(summary.ci.high)}]",
            str(summary.skipped),
            str(summary.errors),
        ]
        for summary in summaries
    ]
    if any(summary.cancelled for summary in summaries):
        header.append("cancelled")
        for row, summary in zip(rows, summaries, strict=True):
            row.append(str(summary.cancelled))
    if any(summary.judge for summary in summaries):
        header += JUDGE_COLUMNS
        for row, summary in zip(rows, summaries, strict=True):
            row.extend(_judged(summary))
    return header, rows


def _judged(summary: Summary) -> list[str]:
    """What an evaluator's questions took; of one with several metrics each row says it, and it was paid for once."""
    bill = summary.judge
    return ["-", "-", "-"] if bill is None else [f"{bill.calls:,}", f"{bill.cached:,}", bill.shown_cost]


def _number(value: float) -> str:
    """Three decimals; three digits where that many decimals would show nothing, or would be lost in the digits."""
    size = abs(value)
    return f"{value:.3g}" if 0 < size < _SMALL or size >= 1e12 else f"{value:.3f}"


def _labels(summary: Summary) -> str:
    counts = [f"{printable(label)} {count:,}" for label, count in summary.labels.items()]
    more = len(counts) - MAX_LABELS
    return ", ".join([*counts[:MAX_LABELS], f"and {more:,} more"] if more > 0 else counts)


def _headline(records: int, evaluators: int, status: str) -> str:
    line = f"{_count(records, 'record')} · {_count(evaluators, 'evaluator')}"
    return line if status == "complete" else f"{line} · {status}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def padded(cell: str, width: int, *, right: bool) -> str:
    """The cell with blanks up to the width that it takes in a terminal."""
    blanks = " " * (width - display_width(cell))
    return blanks + cell if right else cell + blanks


def printable(text: str) -> str:
    """The text with what cannot be printed, such as a line's end or a terminal's command, escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(lambda match: "\\" + match[0], text)
