"""Owns the first thing that a report says: the verdict in a word and a sentence, and what to know before believing it.

It must not know a form of a report.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from evalsi_kernel.results.findings import cut_off_findings

from .changes import Changes
from .columns import CANCELLED, ERROR
from .figures import counted, figure
from .folding import Folded
from .gate_words import Gate, gates_sentence
from .metrics import Metric
from .shown_text import one_line
from .values import count, known_count, number

_MOST_NAMES = 5
NOT_FINISHED = "Not finished"
_WORDS = {"pass": "Passed", "fail": "Failed", "undecided": "Undecided"}


class Headline(NamedTuple):
    """The verdict.

    Args:
        verdict: pass, fail, undecided or none.
        word: it, for a person.
        sentence: why, or what ran where there are no gates.
        since: what changed since a baseline; "" without one.
        notices: what to know before believing the numbers, each a sentence.
    """

    verdict: str
    word: str
    sentence: str
    since: str
    notices: tuple[str, ...]


def headline_of(
    folded: Folded, metrics: Sequence[Metric], gates: Sequence[Gate], changes: Changes | None, baseline: str
) -> Headline:
    """Say what came of the run."""
    verdict = folded.head.verdict if folded.head.verdict in _WORDS else "none"
    if _is_unfinished(folded):
        # What its gates say of a part is no verdict on the whole.
        sentence = _what_is_done(folded, gates)
        return Headline("none", NOT_FINISHED, sentence, _since(changes, baseline), tuple(_notices(folded, metrics)))
    if verdict == "none":
        word = "Error" if _counts_as_error(folded) else "Scored"
        sentence = _what_ran(folded, metrics)
    else:
        word = _WORDS[verdict]
        sentence = f"{_upper(gates_sentence(gates))}."
        first = next((gate for gate in gates if gate.verdict == verdict), None)
        if first is not None and verdict != "pass" and first.reason:
            named = first.reason if first.metric in first.reason else f"{first.metric}: {_lower(first.reason)}"
            sentence = f"{sentence} {named.rstrip('.')}."
    return Headline(verdict, word, sentence, _since(changes, baseline), tuple(_notices(folded, metrics)))


def _since(changes: Changes | None, baseline: str) -> str:
    """The metrics that clearly changed, those that are worse first."""
    if changes is None:
        return ""
    told = []
    for direction in ("worse", "better", "other"):
        for change in changes.metrics:
            if change.is_clear and change.direction == direction:
                word = "changed" if direction == "other" else direction
                told.append(f"{one_line(change.metric.name)} {word} by {figure(abs(change.difference or 0.0))}")
    unlike = [f"{one_line(one.metric.name)} ({one.not_comparable})" for one in changes.metrics if one.not_comparable]
    if unlike:
        told.append(f"not comparable: {', '.join(unlike[:_MOST_NAMES])}")
    compared = "no metric changed clearly" if changes.metrics else "no metric is in both files"
    since = f"Since {baseline}: {', '.join(told) or compared}."
    return f"{since} {changes.errors}." if changes.errors else since


def _what_ran(folded: Folded, metrics: Sequence[Metric]) -> str:
    what = f"{counted(folded.records or len(folded.rows), 'record')}, {counted(len(metrics), 'metric')}."
    return f"{what} No gates were asked for, so there is no verdict."


def _what_is_done(folded: Folded, gates: Sequence[Gate]) -> str:
    items = "item" if max(folded.rows.trials, default=1) > 1 else "record"
    rows, cancelled = len(folded.rows), folded.rows_with(CANCELLED)
    sentence = f"{rows - cancelled:,} of {counted(rows, items)} {'is' if rows - cancelled == 1 else 'are'} done."
    return f"{sentence} Of these, {_lower(gates_sentence(gates))}." if gates else sentence


def _notices(folded: Folded, metrics: Sequence[Metric]) -> Iterator[str]:
    manifest = folded.head.manifest
    status, error = _status(folded), manifest.get("error")
    told = one_line(str(error.get("message") if isinstance(error, dict) else error), 600) if error else ""
    if status == "partial":
        yield f"The run was stopped before its end: what was finished is shown. {told}".strip()
    elif status not in ("complete", "", "None"):
        yield f"The run did not come to its end ({one_line(status)}). {told}".strip()
    state = str(manifest.get("state") or "")
    if _counts_as_error(folded):
        yield "The run came to its end and counts as an error, since something could not be scored at all."
    elif state in ("error", "cancelled"):
        yield f"The run ended as {state}; the same command continues it."
    stopped = manifest.get("stopped_early")
    if isinstance(stopped, dict):
        yield _stopped_early(stopped)
    for metric in metrics:
        unscored = metric.errors + metric.skipped + metric.cancelled
        if not metric.n and unscored:
            yield f"{one_line(metric.name)} has no score at all: {_why(metric)}."
    yield from _incomplete_replies(manifest.get("target_usage"))
    failed = [name for name, marks in folded.marks.items() if marks.count(ERROR)]
    if failed:
        errors = counted(folded.rows_with(ERROR), "item" if max(folded.rows.trials) > 1 else "record")
        told = f"{errors} of {len(folded.rows):,} ended as errors of {_listed(failed)}; no mean counts them."
        yield f"{told} {_as_failures(metrics)}".rstrip()
    if not folded.rows:
        yield "The file holds no record."


def _incomplete_replies(usage: Any) -> Iterator[str]:
    """How many replies of a run's target were cut off or refused; older files do not say."""
    if isinstance(usage, dict):
        replies, truncated, filtered = (count(usage.get(name)) for name in ("replies", "truncated", "filtered"))
        yield from (one.message for one in cut_off_findings("the target", replies, truncated, filtered, ""))


