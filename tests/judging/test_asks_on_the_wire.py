"""What a pack may ask of models over the wire: many questions at once, odd ones, and vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import AskError, Context, Question, Record, Score, evaluator
from evalsi.evaluation import Result
from tests.providers import EMBEDDER, KEY, MODEL, Answer, Provider, Request, faults

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def told(provider: Provider, asking: Any, *, embed: bool = False) -> Any:
    """What one evaluation puts into its score's metadata."""
    model = {"model": EMBEDDER if embed else MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY"}
    settings: dict[str, Any] = {"embed": model} if embed else {"judge": model}
    result: Result = evalsi.evaluate([{"output": "x"}], [asking], quiet=True, **settings)
    (one,) = result.results
    assert one["outcome"] == "scored", one
    return one["scores"][0]["metadata"]["told"]


def question(text: str, **settings: Any) -> Question:
    return Question([{"role": "user", "content": text}], SCHEMA, **settings)


def test_replies_stand_in_the_order_of_the_questions_and_one_that_fails_fails_no_other() -> None:
    @evaluator(name="many", version=1)
    async def many(record: Record, *, ctx: Context) -> Score:
        words = ["slow", "refused", "odd", "quick"]
        replies = await ctx.judge_all([question(word) for word in words])
        shown = [reply.error.code if isinstance(reply, AskError) else reply.value["word"] for reply in replies]
        return Score(passed=True, metadata={"told": shown})

    def answer(request: Request) -> Any:
        if "refused" in request.last_text:
            return Answer("I will not.", finish="refusal")
        if "odd" in request.last_text:
            return '{"word": 7}'
        return {"word": request.last_text}

    with Provider(answer, faults=lambda number: faults.delay(0.2) if number == 1 else None) as provider:
        assert told(provider, many) == ["slow", "judge.refused", "judge.unparsable", "quick"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"messages": []}, "no messages"),
        ({"messages": "hello"}, "no messages"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "the role 'tool'"),
        ({"messages": [{"role": "user", "content": 7}]}, "no text as its content"),
        ({"messages": [{"role": "user", "content": "x"}], "role": "second"}, "Unknown judge role 'second'"),
        ({"messages": [{"role": "user", "content": "x"}], "temperature": "hot"}, "temperature"),
        ({"messages": [{"role": "user", "content": "x"}], "max_tokens": 0}, "max_tokens is 0"),
        ({"messages": [{"role": "user", "content": "x"}], "seed": "s"}, "seed is of type str"),
    ],
)
def test_a_question_that_cannot_be_read_is_an_error_and_asks_nothing(body: dict[str, Any], reason: str) -> None:
    @evaluator(name="odd", version=1)
    async def odd(record: Record, *, ctx: Context) -> Score:
        (reply,) = (await ctx.ask("judge.ask", {"requests": [body]}))["replies"]
        return Score(passed=True, metadata={"told": reply["error"]})

    with Provider() as provider:
        error = told(provider, odd)
        assert provider.calls == 0
    assert error["code"] == "protocol.body"
    assert reason in error["message"]


def test_a_schema_that_cannot_be_checked_is_the_pack_s_fault_and_asks_nothing() -> None:
    @evaluator(name="loose", version=1)
    async def loose(record: Record, *, ctx: Context) -> Score:
        try:
            await ctx.judge([{"role": "user", "content": "?"}], schema={"type": "object", "patternProperties": {}})
        except AskError as error:
            return Score(passed=True, metadata={"told": error.error.code})
        return Score(passed=False)

    with Provider() as provider:
        assert told(provider, loose) == "judge.schema"
        assert provider.calls == 0


def test_vectors_stand_in_the_order_of_the_texts_and_are_not_paid_for_twice() -> None:
    @evaluator(name="near", version=1, asks=("embed",))
    async def near(record: Record, *, ctx: Context) -> Score:
        one = await ctx.embed(["b", "a", "b", "ü"])
        two = await ctx.embed(["a", "b"])
        return Score(passed=True, metadata={"told": [one, two]})

    with Provider() as provider:
        first = told(provider, near, embed=True)
        calls = provider.calls
        second = told(provider, near, embed=True)
        assert provider.calls == calls
    (b, a, again, _), (a_again, b_again) = first
    assert a != b
    assert (again, a_again, b_again) == (b, a, b)
    assert second == first


def test_an_evaluator_that_needs_vectors_needs_a_model_to_be_named() -> None:
    @evaluator(name="near", version=1, asks=("embed",))
    async def near(record: Record, *, ctx: Context) -> bool:
        return bool(await ctx.embed(["x"]))

    with pytest.raises(Exception, match="near needs an embedding model, but none is configured"):
        evalsi.evaluate([{"output": "x"}], [near], quiet=True)
