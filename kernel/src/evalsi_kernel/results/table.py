"""Summaries as a plain table, as text or Markdown.

It must not know a terminal: no colour, no width. Names come from packs and data, so what cannot be printed is escaped.
"""

from __future__ import annotations

from collections.abc import Sequence

from evalsi_kernel.results.grid import Grid, escaped, printable, text_grid
from evalsi_kernel.scores.summaries import Summary

MAX_LABELS = 20
JUDGE_COLUMNS = ("calls", "cached", "cost")
# Counts stand under each other's last digit; everything else stands at its left.
_RIGHT = {"n", "clusters", "skipped", "errors", "cancelled", *JUDGE_COLUMNS}
_SMALL = 0.001


def text_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The table that `evalsi eval` prints: a line of counts, then a row a metric, then the labels."""
    header, rows = _cells(summaries)
    right = [place for place, name in enumerate(header) if name in _RIGHT]
    labels = [f"{printable(summary.metric)}: {_labels(summary)}" for summary in summaries if summary.labels]
    return _laid_out(_headline(records, evaluators, status), [text_grid(Grid(header, rows, right))], labels)


def markdown_table(records: int, evaluators: int, summaries: Sequence[Summary], status: str = "complete") -> str:
    """The same table in Markdown, the labels as a list."""
    header, rows = _cells(summaries)
    rules = ["---:" if name in _RIGHT else "---" for name in header]
    lines = [f"| {' | '.join(row)} |" for row in (header, rules, *([escaped(row[0]), *row[1:]] for row in rows))]
    labels = [f"- {escaped(summary.metric)}: {escaped(_labels(summary))}" for summary in summaries if summary.labels]
    return _laid_out(_headline(records, evaluators, status), lines, labels)


def _laid_out(headline: str, table: list[str], labels: list[str]) -> str:
    return "\n".join([headline, "", *table, *(["", *labels] if labels else [])])


def _cells(summaries: Sequence[Summary]) -> tuple[list[str], list[list[str]]]:
    levels = {summary.ci.level for summary in summaries if summary.ci is not None}
    level = f"{levels.pop() * 100:g}% CI" if len(levels) == 1 else "CI"
    columns: dict[str, Sequence[str]] = {
        "metric": [one.metric for one in summaries],
        "n": [str(one.n) for one in summaries],
    }
    if any(one.clusters for one in summaries):
        # What the interval counts, where it is not n.
        columns["clusters"] = [str(one.clusters or "-") for one in summaries]
    columns["mean"] = ["-" if one.mean is None else shown_number(one.mean) for one in summaries]
    columns[level] = [
        "-" if one.ci is None else f"[{shown_number(one.ci.low)}, {shown_number(one.ci.high)}]" for one in summaries
    ]
    columns["skipped"] = [str(one.skipped) for one in summaries]
    columns["errors"] = [str(one.errors) for one in summaries]
    if any(one.cancelled for one in summaries):
        columns["cancelled"] = [str(one.cancelled) for one in summaries]
    if any(one.judge for one in summaries):
        columns |= zip(JUDGE_COLUMNS, zip(*map(_judged, summaries), strict=True), strict=True)
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def _judged(summary: Summary) -> list[str]:
    """What an evaluator's questions took; of one with several metrics each row says it, and it was paid for once."""
    bill = summary.judge
    return ["-", "-", "-"] if bill is None else [f"{bill.calls:,}", f"{bill.cached:,}", bill.shown_cost]


def shown_number(value: float) -> str:
    """Return a number with three decimals, or with three digits where it is very small or very large."""
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
