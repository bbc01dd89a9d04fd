"""Test opening an evaluator with params."""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import Future
from typing import Any

import pytest

from evalsi import AskError, Context, ParamError, Record, Score, ScoreError, evaluator
from evalsi.definition import definition_of
from evalsi.opened import Opened, aggregate, open_evaluator, total
from evalsi.score import MissingField
from evalsi_protocol.errors import WireError

RECORD = Record(output="please", usage={"latency_ms": 3})


class Echo:
    """A kernel that answers an ask with what was asked, and refuses what it does not know."""

    def ask(self, method: str, body: dict[str, Any]) -> Future[dict[str, Any]]:
        future: Future[dict[str, Any]] = Future()
        if method == "judge.ask":
            future.set_result(body)
        else:
            future.set_exception(AskError(WireError("capability.not_bound", "No such thing.", "Bind one.")))
        return future


def opened(target: Any, **params: Any) -> Opened:
    return open_evaluator(definition_of(target), params, Context(Echo()))


def test_the_params_of_a_function_are_bound_when_it_is_opened() -> None:
    def longer(record: Record, *, limit: int = 3, strict: bool = False) -> bool:
        return len(record.output.as_text()) > limit

    assert opened(longer).score(RECORD) is True
    assert opened(longer, limit=6).score(RECORD) is False


def test_a_class_is_built_once_and_may_refuse_a_param() -> None:
    @evaluator(name="matches")
    class Matches:
        """Built once."""

        def __init__(self, word: str = "please") -> None:
            if not word:
                raise ParamError("word", "it is empty")
            self.word = word

        def score(self, record: Record) -> bool:
            return self.word in record.output.as_text()

    assert opened(Matches).score(RECORD) is True
    assert opened(Matches, word="thanks").instance.word == "thanks"
    with pytest.raises(ParamError, match="word: it is empty"):
        opened(Matches, word="")


def test_a_param_that_is_unknown_or_missing_is_a_type_error_before_any_record() -> None:
    def longer(record: Record, *, limit: int) -> bool:
        return bool(limit)

    with pytest.raises(TypeError, match="longer needs the param 'limit'"):
        opened(longer)
    with pytest.raises(TypeError, match="longer has no param 'limits'; its params: limit"):
        opened(longer, limits=3)
    with pytest.raises(TypeError, match="has no param 'ctx'; its params: none"):
        opened(lambda_like, ctx=1)


def lambda_like(record: Record, ctx: Context) -> bool:
    return ctx is not None


def test_a_function_and_a_method_that_take_a_context_get_one() -> None:
    class Asks:
        """Asks while it scores."""

        def score(self, record: Record, ctx: Context) -> bool:
            return ctx.ask_and_wait("judge.ask", {"passed": True})["passed"] is True

    assert opened(lambda_like).score(RECORD) is True
    assert opened(Asks).score(RECORD) is True


def test_an_asynchronous_evaluator_is_told_apart_however_it_is_written() -> None:
    async def waits(record: Record) -> bool:
        return True

    class Waits:
        """Scores asynchronously."""

        async def score(self, record: Record) -> bool:
            return True

    class CalledAndWaits:
        """An object whose call is asynchronous."""

        async def __call__(self, record: Record) -> bool:
            return True

    @functools.wraps(waits)
    def runs_to_the_end(record: Record) -> bool:
        return asyncio.run(waits(record))

    assert all(opened(target).is_async for target in (waits, Waits, CalledAndWaits(), functools.partial(waits)))
    assert not opened(runs_to_the_end).is_async
    assert opened(runs_to_the_end).score(RECORD) is True


def test_an_ask_is_answered_or_raises_the_kernel_s_own_error() -> None:
    async def asks(record: Record, ctx: Context) -> bool:
        answer = await ctx.ask("judge.ask", {"passed": True})
        with pytest.raises(AskError, match=r"No such thing. Bind one.") as caught:
            await ctx.ask("embed.ask", {})
        assert caught.value.error.code == "capability.not_bound"
        return bool(answer["passed"])

    assert asyncio.run(opened(asks).score(RECORD)) is True


def test_a_record_that_lacks_a_declared_need_is_skipped_and_one_that_has_it_is_not() -> None:
    @evaluator(needs=["output", "usage.latency_ms"])
    def timed(record: Record) -> bool:
        return True

    opened(timed).check_needs(RECORD)
    with pytest.raises(MissingField, match=r"record has no usage.latency_ms"):
        opened(timed).check_needs(Record(output="x", usage={"latency_ms": None}))
    with pytest.raises(MissingField, match="record has no output"):
        opened(timed).check_needs(Record(usage={"latency_ms": 3}))


class Longest:
    """Aggregates its states itself."""

    def observe(self, record: Record) -> int:
        return len(record.output.as_text())

    def aggregate(self, states: list[int]) -> Score:
        return Score(value=max(states))


class Mean(Longest):
    """Has states that add up, and then aggregate() is not asked."""

    def combine(self, totals: list[float]) -> float:
        return totals[0] / totals[1]


def test_a_dataset_scope_evaluator_aggregates_its_states_or_combines_their_totals() -> None:
    longest = opened(evaluator(scope="dataset")(Longest))
    assert longest.score(RECORD) == 6
    assert aggregate(longest, [6, 2]) == Score(value=6)
    assert aggregate(opened(evaluator(scope="dataset")(Mean)), [[6, 1], [2, 1]]) == 4.0


def test_totals_do_not_depend_on_the_order_of_the_states() -> None:
    states = [[1e16], [1.0], [-1e16], [1.0]]
    assert total(states) == total(states[::-1]) == [2.0]


@pytest.mark.parametrize("states", [[[1, 2], [3]], [1, 2], [["a"], ["b"]], [None, None]], ids=str)
def test_states_that_do_not_add_up_are_an_error_and_no_number(states: Any) -> None:
    with pytest.raises(ScoreError, match="lists of numbers of equal length"):
        total(states)
