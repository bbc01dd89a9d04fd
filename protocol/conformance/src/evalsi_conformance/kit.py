"""The list of checks by level, and a run of them over one pack.

A level runs only if no check of a lower level failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from evalsi_conformance import behaving, dataset_scope, promptness
from evalsi_conformance.author_file import AuthorFile, read_author_file
from evalsi_conformance.bench import Bench, Settings, Subject
from evalsi_conformance.findings import LEVELS, Fault, Finding, Level, NotChecked, Report
from evalsi_conformance.loading import Loading
from evalsi_conformance.manifest import read_manifest
from evalsi_conformance.pack_process import CannotStart, Program
from evalsi_conformance.questions import questions
from evalsi_conformance.samples import UnreadableSamples, samples_of
from evalsi_conformance.session import Lost
from evalsi_conformance.stability import stable
from evalsi_conformance.starting import program_of
from evalsi_conformance.strangers import strangers
from evalsi_conformance.trusting import Trusting

NAMES: Final[dict[Level, tuple[str, ...]]] = {
    "loads": ("manifest", "hello", "describe", "open", "bye"),
    "behaves": (
        "answers", "scores", "skips", "params", "refusals", "odd-records", "cancel", "ping", "running", "items",
        "close", "aggregate", "replicates", "questions", "strangers",
    ),
    "trustworthy": ("deterministic", "order", "sessions", "range", "failing-judge", "writes", "network"),
    "stable": ("version",),
}  # fmt: skip
PATIENT: Final = Settings()
CHECKS: Final = tuple(name for names in NAMES.values() for name in names)


class Released(NamedTuple):
    """The released pack to compare with, and how to start it."""

    folder: Path
    program: Program


class Unusable(Exception):
    """The released pack cannot be read. The message includes a hint."""


Run = Callable[[], Iterable[Fault]]


def check_pack(
    folder: Path,
    program: Program | None = None,
    *,
    level: Level = "trustworthy",
    against: Released | None = None,
    settings: Settings = PATIENT,
) -> Report:
    """Check a pack.

    Args:
        folder: folder with the plugin.toml.
        program: how to start the pack; by default from its manifest, see `program_of`.
        level: the highest level to check. *stable* is checked if `against` is given.
        against: the released pack to compare with.
        settings: timeouts.

    Raises:
        CannotStart: no program is given, and the kit cannot start the pack.
        Unusable: the released pack cannot be read.
    """
    asked = LEVELS[: LEVELS.index("stable" if against else level) + 1]
    manifest, problems = read_manifest(folder, builtin=settings.builtin)
    author, faults = read_author_file(folder, CHECKS)
    findings = [
        *(Finding("loads", "manifest", "failed", f"plugin.toml: {p.at} {p.what}.", p.hint) for p in problems),
        *(Finding("loads", "manifest", "failed", fault) for fault in faults),
    ]
    try:
        samples = samples_of(folder)
    except UnreadableSamples as error:
        samples = []
        findings.append(Finding("loads", "manifest", "failed", str(error), "Correct the samples."))
    if findings:
        return Report(manifest.name or folder.name, manifest.version, tuple(findings), asked)
    count = len(manifest.evaluators)
    findings.append(Finding("loads", "manifest", "passed", f"{count} evaluator{'s' if count != 1 else ''}"))
    subject = Subject(folder, manifest, program or program_of(folder, manifest), samples, author)
    bench = Bench(subject, settings)
    try:
        for one in _levels(bench, asked, against):
            # Within a level the checks after a failed one still say something; beyond it they would not.
            findings += _found(one, author, bench)
            if any(finding.status == "failed" for finding in findings):
                break
    finally:
        bench.leave()
    return Report(manifest.name, manifest.version, tuple(findings), asked, _notes(author, findings))


class _LevelRun(NamedTuple):
    level: Level
    checks: list[tuple[str, Run]]
    leave: Callable[[], None]


def _levels(bench: Bench, asked: tuple[Level, ...], against: Released | None) -> Iterator[_LevelRun]:
    loading = Loading(bench)
    steps: list[tuple[str, Run]] = [
        ("hello", loading.hello), ("describe", loading.describe), ("open", loading.open), ("bye", loading.bye),
    ]  # fmt: skip
    yield _LevelRun("loads", steps, loading.leave)
    if "behaves" in asked:
        functions = (
            behaving.answers, behaving.scores, behaving.skips, behaving.params, behaving.refusals, behaving.odd,
            behaving.cancel, behaving.ping, promptness.running, promptness.items, behaving.close,
            dataset_scope.aggregates, dataset_scope.replicates, questions, strangers,
        )  # fmt: skip
        named = zip(NAMES["behaves"], functions, strict=True)
        yield _LevelRun("behaves", [(name, _bound(function, bench)) for name, function in named], lambda: None)
    if "trustworthy" in asked:
        trusting = Trusting(bench)
        runs = (
            trusting.deterministic, trusting.order, trusting.sessions, trusting.range, trusting.failing_judge,
            trusting.writes, trusting.network,
        )  # fmt: skip
        yield _LevelRun("trustworthy", list(zip(NAMES["trustworthy"], runs, strict=True)), trusting.leave)
    if against is not None:
        released = _released(against, bench)
        yield _LevelRun("stable", [("version", lambda: stable(bench, released, bench.settings))], lambda: None)


def _found(one: _LevelRun, author: AuthorFile, bench: Bench) -> list[Finding]:
    findings: list[Finding] = []
    try:
        for name, run in one.checks:
            findings += _check(one.level, name, run, author, bench)
            if one.level == "loads" and any(finding.status == "failed" for finding in findings):
                break
    finally:
        one.leave()
    return findings


def _check(level: Level, name: str, run: Run, author: AuthorFile, bench: Bench) -> list[Finding]:
    faults: list[Fault] = []
    try:
        faults.extend(run())
    except NotChecked as why:
        return [Finding(level, name, "unchecked", str(why))]
    except Lost as lost:
        bench.count_lost()
        faults.append(Fault(str(lost), lost.hint))
    except CannotStart as error:
        faults.append(Fault(str(error), "Give the command after --, or build the pack's environment."))
    found = [_judged(level, name, fault, author) for fault in faults]
    return found or [Finding(level, name, "passed")]


def _judged(level: Level, name: str, fault: Fault, author: AuthorFile) -> Finding:
    for waiver in author.waivers:
        if waiver.check == name and waiver.evaluator in ("", fault.evaluator):
            return Finding(level, name, "waived", fault.message, fault.hint, fault.evaluator, waiver.reason)
    return Finding(level, name, "failed", fault.message, fault.hint, fault.evaluator)


def _notes(author: AuthorFile, findings: list[Finding]) -> tuple[str, ...]:
    done = {one.check for one in findings}
    used = {(one.check, one.evaluator) for one in findings if one.status == "waived"}
    return tuple(
        f"the waiver of {one.check}{f' for {one.evaluator}' if one.evaluator else ''} was not needed; take it away."
        for one in author.waivers
        if one.check in done and not any(one.check == check and one.evaluator in ("", who) for check, who in used)
    )


def _released(against: Released, bench: Bench) -> Subject:
    manifest, problems = read_manifest(against.folder, builtin=True)
    if problems:
        raise Unusable(f"The released pack's plugin.toml: {problems[0].at} {problems[0].what}. Name another release.")
    return Subject(against.folder, manifest, against.program, bench.subject.samples, bench.subject.author)


def _bound(function: Callable[[Bench], Iterable[Fault]], bench: Bench) -> Run:
    return lambda: function(bench)
