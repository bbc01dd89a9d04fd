"""Test `evalsi.complete`: concurrent questions to a model through the kernel's broker, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import AskError, Completion, Question
from evalsi_kernel.errors import EvalsiError
from tests.providers import KEY, MODEL, Answer, Provider, Reply, Request, faults, in_order


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MODEL_KEY", KEY)


def say(text: str, **settings: Any) -> Question:
    return Question([{"role": "user", "content": text}], **settings)


def completed(provider: Provider, *questions: Question, **settings: Any) -> list[Completion | AskError]:
    model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "MODEL_KEY"}
    return evalsi.complete(questions, model, quiet=True, **settings)


def texts(found: list[Completion | AskError]) -> list[str]:
    return [one.text for one in found if isinstance(one, Completion)]


def test_what_was_written_stands_in_the_order_of_the_questions() -> None:
    with Provider() as provider:
        found = completed(provider, *[say(f"number {number}") for number in range(50)])
        assert texts(found) == [f"number {number}" for number in range(50)]
        assert provider.calls == 50


def test_all_questions_are_in_flight_together() -> None:
    with Provider(latency_s=0.05) as provider:
        completed(provider, *[say(f"{number}") for number in range(40)])
        assert provider.seen.most_in_flight > 20


def test_a_second_time_costs_nothing_and_equal_questions_share_a_call_unless_their_samples_differ() -> None:
    with Provider() as provider:
        first = completed(provider, say("a"), say("a"), say("a", sample=1))
        assert (texts(first), provider.calls) == (["a", "a", "a"], 2)
        again = completed(provider, say("a"), say("a", sample=1))
        assert provider.calls == 2
        assert [one.cached for one in again if isinstance(one, Completion)] == [True, True]


@pytest.mark.parametrize(
    ("reply", "text", "finish"),
    [
        (Answer("half a sen", finish="length"), "half a sen", "length"),
        (Answer("I cannot do that.", finish="refusal"), "I cannot do that.", "refusal"),
        (Answer(""), "", "stop"),
    ],
)
def test_what_is_no_verdict_is_still_what_the_model_has_to_say(reply: Reply, text: str, finish: str) -> None:
    def answer(_request: Request) -> Reply:
        return reply

    with Provider(answer) as provider:
        (found,) = completed(provider, say("a"))
    assert isinstance(found, Completion)
    assert (found.text, found.finish) == (text, finish)


def test_a_question_that_failed_is_its_error_and_no_text_and_the_others_are_answered() -> None:
    def answer(request: Request) -> Reply:
        return faults.bad_request() if request.last_text == "bad" else "good"

    with Provider(answer) as provider:
        good, bad = completed(provider, say("fine"), say("bad"))
    assert isinstance(good, Completion)
    assert isinstance(bad, AskError)
    assert bad.error.code.startswith("provider.")


def test_the_budget_holds_for_all_questions_together() -> None:
    def long(_request: Request) -> Reply:
        return Answer("long", output_tokens=1_000)

    with Provider(long) as provider:
        found = completed(provider, *[say(f"{n}", max_tokens=1_000) for n in range(20)], budget={"tokens": 5_000})
        codes = {one.error.code for one in found if isinstance(one, AskError)}
        assert codes == {"judge.budget"}
        assert 0 < provider.calls < 20


def test_a_missing_key_and_an_impossible_question_are_told_before_anything_is_asked() -> None:
    with pytest.raises(EvalsiError, match="NO_SUCH_KEY"):
        evalsi.complete([say("a")], {"model": MODEL, "api_key_env": "NO_SUCH_KEY"}, quiet=True)
    with Provider() as provider, pytest.raises(EvalsiError, match="max_tokens is 0"):
        completed(provider, say("a", max_tokens=0))


def test_it_works_where_a_loop_runs_already() -> None:
    import asyncio

    async def within() -> list[Completion | AskError]:
        return completed(provider, say("a"))

    with Provider() as provider:
        assert texts(asyncio.run(within())) == ["a"]


def test_g8_repeats_are_independent_and_replays_exact() -> None:
    """Case open-29: what is the same question and sample needs no call; any other does."""
    with Provider(in_order(*[f"r{number}" for number in range(1, 10)])) as provider:
        calls, seen = [], []
        for times, temperature in ((3, 0.7), (3, 0.7), (3, 0.0), (5, 0.7)):
            before = provider.calls
            questions = [say("?", temperature=temperature, sample=sample) for sample in range(times)]
            seen.append(texts(completed(provider, *questions)))
            calls.append(provider.calls - before)
    assert calls == [3, 0, 3, 2]
    assert seen[0] == seen[1] == seen[3][:3]
    assert sorted(seen[0]) == ["r1", "r2", "r3"]