def _as_failures(metrics: Sequence[Metric]) -> str:
    """The least that pass/fail metrics could be, had the records that ended as errors been scored."""
    least = [
        f"{one_line(metric.name)} {figure(metric.mean * metric.n / (metric.n + metric.errors))}"
        for metric in metrics
        if metric.kind == "pass"
        and metric.higher_is_better is not False
        and metric.column
        and metric.errors
        and metric.mean
    ]
    return f"Had they failed: {', '.join(least[:_MOST_NAMES])}." if least else ""


def _listed(names: Sequence[str]) -> str:
    shown = [one_line(name) for name in names[:_MOST_NAMES]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def _why(metric: Metric) -> str:
    counts = ((metric.errors, "failed"), (metric.skipped, "skipped"), (metric.cancelled, "not answered"))
    return ", ".join(f"{counted(count, 'record')} {word}" for count, word in counts if count)


def _stopped_early(stopped: dict[str, Any]) -> str:
    rate, items, of = (
        number(stopped.get("error_rate")),
        known_count(stopped.get("items")),
        known_count(stopped.get("of")),
    )
    at = f" at an error rate of {rate:g}" if rate is not None else ""
    told = f" after {items:,} of {of:,} items" if items is not None and of is not None else ""
    return f"The run stopped by itself{told}, since its gates were decided{at}."


def _counts_as_error(folded: Folded) -> bool:
    """Whether a run came to its own end and is an error all the same."""
    manifest = folded.head.manifest
    return manifest.get("state") == "error" and _status(folded) == "complete" and not manifest.get("error")


def _is_unfinished(folded: Folded) -> bool:
    """Whether there is more to do: it was stopped, met an error on its way, or could not ask a model."""
    status, state = _status(folded), folded.head.manifest.get("state")
    is_open = status in ("partial", "failed", "incomplete") or state in ("error", "cancelled")
    return is_open and not _counts_as_error(folded)


def _status(folded: Folded) -> str:
    return str(folded.head.manifest.get("status") or "")


def _lower(sentence: str) -> str:
    """A sentence behind a colon; a name in capitals stays."""
    return sentence if sentence[1:2].isupper() else sentence[:1].lower() + sentence[1:]


def _upper(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
