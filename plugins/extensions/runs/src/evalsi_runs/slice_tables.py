"""The summaries of slices as tables, one for each key of `summary.slice_by`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalsi_kernel.results.grid import Grid
from evalsi_kernel.results.table import shown_number

MAX_VALUES = 20
"""Values of a key that are shown; the results file has the others."""
_RIGHT = (2, 5, 6, 7)


def slice_tables(slices: Sequence[Mapping[str, Any]]) -> list[tuple[str, Grid]]:
    """Return a title and a table for each key.

    Args:
        slices: `slices` of a results file.
    """
    by_key: dict[str, list[Mapping[str, Any]]] = {}
    for one in slices:
        by_key.setdefault(one["by"], []).append(one)
    return [(_title(key, values), _grid(key, values[:MAX_VALUES])) for key, values in by_key.items()]


def _title(key: str, values: Sequence[Any]) -> str:
    if len(values) <= MAX_VALUES:
        return f"by {key}"
    return f"by {key} (the first {MAX_VALUES} of {len(values):,} values; the results file has all)"


def _grid(key: str, values: Sequence[Mapping[str, Any]]) -> Grid:
    summaries = [summary for one in values for summary in one["summaries"]]
    levels = {summary["ci"]["level"] for summary in summaries if summary["ci"]}
    interval = f"{levels.pop() * 100:g}% CI" if len(levels) == 1 else "CI"
    has_cancelled = any(summary["cancelled"] for summary in summaries)
    header = [key, "metric", "n", "mean", interval, "skipped", "errors", *(["cancelled"] if has_cancelled else [])]
    rows = [
        [
            one["value"],
            summary["metric"],
            str(summary["n"]),
            "-" if summary["mean"] is None else shown_number(summary["mean"]),
            _interval(summary["ci"]),
            str(summary["skipped"]),
            str(summary["errors"]),
            *([str(summary["cancelled"])] if has_cancelled else []),
        ]
        for one in values
        for summary in one["summaries"]
    ]
    return Grid(header, rows, _RIGHT[: len(header) - 4])


def _interval(ci: Mapping[str, Any] | None) -> str:
    return "-" if ci is None else f"[{shown_number(ci['low'])}, {shown_number(ci['high'])}]"
