"""Summaries as a plain table, as text or Markdown.

It must not know a terminal: no colour, no width.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.summaries import Summary


def text_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The table that `evalsi eval` prints: a line of counts, then a row a metric."""
    header, rows = _cells(summaries)
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    # Numbers at the end stand under each other's last digit; text stands at its left.
    right = {len(header) - 2, len(header) - 1}
    lines = [_headline(records, evaluators, status), ""]
    for row in [header, *rows]:
        cells = [
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines += _label_lines(summaries)
    return "\n".join(lines)


def markdown_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The same table in Markdown."""
    header, rows = _cells(summaries)
    lines = [_headline(records, evaluators, status), ""]
    lines.append(f"| {' | '.join(header)} |")
    lines.append("|" + "|".join(" --- " if column == 0 else " ---: " for column in range(len(header))) + "|")
    lines += [f"| {' | '.join(_escape(cell) for cell in row)} |" for row in rows]
    lines += _label_lines(summaries)
    return "\n".join(lines)


def _cells(summaries: Sequence[Summary]) -> tuple[list[str], list[list[str]]]:
    levels = {summary.ci.level for summary in summaries if summary.ci is not None}
    level = f"{levels.pop() * 100:g}% CI" if len(levels) == 1 else "CI"
    header = ["metric", "n", "mean", level, "skipped", "errors"]
    rows = [
        [
            summary.metric,
            str(summary.n),
            "-" if summary.mean is None else f"{summary.mean:.3f}",
            "-" if summary.ci is None else f"[{summary.ci.low:.3f}, {summary.ci.high:.3f}]",
            str(summary.skipped),
            str(summary.errors),
        ]
        for summary in summaries
    ]
    if any(summary.cancelled for summary in summaries):
        header.append("cancelled")
        for row, summary in zip(rows, summaries, strict=True):
            row.append(str(summary.cancelled))
    return header, rows


def _label_lines(summaries: Sequence[Summary]) -> list[str]:
    lines = []
    for summary in summaries:
        if summary.labels:
            counts = ", ".join(f"{label} {count}" for label, count in sorted(summary.labels.items()))
            lines.append(f"{summary.metric}: {counts}")
    return ["", *lines] if lines else []


def _headline(records: int, evaluators: int, status: str) -> str:
    line = f"{_count(records, 'record')} · {_count(evaluators, 'evaluator')}"
    return line if status == "complete" else f"{line} · {status}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _escape(cell: str) -> str:
    return cell.replace("|", "\\|")
