"""Owns the parts of a page that tell of the whole run: tiles, gates, metrics, changes, slices, trials.

It must not know a record, nor where on the page a part stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from .changes import Change
from .charts import Scale, bins_of, histogram, interval_chart, share_chart
from .columns import CANCELLED, ERROR, SKIPPED
from .expenses import total_usd
from .figures import counted, figure, interval, percentile, run_time, short, signed
from .gate_words import GATE_WORDS, Gate
from .metrics import Metric
from .report import ReportData
from .shown_text import one_line

MOST_ROWS = 200
MOST_IDS = 40
_TONES = {"pass": "pass", "fail": "fail", "undecided": "undecided", "not applicable": "quiet"}


class Tile(NamedTuple):
    """A number that a person looks for first."""

    label: str
    text: str
    tone: str = ""


def tiles(report: ReportData) -> Iterator[Tile]:
    """How many records, failures, errors and skips, what it cost, and how long it took."""
    folded = report.folded
    items = len(folded.rows)
    if report.trials > 1:
        yield Tile("records × trials", f"{len(set(folded.rows.ids)):,} × {report.trials}")
    else:
        yield Tile("records", f"{items:,}")
    passes = [metric for metric in report.metrics if metric.is_check and metric.column is not None]
    if passes:
        failed = failed_rows(report)
        yield Tile("failed a check", f"{failed:,}", "fail" if failed else "")
    errors, skipped = folded.rows_with(ERROR), folded.rows_with(SKIPPED)
    yield Tile("with errors", f"{errors:,}", "error" if errors else "")
    yield Tile("with skips", f"{skipped:,}")
    if cancelled := folded.rows_with(CANCELLED):
        yield Tile("not done", f"{cancelled:,}")
    if (cost := total_usd(folded)) is not None:
        yield Tile("cost", cost, "" if cost.startswith("$") else "words")
    if duration := run_time(report.manifest):
        yield Tile("time", duration)


def failed_rows(report: ReportData) -> int:
    """How many rows failed a check."""
    columns = [metric.column for metric in report.metrics if metric.is_check and metric.column is not None]
    return sum(any(column[row] == 0 for column in columns) for row in range(len(report.folded.rows)))


def gate_rows(gates: Sequence[Gate]) -> list[dict[str, Any]]:
    """The gates, drawn."""
    return [
        {
            "metric": gate.metric,
            "slice": gate.slice,
            "asks": gate.asks,
            "verdict": gate.verdict,
            "word": GATE_WORDS[gate.verdict],
            "tone": _TONES[gate.verdict],
            "value": gate.shown,
            "interval": interval(gate.low, gate.high) if gate.low is not None else "",
            "counts": _gate_counts(gate),
            "chart": _gate_chart(gate),
            "reason": gate.reason,
        }
        for gate in gates
    ]


def metric_rows(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """The metrics, drawn."""
    rows = []
    for metric in metrics:
        scale = Scale(*metric.span)
        row = {
            "name": metric.name,
            "of": _of(metric),
            "mean": figure(metric.mean),
            "unit": metric.unit,
            "interval": interval(metric.low, metric.high) if metric.low is not None else _no_interval(metric),
            "chart": None,
            "from": short(scale.low),
            "to": short(scale.high),
            "distribution": "",
            "failed": 0,
            "told": "",
            "n": f"{metric.n:,}",
            "skipped": f"{metric.skipped:,}",
            "errors": f"{metric.errors:,}",
            "has_errors": metric.errors > 0,
        }
        if metric.mean is not None:
            row["chart"] = interval_chart(scale, metric.mean, metric.low, metric.high)
        rows.append(row | _distribution(metric, scale))
    return rows


def distribution_cards(report: ReportData) -> list[dict[str, Any]]:
    """A large drawing for each metric of numbers, and for the target's latency where no metric has it."""
    cards = []
    for metric in report.metrics:
        known = metric.column.known() if metric.column is not None and metric.kind == "number" else []
        if len(known) > 1:
            unit = f" {metric.unit}" if metric.unit else ""
            cards.append(_card(metric.name, counted(len(known), "score"), known, Scale(*metric.span), unit))
    latency = report.folded.usage.get("latency_ms")
    known = sorted(latency.known()) if latency is not None else []
    if len(known) > 1 and known[-1] > 0 and all(metric.unit != "ms" for metric in report.metrics):
        # The slowest few in a hundred would press all others into the first bars.
        scale = Scale(0.0, max(percentile(known, 0.99), known[-1] / 4))
        told = f"{counted(len(known), 'answer')}, the slowest {figure(known[-1])} ms"
        cards.append(_card("latency of the target", told, known, scale, " ms"))
    return cards


