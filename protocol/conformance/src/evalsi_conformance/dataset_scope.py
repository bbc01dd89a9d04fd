"""The checks *aggregate* and *replicates* for evaluators with scope `dataset` (AGG-1, AGG-2, AGG-3)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from evalsi_conformance.behaving import SPARE
from evalsi_conformance.bench import Bench
from evalsi_conformance.findings import Fault, NotChecked
from evalsi_conformance.outcomes import Outcome, aggregate
from evalsi_conformance.session import Session
from evalsi_protocol.errors import WireError

RESAMPLES: Final = 50
SEEDS: Final = (1, 2, 3, 4)
REL_TOL: Final = 1e-9
"""Tolerance for sums of the same numbers in a different grouping."""
_OLD: Final = "Forget the states as soon as their aggregate is answered, and when the session is closed."


def aggregates(bench: Bench) -> Iterator[Fault]:
    """An `aggregate` covers exactly the states since the last one, however they are split into requests."""
    session = bench.shared()
    states = _states(bench, session)
    fresh = bench.opened()
    try:
        for number, all_states in states.items():
            yield from (
                Fault(what, _OLD, bench.name_of(number))
                for what in _old_states(bench, session, fresh, number, all_states)
            )
    finally:
        fresh.process.kill()


def replicates(bench: Bench) -> Iterator[Fault]:
    """Replicates are numbers, equal for equal seeds and different for different seeds."""
    session = bench.shared()
    for number, states in _states(bench, session).items():
        if len(states) < 2:
            continue
        name = bench.name_of(number)
        drawn = [_replicates(session, number, states, seed) for seed in SEEDS]
        for problem in filter(None, map(_form_fault, drawn)):
            yield Fault(problem, "Answer {metric: [number, …]}, one number for each resample.", name)
            break
        else:
            if _replicates(session, number, states, SEEDS[0]) != drawn[0]:
                what = f"two aggregates with seed {SEEDS[0]} gave different replicates (AGG-2)."
                yield Fault(what, "Let nothing but states and seed decide.", name)
            elif _ignores_seed(session, number, states, drawn):
                what = f"aggregates with the seeds {', '.join(map(str, SEEDS))} gave the same replicates."
                yield Fault(what, "Draw the resamples with a generator that the seed starts.", name)


def _states(bench: Bench, session: Session) -> dict[int, list[Any]]:
    """Return the states of the samples for each evaluator with scope `dataset`."""
    if not bench.datasets:
        raise NotChecked("no evaluator has the scope dataset")
    known = bench.score_samples(session)
    ids = [record["id"] for record in bench.subject.samples]
    return {number: known.states(number, ids) for number in bench.datasets}


def _old_states(bench: Bench, session: Session, fresh: Session, number: int, states: Sequence[Any]) -> Iterator[str]:
    """Compare a process that has already aggregated with a new one."""
    part = list(states[len(states) // 2 :])
    alone = aggregate(fresh, number, part)
    if not _alike(aggregate(session, number, part), alone):
        yield "an aggregate after another one is not of its own states only (AGG-1)."
        return
    whole = bench.wholes[number]
    if not _alike(aggregate(session, number, states), whole):
        yield "a second aggregate of the same states is not the first (AGG-1)."
        return
    # In two portions, and again in one.
    first, rest = states[: len(states) // 2], part
    told = session.ask("aggregate", {"session": number, "states": list(first), "more": True})
    if isinstance(told, WireError) or told.get("states") != len(first):
        yield f"aggregate with more was answered with {told!r:.120}, not with the number of states so far."
        return
    if not _alike(aggregate(session, number, rest), whole):
        yield "states that came in two requests are aggregated to another result than in one (AGG-1)."
        return
    if not _alike(aggregate(session, number, part), alone):
        yield "an aggregate after one in two requests is not of its own states only (AGG-1)."
        return
    # Close a session in the middle of an aggregate.
    opening = bench.opening(SPARE, bench.subject.evaluators[number - 1])
    if isinstance(session.ask("open", opening), WireError):
        return
    session.ask("aggregate", {"session": SPARE, "states": first, "more": True})
    session.ask("close", {"session": SPARE})
    if isinstance(session.ask("open", opening), WireError):
        return
    if not _alike(aggregate(session, SPARE, part), alone):
        yield "a session still has the states of one of its number that was closed (CLO-1)."
    session.ask("close", {"session": SPARE})


def _replicates(session: Session, number: int, states: Sequence[Any], seed: int) -> Any:
    body = {"session": number, "states": list(states), "resamples": RESAMPLES, "seed": seed}
    answer = session.ask("aggregate", body)
    return answer.to_body() if isinstance(answer, WireError) else answer.get("replicates", {})


def _form_fault(drawn: Any) -> str:
    if not isinstance(drawn, Mapping):
        return f"replicates are {drawn!r:.80}, and no map."
    for metric, values in drawn.items():
        if not isinstance(values, list) or not all(_is_number(value) for value in values):
            return f"the replicates of {metric!r:.60} are no list of finite numbers (AGG-3)."
        if len(values) > RESAMPLES:
            return f"{RESAMPLES} resamples were asked for, and {metric!r:.60} has {len(values)} replicates."
    return ""


def _ignores_seed(session: Session, number: int, states: Sequence[Any], drawn: Sequence[Mapping[str, Any]]) -> bool:
    if not drawn[0] or any(one != drawn[0] for one in drawn):
        return False
    if any(len(set(values)) > 1 for values in drawn[0].values()):
        return True
    # All replicates are one number. That is right where the result hardly depends on a single state, as a median.
    whole = aggregate(session, number, states)
    without = [aggregate(session, number, [*states[:place], *states[place + 1 :]]) for place in range(len(states))]
    return sum(not _alike(one, whole) for one in without) * 2 >= len(states)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _alike(one: Outcome, other: Outcome) -> bool:
    """Return whether two outcomes of the whole data are equal up to rounding."""
    if one.kind != "scored" or other.kind != "scored":
        return one.verdict() == other.verdict()
    left, right = _numbers(one), _numbers(other)
    return left.keys() == right.keys() and all(_close(left[name], right[name]) for name in left)


def _numbers(outcome: Outcome) -> dict[str, Any]:
    scores = outcome.payload if isinstance(outcome.payload, list) else []
    return {
        str(one.get("name", "")): next((one[key] for key in ("value", "passed", "label") if key in one), None)
        for one in scores
        if isinstance(one, Mapping)
    }


def _close(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return math.isclose(left, right, rel_tol=REL_TOL, abs_tol=REL_TOL)
    return bool(left == right)
