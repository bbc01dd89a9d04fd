"""A run told to a person: the verdict and its gates first, then the numbers.

It must not know where the text goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evalsi_kernel.broker.usd import shown_usd
from evalsi_kernel.gates.verdicts import GateResult
from evalsi_kernel.results.grid import Grid, escaped, markdown_grid, printable, printable_lines, text_grid
from evalsi_kernel.results.table import markdown_table, text_table
from evalsi_kernel.runs.request import RunEnd

from .foresight import Foreseen
from .slice_tables import slice_tables
from .trials_told import trials_line

Paint = Callable[[str, str], str]
"""A text and the name of a colour, to the text in that colour where there are colours."""
_VERDICTS = {"pass": "pass", "fail": "FAIL", "undecided": "undecided", "not applicable": "n/a"}
_COLOURS = {"pass": "green", "FAIL": "red", "undecided": "yellow"}
_WORDS = {"pass": "all gates pass", "fail": "a gate failed", "undecided": "a gate is undecided", None: "no gates"}


def text_of(end: RunEnd, paint: Paint = lambda text, _: text) -> str:
    """Return a run for a terminal; `paint` gives a text a colour, where the terminal takes any."""

    def verdict(place: int, cell: str, padded: str) -> str:
        return paint(padded, _COLOURS[cell]) if place == 1 and cell in _COLOURS else padded

    gates = [text_grid(_gates(end.gates), verdict)] if end.gates else []
    trials = trials_line(end.evaluation.more.get("trial_advice"))
    told = "\n".join(filter(None, (usage_line(end), trials)))
    words = _WORDS[end.verdict]
    colour = _COLOURS.get(_VERDICTS.get(end.verdict or "", ""))
    head = printable(headline(end))
    parts = [head if colour is None else head.replace(words, paint(words, colour), 1)]
    slices = [f"{printable(title)}\n{text_grid(grid)}" for title, grid in slice_tables(_slices(end))]
    parts += [*gates, _numbers(end), *slices, printable_lines(told)]
    return "\n\n".join(parts)


def markdown_of(end: RunEnd) -> str:
    """For a pull request or a job summary."""
    lines = [f"**{escaped(headline(end))}**", ""]
    if end.gates:
        lines += [markdown_grid(_gates(end.gates)), ""]
    evaluation = end.evaluation
    table = markdown_table(evaluation.records, len(evaluation.instances), evaluation.summaries, evaluation.status.value)
    trials = trials_line(end.evaluation.more.get("trial_advice"))
    for title, grid in slice_tables(_slices(end)):
        table += f"\n\n{escaped(title)}\n\n{markdown_grid(grid)}"
    return "\n".join([*lines, table, "", usage_line(end), *(("", escaped(trials)) if trials else ())])


def foreseen_text(foreseen: Foreseen) -> str:
    """What a run could take."""
    tokens = (
        "tokens that it does not know beforehand" if foreseen.max_tokens is None else f"{foreseen.max_tokens:,} tokens"
    )
    cost = "an unknown price" if foreseen.max_usd is None else shown_usd(foreseen.max_usd)
    text = f"{foreseen.calls:,} calls to the target for {foreseen.records:,} records: at most {tokens} and {cost}."
    if foreseen.asking:
        text += f"\nWhat {' and '.join(foreseen.asking)} ask of models depends on the answers, and comes on top."
    return text


def headline(end: RunEnd) -> str:
    """The run in a line."""
    done = f"{end.done:,} of {end.items:,} done" if end.done < end.items else f"{end.items:,} done"
    kept = f", {end.kept:,} of them before" if end.kept else ""
    why = f" ({end.reason})" if end.reason else ""
    return f"{end.run_id}: {end.state}, {_WORDS[end.verdict]}; {done}{kept}{why}"


def usage_line(end: RunEnd) -> str:
    """What the target took."""
    usage = end.evaluation.manifest["target_usage"]
    parts = [f"target: {usage['calls']:,} calls"]
    if usage["failed"]:
        parts.append(f"{usage['failed']:,} failed")
    if usage.get("by_fallbacks"):
        parts.append(f"{usage['by_fallbacks']:,} answered by fallbacks")
    replies = usage.get("replies", 0)
    for name, words in (("truncated", "cut off"), ("filtered", "refused or filtered")):
        if usage.get(name):
            parts.append(f"{usage[name]:,} of {replies:,} replies {words}")
    if usage["input_tokens"] and usage["output_tokens"] is not None:
        parts.append(f"{usage['input_tokens']:,} tokens in, {usage['output_tokens']:,} out")
    if usage["cost_usd"] != 0.0:
        parts.append("cost unknown" if usage["cost_usd"] is None else shown_usd(usage["cost_usd"]))
    if usage["latency_ms"] is not None:
        parts.append(f"{usage['latency_ms']['p50']:,.0f} ms in the median, {usage['latency_ms']['p95']:,.0f} ms at 95%")
    return ", ".join(parts)


def _slices(end: RunEnd) -> Sequence[Mapping[str, Any]]:
    slices: Sequence[Mapping[str, Any]] = end.evaluation.more.get("slices") or ()
    return slices


def _numbers(end: RunEnd) -> str:
    evaluation = end.evaluation
    return text_table(evaluation.records, len(evaluation.instances), evaluation.summaries, evaluation.status.value)


def _gates(gates: tuple[GateResult, ...]) -> Grid:
    rows = []
    for gate in gates:
        of = (
            "" if gate.slice is None else " where " + ", ".join(f"{key} = {value}" for key, value in gate.slice.items())
        )
        rows.append([f"{gate.metric}{of}", _VERDICTS[gate.verdict], gate.reason])
    return Grid(("gate", "verdict", "why"), rows)