def _card(name: str, told: str, known: Sequence[float], scale: Scale, unit: str) -> dict[str, Any]:
    mean = sum(known) / len(known)
    return {
        "name": name,
        "told": told,
        "chart": histogram(bins_of(known, scale), 120, mean=mean),
        "from": f"{short(scale.low)}{unit}",
        "middle": f"mean {figure(mean)}",
        "to": f"{short(scale.high)}{unit}",
    }


def label_cards(metrics: Sequence[Metric]) -> list[dict[str, Any]]:
    """A table of bars for each metric of labels."""
    return [
        {
            "name": metric.name,
            "told": counted(metric.n, "label given", "labels given"),
            "rows": [
                (
                    one_line(label, 60),
                    f"{count:,}",
                    share_chart([("", count, "bar"), ("others", metric.n - count, "rest")]),
                )
                for label, count in list(metric.labels.items())[:20]
            ],
        }
        for metric in metrics
        if metric.labels
    ]


def change_rows(report: ReportData) -> dict[str, Any] | None:
    """What changed since the baseline, drawn; None without one."""
    changes = report.changes
    if changes is None:
        return None
    flips = []
    for change in changes.metrics:
        words = ("newly failing", "newly passing") if change.metric.kind == "pass" else ("worse", "better")
        if change.metric.higher_is_better is None:
            words = ("fell", "rose")
        for ids, word, tone in ((change.lost, words[0], "worse"), (change.won, words[1], "better")):
            if ids and (change.metric.is_quality or change.metric.kind == "pass"):
                text = f"{one_line(change.metric.name)}: {counted(len(ids), 'record')} {word}"
                shown = ids[:MOST_IDS]
                more = len(ids) - len(shown)
                flips.append({"tone": tone, "text": text, "ids": shown, "more": f"{more:,}" if more else ""})
    return {
        "notes": changes.notes,
        "rows": [_change_row(change) for change in changes.metrics],
        "lost_word": "lost",
        "won_word": "won",
        "flips": flips,
        "new": changes.new,
        "gone": changes.gone,
    }


def slice_groups(report: ReportData) -> list[dict[str, Any]]:
    """The slices by their keys, each value with its metrics."""
    groups: dict[str, list[dict[str, Any]]] = {}
    left_out: dict[str, int] = {}
    for one in report.slices:
        rows = groups.setdefault(one.by, [])
        if len(rows) >= MOST_ROWS:
            left_out[one.by] = left_out.get(one.by, 0) + 1
            continue
        for place, metric in enumerate(one.metrics):
            chart = (
                interval_chart(Scale(*metric.span), metric.mean, metric.low, metric.high)
                if metric.mean is not None
                else ""
            )
            rows.append(
                {
                    "value": one.value,
                    "span": 0 if place else len(one.metrics),
                    "metric": metric.name,
                    "mean": figure(metric.mean),
                    "chart": chart,
                    "n": f"{metric.n:,}",
                    "skipped": f"{metric.skipped:,}",
                    "errors": f"{metric.errors:,}",
                }
            )
    return [
        {
            "by": by,
            "rows": rows,
            "more": f"{counted(left_out[by], 'more value')} in the file." if by in left_out else "",
        }
        for by, rows in groups.items()
    ]


