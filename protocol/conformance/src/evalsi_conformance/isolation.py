"""The check *sessions*: concurrent sessions with different params do not affect each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault, NotChecked
from evalsi_conformance.outcomes import Outcome, aggregate, score
from evalsi_conformance.schema_values import other_values
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

FIRST: Final = 2_000_000
"""The first session id with other params; lower ids are used by other checks."""
MOST_VARIANTS: Final = 8
_HINT: Final = "Keep what params set in the session's own object, not in a module or a library's global state."

Results = dict[str, tuple[Any, ...]]


class Variant(NamedTuple):
    """An evaluator with other params than its usual ones.

    Args:
        number: session id.
        place: id of the evaluator's usual session.
        params: params of the session.
    """

    number: int
    place: int
    params: Mapping[str, Any]


class Alone(NamedTuple):
    """The outcomes of an evaluator with other params, scored directly after opening."""

    variant: Variant
    results: Results


def sessions(bench: Bench, *, behind_walls: bool) -> Iterator[Fault]:
    """Open evaluators with several sets of params in one process, score in turn, and compare with each one alone.

    In the shared process the usual params come first, in a new one the others do. So both state that the last session
    sets and state that the first one sets are found.
    """
    variants = list(_variants(bench))
    if not variants:
        raise NotChecked("no evaluator has a param for which another value can be made up")
    usual = _usual(bench)
    session = bench.greeted(behind_walls=behind_walls)
    try:
        opened = [(one, _opened(bench, session, one)) for one in variants]
        alone = [Alone(one, found) for one, found in opened if found is not None]
        for number, evaluator in enumerate(bench.subject.evaluators, 1):
            session.ask("open", bench.opening(number, evaluator))
        yield from _compared(bench, session, usual, alone)
    finally:
        session.process.kill()
    session = bench.shared()
    try:
        for one, results in alone:
            again = _opened(bench, session, one)
            if again is not None and again != results:
                yield _fault(bench, one.place, one.params, results, again)
        yield from _compared(bench, session, usual, alone)
    finally:
        if not session.is_over:
            for one, _ in alone:
                session.ask("close", {"session": one.number})


def _variants(bench: Bench) -> Iterator[Variant]:
    number = FIRST
    for place, evaluator in enumerate(bench.subject.evaluators, 1):
        usual = bench.subject.params_of(evaluator)
        for params in _other_params(bench, evaluator, usual):
            yield Variant(number, place, params)
            number += 1


def _other_params(bench: Bench, evaluator: Mapping[str, Any], usual: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Sets of params that differ from the usual ones: the author's, all others at once, then one param at a time."""
    sets = [dict(one) for one in bench.subject.others_of(evaluator)]
    changes: dict[str, list[Any]] = {}
    for name, part in evaluator.get("params", {}).get("properties", {}).items():
        used = usual.get(name, part.get("default") if isinstance(part, Mapping) else None)
        if values := [value for value in other_values(part) if value != used]:
            changes[name] = values
    if len(changes) > 1:
        sets.append({**usual, **{name: values[0] for name, values in changes.items()}})
    for turn in range(max(map(len, changes.values()), default=0)):
        sets += [{**usual, name: values[turn]} for name, values in changes.items() if turn < len(values)]
    return sets[:MOST_VARIANTS]


def _usual(bench: Bench) -> dict[int, Results]:
    known = bench.score_samples(bench.shared())
    return {n: _results(known.of(n), bench.wholes.get(n)) for n in bench.sessions}


def _opened(bench: Bench, session: Session, one: Variant) -> Results | None:
    """Open a session with other params and score with it at once; None where the evaluator refuses these params."""
    evaluator = bench.subject.evaluators[one.place - 1]
    body = {"session": one.number, "evaluator": evaluator["name"], "params": dict(one.params)}
    if isinstance(session.ask("open", body), WireError):
        return None
    return _scored(bench, session, {one.number: one.place}, 16)[one.number]


def _scored(bench: Bench, session: Session, places: Mapping[int, int], per_request: int) -> dict[int, Results]:
    """Score the samples with sessions, given as session id → index of the evaluator."""
    found = score(session, list(places), bench.subject.samples, per_request)
    ids = [record["id"] for record in bench.subject.samples]
    return {
        number: _results(
            found.of(number),
            aggregate(session, number, found.states(number, ids)) if place in bench.datasets else None,
        )
        for number, place in places.items()
    }


def _compared(bench: Bench, session: Session, usual: Mapping[int, Results], alone: Sequence[Alone]) -> Iterator[Fault]:
    """Score with all sessions record by record, so that they take turns, and compare."""
    places = {one.number: one.place for one, _ in alone} | {number: number for number in usual}
    found = _scored(bench, session, places, 1)
    for one, results in alone:
        if found[one.number] != results:
            yield _fault(bench, one.place, one.params, results, found[one.number])
    for number, results in usual.items():
        if found[number] != results:
            evaluator = bench.subject.evaluators[number - 1]
            yield _fault(bench, number, bench.subject.params_of(evaluator), results, found[number])


def _results(outcomes: Mapping[str, Outcome], whole: Outcome | None) -> Results:
    return {
        **{record: outcome.verdict() for record, outcome in outcomes.items()},
        **({"the whole data": whole.verdict()} if whole else {}),
    }


def _fault(bench: Bench, place: int, params: Mapping[str, Any], alone: Results, beside: Results) -> Fault:
    record = next(one for one in alone.keys() | beside.keys() if alone.get(one) != beside.get(one))
    what = (
        f"with {dict(params)!r:.160} the record {record} is {_shown(alone.get(record))} alone, and "
        f"{_shown(beside.get(record))} beside a session with other params."
    )
    return Fault(what, _HINT, bench.name_of(place))


def _shown(verdict: tuple[Any, ...] | None) -> str:
    return "without an outcome" if verdict is None else f"{verdict!r:.120}"
