"""Owns the report in Markdown: for a job's summary or a comment, the verdict and what changed first.

It must not know how a results file is read. Records are shown as long as all of it stays below `MAX_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .changes import Change
from .columns import CANCELLED, ERROR, SKIPPED
from .details import Text
from .expenses import expenses, total_usd
from .figures import counted, figure, interval, run_time, signed
from .gate_words import GATE_WORDS, Gate
from .markdown_text import code, fenced, in_html, plain, table
from .overview import failed_rows
from .provenance_facts import judge_name, short_facts, target_name
from .reasons import Reasons
from .record_view import RecordView, record_view
from .report import ReportData

MAX_BYTES = 58_000
_LONGEST = 1_500
_MOST_REASONS = 10
_MOST_IDS = 15
_MOST_FLIPS = 10
_MOST_ROWS = 60
_SIGNS = {"pass": "✓", "fail": "✗", "undecided": "?", "not applicable": "–"}


def markdown_page(report: ReportData) -> str:
    """The report as Markdown of at most some 60 kB."""
    ending = _ending(report)
    room = MAX_BYTES - len(ending.encode())
    shown: list[str] = []
    for part in filter(None, _parts(report)):
        room -= len(part.encode()) + 2
        if room < 0:
            shown.append("The rest did not fit here; `-o report.html` shows all.")
            break
        shown.append(part)
    page = "\n\n".join(shown)
    records = _records(report, room)
    return "\n\n".join(part for part in (page, records, ending) if part) + "\n"


def _parts(report: ReportData) -> Iterator[str]:
    headline = report.headline
    yield f"## {_SIGNS.get(headline.verdict, '')} {headline.word}: {plain(report.title)}".replace("##  ", "## ")
    yield f"**{plain(headline.sentence, 900)}**"
    if headline.since:
        yield plain(headline.since, 900)
    yield " · ".join(_counts(report))
    if headline.notices:
        yield "\n".join(f"> {plain(notice, 700)}  " for notice in headline.notices[:8])
    yield from _changes(report)
    if report.gates:
        yield "### Gates"
        yield _gates(report.gates)
    yield "### Metrics"
    yield _metrics(report)
    if report.shares:
        yield "### Trials"
        cells = [
            [plain(one.metric), f"{one.always:,}", f"{one.sometimes:,}", f"{one.never:,}", _ids(one.wavering)]
            for one in report.shares
        ]
        yield table(["metric", "always pass", "sometimes", "never", "waver"], cells, (1, 2, 3))
    yield from _reasons("Errors", report.folded.errors)
    yield from _reasons("Skipped", report.folded.skips)
    yield from _slices(report)


def _counts(report: ReportData) -> Iterator[str]:
    folded = report.folded
    items = "item" if report.trials > 1 else "record"
    yield counted(len(folded.rows), items)
    if any(metric.is_check for metric in report.metrics):
        yield f"{failed_rows(report):,} failed a check"
    yield f"{folded.rows_with(ERROR):,} with errors"
    yield f"{folded.rows_with(SKIPPED):,} with skips"
    if cancelled := folded.rows_with(CANCELLED):
        yield f"{cancelled:,} not done"
    if (cost := total_usd(folded)) is not None:
        yield f"cost {plain(cost)}"
    if duration := run_time(report.manifest):
        yield duration
    for name, text in (("target", target_name(report.manifest)), ("judge", judge_name(report.manifest))):
        if text:
            yield f"{name} {code(text, 60)}"


def _changes(report: ReportData) -> Iterator[str]:
    changes = report.changes
    if changes is None:
        return
    yield f"### What changed against {code(report.baseline)}"
    if changes.notes:
        yield "\n".join(f"> {plain(note)}  " for note in changes.notes)
    rows = [
        [
            plain(change.metric.name),
            figure(change.before),
            figure(change.metric.mean),
            f"{_arrow(change)} {signed(change.difference)} {_clearly(change)}".strip(),
            "–" if change.low is None else f"[{signed(change.low)}, {signed(change.high)}]",
            f"{len(change.lost):,}",
            f"{len(change.won):,}",
            f"{change.paired:,}",
        ]
        for change in changes.metrics[:_MOST_ROWS]
    ]
    if rows:
        header = ["metric", "before", "now", "difference", "95 % interval", "lost", "won", "pairs"]
        yield table(header, rows, (1, 2, 3, 4, 5, 6, 7))
    flips = [
        f"- {plain(change.metric.name)}, {word}: {_ids(ids)}"
        for change in changes.metrics
        if change.metric.is_quality
        for word, ids in (("**lost**", change.lost), ("won", change.won))
        if ids
    ]
    yield "\n".join(flips[:_MOST_FLIPS])
    if len(flips) > _MOST_FLIPS:
        yield f"{counted(len(flips) - _MOST_FLIPS, 'more list')} of records that changed: `-o report.html` shows all."
    for word, names in (("Only in this run", changes.new), ("Only in the baseline", changes.gone)):
        if names:
            yield f"{word}: {', '.join(plain(name) for name in names)}."


def _arrow(change: Change) -> str:
    if not change.is_clear:
        return ""
    return {"better": "▲", "worse": "▼"}.get(change.direction, "")


def _clearly(change: Change) -> str:
    if change.not_comparable:
        return f"(not comparable: {plain(change.not_comparable)})"
    return f"**{change.direction}**" if change.is_clear and change.direction in ("better", "worse") else ""


def _gates(gates: Sequence[Gate]) -> str:
    rows = [
        [
            f"{_SIGNS[gate.verdict]} {GATE_WORDS[gate.verdict]}",
            plain(gate.metric) + (f" where {plain(gate.slice)}" if gate.slice else ""),
            plain(gate.asks),
            f"**{gate.shown}**",
            interval(gate.low, gate.high),
            f"{gate.n:,}",
            plain(gate.reason, 300) if gate.verdict != "pass" else "",
        ]
        for gate in gates[:_MOST_ROWS]
    ]
    return table(["verdict", "gate", "asks for", "is", "interval", "n", "reason"], rows, (3, 4, 5))


def _metrics(report: ReportData) -> str:
    rows = [
        [
            plain(metric.name),
            f"{figure(metric.mean)}{f' {plain(metric.unit)}' if metric.unit else ''}",
            interval(metric.low, metric.high),
            f"{metric.n:,}",
            f"{metric.skipped:,}",
            f"**{metric.errors:,}**" if metric.errors else "0",
        ]
        for metric in report.metrics[:_MOST_ROWS]
    ]
    shown = table(["metric", "mean", "interval", "n", "skipped", "errors"], rows, (1, 2, 3, 4, 5))
    labels = [
        f"- {plain(metric.name)}: "
        + ", ".join(f"{plain(label, 60)} {count:,}" for label, count in list(metric.labels.items())[:12])
        for metric in report.metrics[:_MOST_ROWS]
        if metric.labels
    ]
    return "\n".join([shown, "", *labels]) if labels else shown


def _reasons(title: str, reasons: Reasons) -> Iterator[str]:
    groups = reasons.groups
    if not groups:
        return
    yield f"### {title}"
    rows = [
        [
            f"{group.records or group.count:,}",
            plain(group.message, 240) + (f" {code(group.code)}" if group.code else ""),
            plain(", ".join(group.evaluators), 120),
            _ids(group.examples[:3]),
        ]
        for group in groups[:_MOST_REASONS]
    ]
    yield table(["records", "why", "evaluators", "for instance"], rows, (0,))
    if len(groups) > _MOST_REASONS:
        yield f"{counted(len(groups) - _MOST_REASONS, 'more reason')} in the results file."


def _slices(report: ReportData) -> Iterator[str]:
    rows = [
        [
            plain(one.by),
            plain(one.value),
            plain(metric.name),
            figure(metric.mean),
            interval(metric.low, metric.high),
            f"{metric.n:,}",
            f"{metric.errors:,}",
        ]
        for one in report.slices
        for metric in one.metrics
    ]
    if rows:
        yield "### Slices"
        yield table(["by", "value", "metric", "mean", "interval", "n", "errors"], rows[:_MOST_ROWS], (3, 4, 5, 6))
    if len(rows) > _MOST_ROWS:
        yield f"{counted(len(rows) - _MOST_ROWS, 'more row')} in the results file."


def _records(report: ReportData, room_bytes: int) -> str:
    """The worst records, as many as fit."""
    title = "### What failed, and why" if failed_rows(report) else "### Lowest-scoring records"
    shown: list[str] = []
    for row in report.worst:
        text = _record(record_view(report, row, _LONGEST))
        room_bytes -= len(text.encode()) + 2
        if room_bytes < 200:
            break
        shown.append(text)
    if not shown:
        return ""
    left_out = len(report.worst) - len(shown)
    more = [f"{counted(left_out, 'more record')} did not fit here; `-o report.html` shows all."] if left_out else []
    return "\n\n".join([title, *shown, *more])


def _record(record: RecordView) -> str:
    chips = " · ".join(f"{in_html(chip.name)} <b>{in_html(chip.text)}</b>" for chip in record.chips)
    trial = f" ({record.trial})" if record.trial else ""
    lines = [f"<details><summary><b>{in_html(record.id)}</b>{trial} · {chips}</summary>"]
    if record.failed:
        lines.append(plain(record.failed, 700))
    lines += [f"**{one.label}**\n\n{_fenced(one.shown)}" for one in record.texts if one.kind != "metadata"]
    for said in record.said:
        lines.append(f"**{plain(said.name)}**: {plain(said.text)}{f' ({said.took})' if said.took else ''}")
        lines += [_fenced(why) for why in said.why]
    return "\n\n".join([*lines, "</details>"])


def _fenced(text: Text) -> str:
    more = f"\n\n*{counted(text.missing, 'more character')} in the results file.*" if text.missing else ""
    return f"{fenced(text.text)}{more}"


def _ids(ids: Sequence[str]) -> str:
    shown = ", ".join(code(one, 60) for one in ids[:_MOST_IDS])
    more = len(ids) - _MOST_IDS
    return f"{shown} and {more:,} more" if more > 0 else shown


def _ending(report: ReportData) -> str:
    facts = [f"- {plain(fact.of.lower())} {plain(fact.label)}: {plain(fact.text)}" for fact in expenses(report.folded)]
    facts += [f"- {name}: {plain(text)}" for name, text in short_facts(report)]
    withheld = (
        "Inputs, outputs or both are withheld by `--redact`, with all that may quote them.\n\n"
        if report.redaction.any
        else ""
    )
    return f"{withheld}<details><summary>What ran, and what it took</summary>\n\n" + "\n".join(facts) + "\n\n</details>"
