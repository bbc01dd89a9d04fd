"""Owns the comparison of two results files from end to end: what it needs, what it finds, what a reader must know.

It must not know flags, nor how a comparison is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError, UsageError
from evalsi_kernel.scores.holm import holm

from .comparability import incomparable
from .difference import Difference, Settings, compare_metric, without_test
from .error_share import Errors, compare_errors
from .excerpts import Excerpt, excerpts
from .gate_changes import gate_changes
from .paired_tests import LARGEST
from .pairs import differing_inputs, differing_references
from .regression import Judged, Watched, judge_all, judge_errors, require_metrics
from .results_lines import ResultsLines
from .run_changes import Change, run_changes
from .side import Items, Side, summaries_of

MAX_NAMED = 5


class Wanted(NamedTuple):
    """What to compare.

    Args:
        base, candidate: paths of results files.
        settings: how.
        metrics: those to compare; none for all that both have.
        cluster_by: the metadata key of records that are correlated; None for the one that both runs were clustered by.
        watched: what to hold against a regression; None for nothing, empty for every metric.
        limit: of how many changed records a metric to tell more.
    """

    base: Path
    candidate: Path
    settings: Settings = Settings()
    metrics: Sequence[str] = ()
    cluster_by: str | None = None
    watched: Sequence[Watched] | None = None
    limit: int = 10


class RunName(NamedTuple):
    """How a reader tells a run from the other one; "" for what a file does not say."""

    path: str
    run_id: str
    model: str
    started_at: str
    status: str
    verdict: str
    commit: str
    branch: str


class Whole(NamedTuple):
    """A metric that has one value a run, or that the summaries alone tell: nothing is paired, so nothing is tested."""

    metric: str
    base: float | None
    candidate: float | None


class Records(NamedTuple):
    """How the records of the two runs match, with the ids of those that do not."""

    both: int
    only_base: int
    only_candidate: int
    input_differs: tuple[str, ...]
    reference_differs: tuple[str, ...]
    only_base_ids: tuple[str, ...] = ()
    only_candidate_ids: tuple[str, ...] = ()


class Comparison(NamedTuple):
    """What was found. `judged` is None where nothing is held against a regression."""

    base: RunName
    candidate: RunName
    settings: Settings
    records: Records
    differences: tuple[Difference, ...]
    errors: Errors
    whole: tuple[Whole, ...]
    changes: tuple[Change, ...]
    notes: tuple[str, ...]
    judged: tuple[Judged, ...] | None
    excerpts: Mapping[tuple[str, int], Excerpt]
    limit: int
    cluster_by: str | None = None

    @property
    def failed(self) -> bool:
        """Whether a regression, or a metric that cannot be told, ends the command with exit code 3."""
        return any(one.fails for one in self.judged or ())

    def flips_of(self, found: Difference) -> tuple[list[Any], list[Any]]:
        """The changed records to show of a metric: lost ones, and won ones."""
        lost, won = found.flips[: found.lost], found.flips[found.lost :]
        return list(lost[: self.limit]), list(won[: self.limit])


class _Metrics(NamedTuple):
    """The metrics of two runs: what is compared, what one run alone has, and what is not of one kind."""

    common: list[str]
    lone: dict[str, str]
    unlike: list[str]


def compare(wanted: Wanted) -> Comparison:
    """Compare two results files.

    Raises:
        UsageError: both files are one, or a metric that is named is not in both.
        ConfigError: a file is no results file, is cut off or newer; or the runs have no metric or no record in common.
    """
    _refuse_one_file(wanted)
    return compare_any(wanted)


def compare_any(wanted: Wanted) -> Comparison:
    """Compare two results files, which may be one and the same; raises as `compare` does."""
    lines = ResultsLines(wanted.base), ResultsLines(wanted.candidate)
    metrics = _metrics(*lines)
    require_metrics("--metric", wanted.metrics, metrics.common, metrics.lone)
    chosen = list(wanted.metrics) or metrics.common
    require_metrics("--fail-on-regression", (one.metric for one in wanted.watched or ()), chosen, metrics.lone)
    if not metrics.common:
        raise ConfigError(
            "The runs have no metric in common.", "Run the same evaluators on both.", code="config.incomparable"
        )
    items = Items()
    keys = [_clustered_by(one) for one in lines]
    if wanted.cluster_by is None and keys[0] == keys[1]:
        wanted = wanted._replace(cluster_by=keys[0])
    base, candidate = (Side(one, items, wanted.cluster_by) for one in lines)
    return _compared(base, candidate, items, wanted, metrics._replace(common=list(dict.fromkeys(chosen))))


def _clustered_by(lines: ResultsLines) -> str | None:
    """The key that a run was clustered by; its trials make no clusters beside the records."""
    summary = lines.head["manifest"].get("summary")
    key = summary.get("cluster_by") if isinstance(summary, dict) else None
    return key if isinstance(key, str) and key not in ("", "id") else None


def _refuse_one_file(wanted: Wanted) -> None:
    paths = wanted.base, wanted.candidate
    if all(map(os.path.exists, paths)) and os.path.samefile(*paths):
        raise UsageError(f"Base and candidate are the same file, {wanted.base}.", "Name two runs.")


def _compared(base: Side, candidate: Side, items: Items, wanted: Wanted, metrics: _Metrics) -> Comparison:
    refused = differing_inputs(base, candidate)
    records = _records(base, candidate, items, refused)
    if len(refused) == records.both:
        why = (
            "Every record that both runs have differs in its input."
            if refused
            else "The runs have no record in common."
        )
        raise ConfigError(why, "Compare runs on the same data.", code="config.incomparable")
    with_values = [one for one in metrics.common if base.columns[one].values or candidate.columns[one].values]
    differences = _corrected(
        [_compared_metric(one, base, candidate, items, refused, settings=wanted.settings) for one in with_values]
    )
    changes = (*gate_changes(base.head, candidate.head), *run_changes(base.manifest, candidate.manifest))
    found = Comparison(
        base=_run_name(base),
        candidate=_run_name(candidate),
        settings=wanted.settings,
        records=records,
        differences=tuple(differences),
        errors=compare_errors(
            base, candidate, items, refused, _evaluators(base, metrics.common), settings=wanted.settings
        ),
        whole=tuple(_whole(one, base, candidate) for one in metrics.common if one not in with_values),
        changes=changes,
        notes=(),
        judged=None,
        excerpts={},
        limit=wanted.limit,
        cluster_by=wanted.cluster_by,
    )
    if wanted.watched is not None:
        unlike = {one.metric for one in differences if one.not_comparable}
        names = [one for one in ([one.metric for one in wanted.watched] or metrics.common) if one not in unlike]
        errors = compare_errors(base, candidate, items, refused, _evaluators(base, names), settings=wanted.settings)
        judged = judge_all(differences, wanted.watched, wanted.settings.alpha)
        found = found._replace(judged=(*judged, *judge_errors(errors, wanted.settings.alpha)))
    shown = {flip.item for one in differences for part in found.flips_of(one) for flip in part}
    return found._replace(
        notes=tuple(_notes(found, base, candidate, metrics)), excerpts=excerpts(base, candidate, shown)
    )


def _compared_metric(
    metric: str, base: Side, candidate: Side, items: Items, refused: set[int], *, settings: Settings
) -> Difference:
    found = compare_metric(metric, base, candidate, items, refused, settings=settings)
    reason = incomparable(metric, base, candidate)
    return without_test(found, reason) if reason else found


def _metrics(base: ResultsLines, candidate: ResultsLines) -> _Metrics:
    sides = summaries_of(base), summaries_of(candidate)
    common = [name for name in sides[0] if name in sides[1]]
    unlike = [name for name in common if sides[0][name]["kind"] != sides[1][name]["kind"]]
    lone = {name: str(base.path) for name in sides[0].keys() - sides[1].keys()}
    lone |= {name: str(candidate.path) for name in sides[1].keys() - sides[0].keys()}
    # A score without a name belongs to an evaluator that never scored.
    return _Metrics([name for name in common if name and name not in unlike], lone, unlike)


def _evaluators(side: Side, metrics: Sequence[str]) -> set[str]:
    """Those that give the metrics."""
    return {side.summaries[one]["evaluator"] for one in metrics}


def _corrected(differences: Sequence[Difference]) -> list[Difference]:
    adjusted = iter(holm([one.tested.p for one in differences if one.tested.p is not None]))
    return [one if one.tested.p is None else one._replace(p_holm=next(adjusted)) for one in differences]


def _records(base: Side, candidate: Side, items: Items, refused: set[int]) -> Records:
    count = len(items.records)
    seen = [bytes(side.seen).ljust(count, b"\0") for side in (base, candidate)]
    both = sum(1 for one, other in zip(*seen, strict=True) if one and other)
    names = [
        tuple(items.records[place] for place in sorted(places))
        for places in (refused, differing_references(base, candidate))
    ]
    lone = [
        tuple(items.records[at] for at in range(count) if seen[one][at] and not seen[1 - one][at]) for one in (0, 1)
    ]
    return Records(both, len(lone[0]), len(lone[1]), *names, *lone)


def _whole(metric: str, base: Side, candidate: Side) -> Whole:
    return Whole(metric, base.summaries[metric].get("mean"), candidate.summaries[metric].get("mean"))


def _run_name(side: Side) -> RunName:
    manifest = side.manifest
    target, source = (manifest.get(key) for key in ("target", "source"))
    target = target if isinstance(target, dict) else {}
    source = source if isinstance(source, dict) else {}
    told = (
        manifest.get("run_id"),
        target.get("model"),
        manifest.get("started_at"),
        manifest.get("status"),
        side.head.get("verdict"),
        source.get("commit"),
        source.get("branch"),
    )
    return RunName(str(side.path), *("" if one is None else str(one) for one in told))


def _notes(found: Comparison, base: Side, candidate: Side, metrics: _Metrics) -> Iterator[str]:
    if base.manifest == candidate.manifest:
        yield "Both files are of one and the same run."
    for name, side in (("base", base), ("candidate", candidate)):
        status = side.manifest.get("status")
        if status not in (None, "complete"):
            yield f"The {name} is {status}: {_error_of(side)}"
    yield from _notes_on_clusters(found, base, candidate)
    yield from _notes_on_data(found, base, candidate)
    for one in found.differences:
        if one.not_comparable:
            yield f"{one.metric} is not comparable: {one.not_comparable}."
        yield from _notes_on_pairs(one)
    lone: dict[str, list[str]] = {}
    for metric, path in metrics.lone.items():
        lone.setdefault(path, []).append(metric or "an evaluator that never scored")
    for path, names in lone.items():
        yield f"Only {path} has {named(sorted(names))}."
    if metrics.unlike:
        yield f"Not of one kind in both runs, so not compared: {named(metrics.unlike)}."
    measured = [one.name for one in found.changes if one.group == "evaluators" and one.base and one.candidate]
    if measured:
        yield f"What measures differs, so a difference may come from it: {named(measured)}."


def _notes_on_clusters(found: Comparison, base: Side, candidate: Side) -> Iterator[str]:
    keys = [_clustered_by(side.lines) for side in (base, candidate)]
    if found.cluster_by is not None:
        count = max((one.clusters or 0 for one in found.differences), default=0)
        as_there = ", as in both runs" if keys == [found.cluster_by] * 2 else ""
        yield f"Records are clustered by {found.cluster_by}{as_there}: {count:,} cluster{'' if count == 1 else 's'}."
    elif any(keys):
        told = [f"the {name} by {key}" for name, key in zip(("base", "candidate"), keys, strict=True) if key]
        yield f"Records count one by one, and were clustered in {' and '.join(told)}: name the key with --cluster-by."


def _notes_on_data(found: Comparison, base: Side, candidate: Side) -> Iterator[str]:
    records = found.records
    datasets = [one if isinstance(one := side.manifest.get("dataset"), dict) else {} for side in (base, candidate)]
    hashes = [str(one.get("sha256") or "") for one in datasets]
    # Answers that were recorded are a part of the data, so another hash alone says little; it stands among the changes.
    unlike = records.only_base + records.only_candidate + len(records.input_differs) + len(records.reference_differs)
    if unlike and all(hashes) and hashes[0] != hashes[1]:
        sources = [str(one.get("source") or "") for one in datasets]
        yield f"The data differ: {sources[0]} ({hashes[0][:12]}) and {sources[1]} ({hashes[1][:12]})."
    for name, ids in (("base", records.only_base_ids), ("candidate", records.only_candidate_ids)):
        if ids:
            yield f"{_records_text(len(ids))} only in the {name}: {named(ids)}."
    if records.input_differs:
        yield (
            f"{_records_text(len(records.input_differs))} with another input, so not paired: "
            f"{named(records.input_differs)}."
        )
    if records.reference_differs:
        yield (
            f"{_records_text(len(records.reference_differs))} with another reference, which may move a score: "
            f"{named(records.reference_differs)}."
        )


def _notes_on_pairs(found: Difference) -> Iterator[str]:
    if found.is_too_large:
        yield f"{found.metric}: values beyond {LARGEST:g} cannot be compared."
    parts = []
    for name, left in (("base", found.left_base), ("candidate", found.left_candidate)):
        outcomes = {
            "failed": left.errors,
            "skipped": left.skipped,
            "not answered": left.cancelled,
            "absent": left.absent,
        }
        told = [f"{count:,} {what}" for what, count in outcomes.items() if count]
        parts += [f"{', '.join(told)} in the {name}"] if told else []
    if parts:
        yield f"{found.metric}: {found.pairs:,} pairs; not paired: {'; '.join(parts)}."


def _error_of(side: Side) -> str:
    error = side.manifest.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    return str(message) if message else "only what it scored is compared."


def _records_text(count: int) -> str:
    return f"{count:,} record{'' if count == 1 else 's'}"


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - MAX_NAMED
    return ", ".join([*names[:MAX_NAMED], *([f"and {more:,} more"] if more > 0 else [])])
