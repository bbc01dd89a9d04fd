"""Owns how a calibration reads in a terminal and in Markdown: a few lines, and tables.

It must not know how a figure came about, nor a terminal: no colour, no width.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from evalsi_kernel.results.grid import Grid, escaped, markdown_grid, printable_lines, text_grid
from evalsi_kernel.scores.intervals import Interval

from .agreement import Agreement
from .kappa import Kappa
from .record import Calibrated
from .shares import Share

if TYPE_CHECKING:
    from evalsi_kernel.broker.ledger import Bill

MAX_DISAGREEMENTS = 10
MAX_MATRIX = 12
"""A matrix of more categories than that is in the JSON only."""
MAX_EXPLANATION_CHARS = 100

_LEFT_OUT = {
    "no_label": "without a label",
    "skipped": "skipped",
    "error": "failed",
    "cancelled": "not answered",
}
_RATES = {
    "precision": ("precision", "people pass, of what it passes"),
    "recall": ("recall", "it passes, of what people pass"),
    "false_positives": ("false positives", "it passes, of what people fail"),
    "false_negatives": ("false negatives", "it fails, of what people pass"),
    "human_pass": ("people pass", ""),
    "judge_pass": ("it passes", ""),
}
_NONE = "-"
Block = str | Grid


def text_report(calibrated: Calibrated) -> str:
    """The report as plain text."""
    return "\n\n".join(text_grid(one) if isinstance(one, Grid) else printable_lines(one) for one in _blocks(calibrated))


def markdown_report(calibrated: Calibrated) -> str:
    """The report in Markdown."""
    return "\n\n".join(markdown_grid(one) if isinstance(one, Grid) else escaped(one) for one in _blocks(calibrated))


def _blocks(calibrated: Calibrated) -> Iterator[Block]:
    found, name, level = calibrated.agreement, calibrated.instance.name, calibrated.level
    yield _headline(calibrated)
    yield _figures(found, level)
    if found.matrix is not None and len(found.matrix.categories) <= MAX_MATRIX:
        categories = found.matrix.categories
        rows = [
            (one, *(f"{count:,}" for count in row)) for one, row in zip(categories, found.matrix.counts, strict=True)
        ]
        yield Grid((f"people \\ {name}", *categories), rows, range(1, len(categories) + 1))
    if found.bias is not None:
        biases = [("all", found.bias), *found.bias_per_score.items()]
        yield Grid(
            ("people say", "records", f"{name} - people, 0 to 1", _level(level)),
            [(score, f"{one.n:,}", f"{one.mean:+.3f}", _ends(one.ci)) for score, one in biases],
            (1, 2),
        )
    if found.notes:
        yield "\n".join(found.notes)
    yield from _disagreements(found, name)


def _headline(calibrated: Calibrated) -> str:
    counts = [f"{count:,} {_LEFT_OUT[what]}" for what, count in calibrated.left_out.items() if count]
    records = f"{calibrated.records:,} record{'' if calibrated.records == 1 else 's'}"
    parts = [f"{calibrated.comparison.metric} against {calibrated.label}"]
    if calibrated.judge is not None:
        parts.append(f"judge {calibrated.judge['model']}{_billed(calibrated.bill)}")
    parts.append(", ".join([f"{records}: {calibrated.agreement.n:,} compared", *counts]))
    if calibrated.manifest["status"] != "complete":
        parts.append(str(calibrated.manifest["status"]))
    return " · ".join(parts)


def _billed(bill: Bill | None) -> str:
    if bill is None:
        return ""
    calls = f"{bill.calls:,} call{'' if bill.calls == 1 else 's'}"
    return f" ({calls}, {bill.cached:,} cached, {'cost unknown' if bill.cost_usd is None else bill.shown_cost})"


def _figures(found: Agreement, level: float) -> Grid:
    rows: list[tuple[str, ...]] = []
    if found.matrix is not None:
        rows.append(_share("agreement", found.matrix.agreement, level, "in the same category"))
        rows.append(_beyond_chance("kappa", found.kappa, level, "agreement beyond chance"))
    if found.bias_per_score:
        rows.append(
            _beyond_chance("quadratic kappa", found.quadratic_kappa, level, "the same, a near miss counts in part")
        )
    if found.rates is not None:
        rows += [_share(_RATES[key][0], share, level, _RATES[key][1]) for key, share in found.rates._asdict().items()]
    if found.bias is not None:
        rows.append(("rank correlation", _number(found.rank_correlation), _NONE, _NONE, "Spearman's"))
    if found.position_bias is not None:
        rows.append(_share("order matters", found.position_bias.changed, level, "another verdict in the other order"))
        rows.append(_share("for the first", found.position_bias.toward_first, level, "better first, of these"))
    if found.length_bias is not None:
        for who, leaning in (("it", found.length_bias.judge), ("people", found.length_bias.human)):
            rows.append(_share(f"{who}: for the longer", leaning.for_longer, level, "of verdicts for one of them"))
            told = "point-biserial, length and verdict"
            rows.append((f"{who}: correlation", _number(leaning.correlation), _NONE, _NONE, told))
    return Grid(("figure", "value", _level(level), "records", "meaning"), rows, (1, 3))


def _share(name: str, share: Share, level: float, meaning: str) -> tuple[str, ...]:
    counts = f"{share.part:,} of {share.whole:,}"
    return name, _number(share.value), _ends(share.interval(level)), counts, meaning


def _beyond_chance(name: str, found: Kappa | None, level: float, meaning: str) -> tuple[str, ...]:
    value, interval = (None, None) if found is None else (found.value, found.interval(level))
    return name, _number(value), _ends(interval), _NONE, meaning


def _disagreements(found: Agreement, name: str) -> Iterator[Block]:
    worst = found.disagreements[:MAX_DISAGREEMENTS]
    if not worst:
        return
    count = len(found.disagreements)
    more = f"; the worst {MAX_DISAGREEMENTS}" if count > MAX_DISAGREEMENTS else ""
    yield f"{count:,} disagreement{'' if count == 1 else 's'}{more}:"
    header, rows = ["record", "people", name], [[one.record_id, one.human.shown, one.judge.shown] for one in worst]
    if any(one.explanation for one in worst):
        header.append("explanation")
        for row, one in zip(rows, worst, strict=True):
            row.append(_short(one.explanation))
    yield Grid(header, rows)


def _number(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


def _ends(interval: Interval | None) -> str:
    return _NONE if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _level(level: float) -> str:
    return f"{level * 100:g}% CI"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_EXPLANATION_CHARS else f"{line[: MAX_EXPLANATION_CHARS - 1]}…"
