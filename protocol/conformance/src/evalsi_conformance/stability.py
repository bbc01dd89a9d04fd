"""The level *stable*: if scores differ from the released pack, the evaluator's version differs too."""

from __future__ import annotations

from collections.abc import Iterator

from evalsi_conformance.bench import Bench, Settings, Subject
from evalsi_conformance.findings import Fault
from evalsi_conformance.outcomes import Outcome, score


def stable(bench: Bench, released: Subject, settings: Settings) -> Iterator[Fault]:
    """Evaluators with the same version as in the released pack give the same scores."""
    known = bench.score_samples(bench.shared())
    new = {str(one["name"]): (number, one) for number, one in enumerate(bench.subject.evaluators, 1)}
    old_versions = {str(one["name"]): str(one["version"]) for one in released.evaluators}
    gone = sorted(old_versions.keys() - new.keys())
    if gone and bench.subject.manifest.version == released.manifest.version:
        yield Fault(f"{', '.join(gone)} went, and the pack's version is the same.", "Raise the pack's version.")
    both = {name: number for name, (number, one) in new.items() if old_versions.get(name) == str(one["version"])}
    old = Bench(_only(released, both), settings)
    if not both:
        return
    try:
        session = old.opened()
        scoring = score(session, old.sessions, bench.subject.samples)
        wholes = old.aggregates(session, scoring)
        session.process.kill()
    finally:
        old.leave()
    for old_number, evaluator in enumerate(old.subject.evaluators, 1):
        number = both[str(evaluator["name"])]
        before = {**scoring.of(old_number), **_whole(wholes.get(old_number))}
        after = {**known.of(number), **_whole(bench.wholes.get(number))}
        differing = [one for one in before if one in after and before[one].verdict() != after[one].verdict()]
        if differing:
            one = differing[0]
            what = (
                f"{len(differing)} of {len(before)} samples changed and the version is still {evaluator['version']}: "
                f"{one} was {before[one].shown()}, and is {after[one].shown()}."
            )
            yield Fault(what, "Raise the evaluator's version.", str(evaluator["name"]))


def _only(released: Subject, names: dict[str, int]) -> Subject:
    """Return the released pack with only the evaluators that both have in the same version."""
    kept = tuple(one for one in released.evaluators if one["name"] in names)
    return released._replace(manifest=released.manifest._replace(evaluators=kept))


def _whole(outcome: Outcome | None) -> dict[str, Outcome]:
    return {} if outcome is None else {"the whole data": outcome}
