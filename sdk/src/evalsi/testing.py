"""The harness for authors of evaluators: score in this process, or through a session in memory as in a real run.

`score`, `score_all` and `aggregate` call the evaluator directly; `run_pack` tests what will really travel. Only tests
load this; it must not know the kernel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evalsi.aggregation import Aggregation
from evalsi.context import Context
from evalsi.definition import Definition, Scope, definition_of
from evalsi.item_buffer import Item
from evalsi.judging import AskError
from evalsi.loading import LoadError, from_file, from_module, from_objects
from evalsi.opened import Opened, open_evaluator
from evalsi.record import Record
from evalsi.rehearsal import Answers, PackRefused, Rehearsal, within
from evalsi.score import ERROR, SCORED, SKIPPED, Score
from evalsi.scoring import STATE, score_one, score_one_async
from evalsi_protocol.errors import WireError

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Outcome", "PackRefused", "PackRun", "WrongOutcome", "aggregate", "run_pack", "score", "score_all"]

RECORDS_A_REQUEST = 64


class WrongOutcome(AssertionError):
    """The outcome has no such part; the sentence says what it has."""


@dataclass(frozen=True, slots=True, repr=False)
class Outcome:
    """What became of one record, or of the whole at dataset scope.

    Args:
        kind: "scored", "skipped", "error", or "state" for a record that a dataset-scope evaluator observed.
        scores: of a scored one, in the order returned.
        reason: of a skipped one.
        error: of a failed one: its code, its message and what would mend it.
        state: of an observed one.
    """

    kind: str
    scores: tuple[Score, ...] = ()
    reason: str = ""
    error: WireError | None = None
    state: Any = None

    @property
    def score(self) -> Score:
        """The only score.

        Raises:
            WrongOutcome: there is none, or there are several.
        """
        if len(self.scores) != 1:
            raise WrongOutcome(f"There is not one score, but this: {self!r}")
        return self.scores[0]

    @property
    def value(self) -> float:
        """The number of the only score; raises `WrongOutcome` when it is none."""
        value: float = self._verdict("value")
        return value

    @property
    def passed(self) -> bool:
        """Whether the only score is a pass; raises `WrongOutcome` when it is neither pass nor fail."""
        passed: bool = self._verdict("passed")
        return passed

    @property
    def label(self) -> str:
        """The label of the only score; raises `WrongOutcome` when it is none."""
        label: str = self._verdict("label")
        return label

    def __getitem__(self, name: str) -> Score:
        """The score of this name; raises `WrongOutcome` when there is none."""
        for one in self.scores:
            if one.name == name:
                return one
        raise WrongOutcome(f"There is no score {name!r}, but this: {self!r}")

    def _verdict(self, what: str) -> Any:
        verdict = getattr(self.score, what)
        if verdict is None:
            raise WrongOutcome(f"There is no {what}, but this: {self!r}")
        return verdict

    def __repr__(self) -> str:
        if self.kind == SCORED:
            return f"<scored: {', '.join(map(repr, self.scores))}>"
        if self.kind == SKIPPED:
            return f"<skipped: {self.reason}>"
        return f"<state: {self.state!r}>" if self.error is None else f"<error {self.error.code}: {self.error}>"


@dataclass(frozen=True, slots=True)
class PackRun:
    """What came back from a session.

    Args:
        outcomes: one a record, in order.
        whole: of a dataset-scope evaluator the outcome for all of them, else None.
    """

    outcomes: list[Outcome]
    whole: Outcome | None = None


def score(evaluator: Any, record: Record, /, **params: Any) -> Outcome:
    """Score one record in this process.

    Args:
        evaluator: a function, a class, or where one is: "acme.metrics:tone", "./my_evals.py:polite".
        record: built from keywords.
        params: of the evaluator.

    Raises:
        evalsi.ParamError: the evaluator's constructor refused a value.
        TypeError: a param is missing or unknown, or the evaluator is none of record scope.
    """
    return score_all(evaluator, [record], **params)[0]


def score_all(evaluator: Any, records: Iterable[Record], /, **params: Any) -> list[Outcome]:
    """Score records in this process, one after another, with the evaluator opened once.

    Args and exceptions are those of `score`.
    """
    return [_outcome(kind, payload) for _, _, kind, payload in _items(_opened(evaluator, "record", params), records)]


def aggregate(evaluator: Any, records: Iterable[Record], /, **params: Any) -> Outcome:
    """The outcome of a dataset-scope evaluator for all of the records, in this process.

    A record that it skips is left out, as in a run. A record that it fails on makes the whole that error, where a run
    would count it and go on: in a test it must not be overlooked.

    Args and exceptions are those of `score`.
    """
    opened = _opened(evaluator, "dataset", params)
    outcomes = [_outcome(kind, payload) for _, _, kind, payload in _items(opened, records)]
    for outcome in outcomes:
        if outcome.kind == ERROR:
            return outcome
    aggregation = Aggregation(opened)
    aggregation.add([outcome.state for outcome in outcomes if outcome.kind == STATE])
    whole = aggregation.finish(resamples=0, seed=0)
    return _outcome(whole["outcome"], whole["payload"])


def run_pack(
    pack: str | ModuleType | Iterable[Any],
    evaluator: str,
    records: Iterable[Record],
    params: Mapping[str, Any] | None = None,
    *,
    answers: Answers | None = None,
    timeout_s: float = 30.0,
) -> PackRun:
    """Score records through the host loop that a pack's process runs, over a channel in memory.

    What cannot be sent fails here as it would in a run: a score with an object in its metadata, a state that is no
    JSON, a tuple that comes back as a list.

    Args:
        pack: a module or its import name, a path of a `.py` file, or functions and classes.
        evaluator: the name of one of its evaluators.
        records: built from keywords.
        params: of the evaluator.
        answers: what to answer when it asks the kernel: `{"judge.ask": lambda body: {...}}`.
        timeout_s: for all of it, in seconds.

    Raises:
        PackRefused: the pack cannot be loaded, has no such evaluator, or refused the params.
        TimeoutError: it took longer.
    """
    if not isinstance(evaluator, str):
        raise TypeError(f"evaluator is {evaluator!r}. Give its name: {definition_of(evaluator).name!r}.")
    wires = [record.wire for record in records]
    return within(timeout_s, partial(_run, partial(_load, pack), evaluator, wires, dict(params or {}), answers or {}))


def _run(
    load: Callable[[], dict[str, Definition]],
    evaluator: str,
    records: list[dict[str, Any]],
    params: dict[str, Any],
    answers: Answers,
) -> PackRun:
    rehearsal = Rehearsal(load, answers)
    try:
        rehearsal.greet()
        definition = rehearsal.request("open", {"session": 1, "evaluator": evaluator, "params": params})["evaluator"]
        outcomes = []
        for start in range(0, len(records), RECORDS_A_REQUEST):
            chunk = records[start : start + RECORDS_A_REQUEST]
            rehearsal.request("score", {"sessions": [1], "records": chunk})
            # Outcomes may come in any order.
            items = sorted(rehearsal.taken_items(), key=lambda item: item[1])
            outcomes += [_outcome(kind, payload) for _, _, kind, payload in items]
        whole = None
        if definition["scope"] == "dataset":
            states = [outcome.state for outcome in outcomes if outcome.kind == STATE]
            answer = rehearsal.request("aggregate", {"session": 1, "states": states})
            whole = _outcome(answer["outcome"], answer["payload"])
        rehearsal.request("bye", {})
        return PackRun(outcomes, whole)
    finally:
        rehearsal.close()


def _load(pack: str | ModuleType | Iterable[Any]) -> dict[str, Definition]:
    if isinstance(pack, ModuleType):
        return from_module(pack.__name__)
    if isinstance(pack, str):
        return from_file(Path(pack)) if pack.endswith(".py") else from_module(pack)
    return from_objects(pack)


def _opened(evaluator: Any, scope: Scope, params: dict[str, Any]) -> Opened:
    definition = _found(evaluator) if isinstance(evaluator, str) else definition_of(evaluator)
    if definition.scope != scope:
        right = "aggregate" if definition.scope == "dataset" else "score"
        raise TypeError(f"{definition.name} is an evaluator of {definition.scope} scope. Use evalsi.testing.{right}.")
    return open_evaluator(definition, params, Context(_Nobody()))


def _found(where: str) -> Definition:
    target, colon, attribute = where.rpartition(":")
    if not colon or where.endswith(".py"):
        target, attribute = where, ""
    found = from_file(Path(target), attribute) if target.endswith(".py") else from_module(target, attribute)
    if len(found) > 1:
        raise LoadError(f"{where} has several evaluators: {', '.join(found)}. Name one: {where}:NAME.")
    return next(iter(found.values()))


def _items(opened: Opened, records: Iterable[Record]) -> list[Item]:
    if not opened.is_async:
        return [score_one(1, index, opened, record) for index, record in enumerate(records)]

    async def one_after_another() -> list[Item]:
        return [await score_one_async(1, index, opened, record) for index, record in enumerate(records)]

    # In a thread of its own, as a loop may run in this one already: in a notebook, in an asynchronous test.
    return within(None, lambda: asyncio.run(one_after_another()))


def _outcome(kind: str, payload: Any) -> Outcome:
    if kind == SCORED:
        return Outcome(kind, scores=tuple(Score(**wire) for wire in payload))
    if kind == SKIPPED:
        return Outcome(kind, reason=payload["reason"])
    if kind == STATE:
        return Outcome(kind, state=payload["state"])
    return Outcome(kind, error=WireError.from_body(payload))


class _Nobody:
    """Whoever is asked where no kernel is: it answers that nothing is bound."""

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        from concurrent.futures import Future

        future: Future[dict[str, Any]] = Future()
        mend = f"Use run_pack(…, answers={{{method!r}: …}})."
        future.set_exception(
            AskError(WireError("capability.not_bound", f"Nothing answers {method!r} here.", mend, "config"))
        )
        return future
