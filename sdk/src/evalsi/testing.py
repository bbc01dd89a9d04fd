"""Test harness for evaluators.

`score`, `score_all` and `aggregate` call the evaluator directly. `run_pack` runs it through a session in memory, as in
a real run. `Bench` does both with a scripted judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from evalsi.aggregation import Aggregation
from evalsi.context import Context
from evalsi.definition import Definition, Scope, definition_of
from evalsi.item_buffer import Item
from evalsi.judging import Question
from evalsi.loading import LoadError, from_file, from_module, from_objects
from evalsi.opened import Opened, open_evaluator
from evalsi.outcome import Outcome, PackRun, WrongOutcome, outcome_of
from evalsi.record import Record
from evalsi.rehearsal import Answers, PackRefused, Rehearsal, within
from evalsi.score import ERROR
from evalsi.scoring import STATE, score_one, score_one_async
from evalsi.stand_in import Embed, ImpossibleReply, Judge, StandIn, failure

__all__ = [
    "Bench",
    "ImpossibleReply",
    "Outcome",
    "PackRefused",
    "PackRun",
    "WrongOutcome",
    "aggregate",
    "failure",
    "run_pack",
    "score",
    "score_all",
]

RECORDS_A_REQUEST = 64
Pack = str | ModuleType | Iterable[Any]


class Bench:
    """Test evaluators that call models: `Bench(judge=[{"score": 4}]).score(evaluator, record)`.

    Args:
        judge: a function from a question to its answer, or a list of answers in order. An answer is a JSON value that
            matches the question's schema, a text if there is no schema, a `JudgeReply`, or a returned or raised
            `failure`. An answer that no judge could give fails the test.
        embed: a function from a text to its vector.
    """

    def __init__(self, *, judge: Judge | None = None, embed: Embed | None = None) -> None:
        self._stand_in = StandIn(judge, embed)

    @property
    def questions(self) -> list[Question]:
        """The questions to the judge so far, in order."""
        return self._stand_in.questions

    @property
    def texts(self) -> list[str]:
        """The texts embedded so far, in order."""
        return self._stand_in.texts

    def score(self, evaluator: Any, record: Record, /, **params: Any) -> Outcome:
        """Score one record with this judge. See the function `score`."""
        return self.score_all(evaluator, [record], **params)[0]

    def score_all(self, evaluator: Any, records: Iterable[Record], /, **params: Any) -> list[Outcome]:
        """Score records with this judge. See the function `score_all`."""
        return self._outcomes(_opened(evaluator, "record", params, self._stand_in), records)

    def aggregate(self, evaluator: Any, records: Iterable[Record], /, **params: Any) -> Outcome:
        """Score a data set with this judge. See the function `aggregate`."""
        opened = _opened(evaluator, "dataset", params, self._stand_in)
        outcomes = self._outcomes(opened, records)
        for outcome in outcomes:
            if outcome.kind == ERROR:
                return outcome
        aggregation = Aggregation(opened)
        aggregation.add([outcome.state for outcome in outcomes if outcome.kind == STATE])
        whole = aggregation.finish(resamples=0, seed=0)
        return outcome_of(whole["outcome"], whole["payload"])

    def run_pack(
        self,
        pack: Pack,
        evaluator: str,
        records: Iterable[Record],
        params: Mapping[str, Any] | None = None,
        *,
        answers: Answers | None = None,
        timeout_s: float = 30.0,
    ) -> PackRun:
        """Score records through a session, with this judge. See the function `run_pack`."""
        if not isinstance(evaluator, str):
            raise TypeError(f"evaluator is {evaluator!r}. Pass its name: {definition_of(evaluator).name!r}.")
        wires = [record.wire for record in records]
        answering = {**self._stand_in.answers, **(answers or {})}
        return within(timeout_s, partial(_run, partial(_load, pack), evaluator, wires, dict(params or {}), answering))

    def _outcomes(self, opened: Opened, records: Iterable[Record]) -> list[Outcome]:
        items = _items(opened, records)
        self._stand_in.raise_fault()
        return [outcome_of(kind, payload) for _, _, kind, payload in items]


def score(evaluator: Any, record: Record, /, **params: Any) -> Outcome:
    """Score one record in this process.

    Args:
        evaluator: a function, a class, or its location: "acme.metrics:tone", "./my_evals.py:polite".
        record: the record.
        params: params of the evaluator.

    Raises:
        evalsi.ParamError: the evaluator's constructor rejected a value.
        TypeError: a param is missing or unknown, or the evaluator is not of record scope.
    """
    return Bench().score(evaluator, record, **params)


def score_all(evaluator: Any, records: Iterable[Record], /, **params: Any) -> list[Outcome]:
    """Score records in this process, one after another, with the evaluator opened once. See `score`."""
    return Bench().score_all(evaluator, records, **params)


def aggregate(evaluator: Any, records: Iterable[Record], /, **params: Any) -> Outcome:
    """Return the outcome of a dataset-scope evaluator for all records, in this process. See `score`.

    Skipped records are left out, as in a run. If a record fails, its error is the outcome, so that a test does not miss
    it. A run would count the error and continue.
    """
    return Bench().aggregate(evaluator, records, **params)


def run_pack(
    pack: Pack,
    evaluator: str,
    records: Iterable[Record],
    params: Mapping[str, Any] | None = None,
    *,
    judge: Judge | None = None,
    embed: Embed | None = None,
    answers: Answers | None = None,
    timeout_s: float = 30.0,
) -> PackRun:
    """Score records through the host loop of a pack's process, over a channel in memory.

    Encoding errors appear as in a run: an object in a score's metadata, a state that is not JSON, a tuple that becomes
    a list.

    Args:
        pack: a module or its import name, the path of a `.py` file, or functions and classes.
        evaluator: name of one of its evaluators.
        records: the records.
        params: params of the evaluator.
        judge: scripted judge, as for `Bench`.
        embed: embedding function, as for `Bench`.
        answers: functions that answer other requests to the kernel: `{"sandbox.run": lambda body: {...}}`.
        timeout_s: timeout of the whole call, in seconds.

    Raises:
        PackRefused: the pack cannot be loaded, has no such evaluator, or rejected the params.
        TimeoutError: the call took longer than `timeout_s`.
    """
    bench = Bench(judge=judge, embed=embed)
    return bench.run_pack(pack, evaluator, records, params, answers=answers, timeout_s=timeout_s)


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
            batch = records[start : start + RECORDS_A_REQUEST]
            rehearsal.request("score", {"sessions": [1], "records": batch})
            # Outcomes may arrive in any order.
            items = sorted(rehearsal.taken_items(), key=lambda item: item[1])
            outcomes += [outcome_of(kind, payload) for _, _, kind, payload in items]
        whole = None
        if definition["scope"] == "dataset":
            states = [outcome.state for outcome in outcomes if outcome.kind == STATE]
            answer = rehearsal.request("aggregate", {"session": 1, "states": states})
            whole = outcome_of(answer["outcome"], answer["payload"])
        rehearsal.request("bye", {})
        return PackRun(outcomes, whole)
    finally:
        rehearsal.close()


def _load(pack: Pack) -> dict[str, Definition]:
    if isinstance(pack, ModuleType):
        return from_module(pack.__name__)
    if isinstance(pack, str):
        return from_file(Path(pack)) if pack.endswith(".py") else from_module(pack)
    return from_objects(pack)


def _opened(evaluator: Any, scope: Scope, params: dict[str, Any], stand_in: StandIn) -> Opened:
    definition = _found(evaluator) if isinstance(evaluator, str) else definition_of(evaluator)
    if definition.scope != scope:
        right = "aggregate" if definition.scope == "dataset" else "score"
        raise TypeError(f"{definition.name} has {definition.scope} scope. Use evalsi.testing.{right}.")
    return open_evaluator(definition, params, Context(stand_in))


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

    # In a separate thread, because this one may already run a loop, as in a notebook or an async test.
    return within(None, lambda: asyncio.run(one_after_another()))