def trial_rows(report: ReportData) -> list[dict[str, Any]]:
    """How the trials of each record agree, drawn."""
    return [
        {
            "metric": share.metric,
            "always": f"{share.always:,}",
            "sometimes": f"{share.sometimes:,}",
            "never": f"{share.never:,}",
            "wavering": share.wavering,
            "chart": share_chart(
                [
                    ("always", share.always, "pass"),
                    ("sometimes", share.sometimes, "undecided"),
                    ("never", share.never, "fail"),
                ]
            ),
        }
        for share in report.shares
    ]


def _gate_counts(gate: Gate) -> str:
    told = [f"n {gate.n:,}"]
    if gate.errors:
        told.append(counted(gate.errors, "error"))
    if gate.skipped:
        told.append(f"{gate.skipped:,} skipped")
    return " · ".join(told)


def _gate_chart(gate: Gate) -> Any:
    numbers = [one for one in (gate.value, gate.low, gate.high, gate.least, gate.most) if one is not None]
    if gate.value is None or not numbers:
        return ""
    low, high = min(numbers), max(numbers)
    if low < 0 or high > 1:
        low, high = min(low, 0.0), high + (high - low) * 0.1 or 1.0
    else:
        low, high = 0.0, 1.0
    tone = _TONES[gate.verdict]
    return interval_chart(
        Scale(low, high), gate.value, gate.low, gate.high, tone=tone, least=gate.least, most=gate.most
    )


def _of(metric: Metric) -> str:
    better = {True: "higher is better", False: "lower is better"}.get(metric.higher_is_better, "")  # type: ignore[arg-type]
    if metric.kind == "pass":
        better = "share that passes" if metric.is_check else better or "share where it is so"
    return " · ".join(part for part in (metric.ref or metric.evaluator, better) if part)


def _no_interval(metric: Metric) -> str:
    if metric.kind == "label":
        return "labels have no mean"
    return "no interval" if metric.n else "no score"


def _distribution(metric: Metric, scale: Scale) -> dict[str, Any]:
    if metric.kind == "label":
        told = ", ".join(f"{one_line(label, 30)} {count:,}" for label, count in list(metric.labels.items())[:3])
        return {"told": told + ("…" if len(metric.labels) > 3 else "")}
    known = metric.column.known() if metric.column is not None else []
    if not known:
        return {}
    if metric.kind == "pass":
        passed = int(sum(known))
        failed = len(known) - passed
        if not metric.is_check:
            return {"told": f"yes {passed:,}, no {failed:,}"}
        chart = share_chart([("passed", passed, "pass"), ("failed", failed, "fail")])
        return {"distribution": chart, "failed": failed, "told": f"{failed:,} failed" if failed else "all passed"}
    return {
        "distribution": histogram(bins_of(known, scale), 30),
        "told": f"{short(min(known))} to {short(max(known))}",
    }


def _change_row(change: Change) -> dict[str, Any]:
    metric = change.metric
    chart = ""
    if change.difference is not None and change.low is not None and change.high is not None:
        most = max(abs(change.low), abs(change.high), abs(change.difference)) or 1.0
        tone = {"better": "pass", "worse": "fail"}.get(change.direction, "plain") if change.is_clear else "plain"
        chart = interval_chart(Scale(-most, most), change.difference, change.low, change.high, tone=tone, middle=True)
    word = "clear" if change.is_clear else "may be chance"
    if change.not_comparable:
        word = f"not comparable: {change.not_comparable}"
    elif not change.difference:
        word = "the same"
    elif change.low is None and not change.is_clear:
        word = "no interval"
    return {
        "name": metric.name,
        "before": figure(change.before),
        "now": figure(metric.mean),
        "difference": signed(change.difference),
        "direction": change.direction if change.is_clear or change.low is None else "",
        "word": word,
        "chart": chart,
        "lost": f"{len(change.lost):,}",
        "won": f"{len(change.won):,}",
        "paired": f"{change.paired:,}",
    }
