"""A run with a judge from end to end: a function that asks, the broker, a connector, and a provider over HTTP."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import Context, Record, Score, evaluator
from evalsi.evaluation import Result
from evalsi_kernel.broker import model_client
from evalsi_kernel.broker.retries import RetryPolicy
from evalsi_kernel.errors import EvalsiError
from tests.cli.running import evalsi as evalsi_command
from tests.connectors.raw_servers import said_raw
from tests.providers import KEY, MODEL, Answer, Provider, Request, faults, fixed, in_order

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}
GOOD = '{"reason": "It is right.", "score": 4}'


@evaluator(name="graded", version=1, needs=("output",), asks=("judge",))
async def graded(record: Record, *, ctx: Context) -> float:
    """The judge's score from 1 to 5."""
    reply = await ctx.judge([{"role": "user", "content": f"Grade: {record.output.as_text()}"}], schema=SCHEMA)
    score: int = reply.value["score"]
    return score


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", KEY)


def rows(*outputs: str) -> list[dict[str, Any]]:
    return [{"id": f"r{number}", "output": output} for number, output in enumerate(outputs)]


def judged(
    provider: Provider,
    data: Sequence[Mapping[str, Any]],
    *evaluators: Any,
    judge: Mapping[str, Any] = {},
    **settings: Any,
) -> Result:
    model = {"model": MODEL, "base_url": provider.base_url, "api_key_env": "JUDGE_KEY", **judge}
    return evalsi.evaluate(data, list(evaluators) or [graded], judge=model, quiet=True, **settings)


def test_a_judge_scores_and_what_it_took_stands_in_the_summary_the_table_and_the_results() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one", "two"))
    (summary,) = result.summaries
    assert (summary.n, summary.mean, summary.errors) == (2, 4.0, 0)
    assert summary.judge is not None
    assert (summary.judge.calls, summary.judge.cached, summary.judge.cost_usd) == (2, 0, None)
    assert re.search(r"calls +cached +cost\n.*2 +0 +unknown", result.table())
    assert {tuple(one["judge_calls"]) for one in result.results} == {(reply["ref"],) for reply in result.judge_replies}
    assert {reply["text"] for reply in result.judge_replies} == {GOOD}
    assert result.manifest["judge"]["roles"]["primary"]["model"] == MODEL


@evaluator(name="by-two-prompts", version=1, needs=("output",), asks=("judge",))
async def by_two_prompts(record: Record, *, ctx: Context) -> Score:
    """The judge's score, with what a pack says of its prompt."""
    await graded(record, ctx=ctx)
    told: dict[str, Any] = {"a": {"prompt_sha256": "aa"}, "b": {"prompt_sha256": "bb"}, "c": {"prompt_sha256": 5}}
    return Score(value=4.0, metadata=told.get(record.output.as_text(), {}))


def test_the_manifest_names_the_prompts_that_the_scores_of_each_evaluator_rest_on() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("b", "a", "a", "c", "d"), by_two_prompts, graded, "exact-match")
    by_two, plain, exact = result.manifest["evaluators"]
    assert (by_two["asks"], by_two["prompts"]) == (["judge"], ["aa", "bb"])
    assert (plain["asks"], plain["prompts"]) == (["judge"], [])
    assert (exact["asks"], exact["prompts"]) == ([], [])


def test_running_again_makes_no_call() -> None:
    with Provider(fixed(GOOD)) as provider:
        judged(provider, rows("one", "two"))
        again = judged(provider, rows("one", "two"))
        assert provider.calls == 2
        judged(provider, rows("one", "two"), cache=False)
        assert provider.calls == 4
    (summary,) = again.summaries
    assert summary.judge is not None
    assert (summary.mean, summary.judge.calls, summary.judge.cached, summary.judge.cost_usd) == (4.0, 0, 2, 0.0)


def test_equal_questions_of_one_run_are_one_call() -> None:
    with Provider(fixed(GOOD)) as provider:
        (summary,) = judged(provider, rows(*["same"] * 20)).summaries
        assert provider.calls == 1
    assert summary.judge is not None
    assert (summary.n, summary.judge.calls, summary.judge.cached) == (20, 1, 19)


def test_a_judge_that_fails_is_an_error_and_never_a_low_score(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_client, "RetryPolicy", lambda: RetryPolicy(max_tries=3, base_s=0.01))

    def answer(request: Request) -> Any:
        return faults.server_error() if "two" in request.prompt else GOOD

    with Provider(answer) as provider:
        result = judged(provider, rows("one", "two", "three"))
    (summary,) = result.summaries
    assert (summary.n, summary.mean, summary.errors) == (2, 4.0, 1)
    (error,) = [one["error"] for one in result.results if one["outcome"] == "error"]
    assert error["code"] == "provider.failed"


def test_a_reply_that_does_not_fit_is_asked_for_once_more() -> None:
    with Provider(in_order('{"reason": "out of range", "score": 9}', GOOD)) as provider:
        result = judged(provider, rows("one"))
        assert provider.calls == 2
        assert "9" in provider.requests[1].prompt
        judged(provider, rows("one"))
        assert provider.calls == 2, "the repaired reply is kept"
    (summary,) = result.summaries
    assert (summary.n, summary.mean) == (1, 4.0)


def test_j3_an_empty_reply_is_asked_for_once_more() -> None:
    with Provider(in_order(Answer("", finish="stop"), GOOD)) as provider:
        result = judged(provider, rows("one"))
        assert provider.calls == 2
        assert provider.requests[1].prompt == provider.requests[0].prompt
    (summary,) = result.summaries
    assert (summary.n, summary.mean, summary.errors) == (1, 4.0, 0)


@pytest.mark.parametrize(
    ("reply", "code", "asked"),
    [
        ("I'm sorry, but I can't assist with that.", "judge.refused", 1),
        (Answer("", finish="stop"), "judge.empty", 2),
        ("I like it.", "judge.unparsable", 2),
    ],
)
def test_j3_how_often_a_reply_that_is_no_answer_is_asked_for(reply: Any, code: str, asked: int) -> None:
    with Provider(fixed(reply)) as provider:
        result = judged(provider, rows("one"))
        assert provider.calls == asked
    (one,) = result.results
    assert one["error"]["code"] == code


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        ('{"reason": "too high", "score": 9}', "judge.unparsable"),
        ("I like it.", "judge.unparsable"),
        (Answer("", finish="stop"), "judge.empty"),
        (Answer('{"reason": "cut', finish="length"), "judge.truncated"),
        (Answer("I cannot grade that.", finish="refusal"), "judge.refused"),
    ],
)
def test_a_reply_that_is_no_answer_is_an_error_whose_raw_reply_is_kept(reply: Any, code: str) -> None:
    with Provider(fixed(reply)) as provider:
        result = judged(provider, rows("one"))
        calls = provider.calls
        judged(provider, rows("one"))
        assert provider.calls == 2 * calls, "what is no answer is not kept in the cache"
    (summary,) = result.summaries
    assert (summary.n, summary.mean, summary.errors) == (0, None, 1)
    (one,) = result.results
    assert one["error"]["code"] == code
    (kept,) = result.judge_replies
    assert one["judge_calls"] == [kept["ref"]]
    assert kept["problem"] == one["error"]["message"]


def test_a_budget_in_dollars_without_a_price_is_not_said_to_be_used_up() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one", "two"), budget={"usd": 1.0})
        assert provider.calls == 0
    problem, failed = result.findings
    assert problem.startswith(
        "The budget for model calls does not cover every question: 2 went unasked. Raise it, or say"
    )
    assert "The price of the model is unknown" in failed


@pytest.mark.parametrize("cache", [True, False])
def test_s5_the_cache_is_promised_only_where_there_is_one(cache: bool) -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one", "two"), budget={"tokens": 1}, cache=cache)
    (problem,) = [one for one in result.findings if "does not cover every question" in one]
    assert ("comes from the cache" in problem, "paid again" in problem) == (cache, not cache)


@pytest.mark.parametrize(
    ("status", "body"),
    [(200, "<html><h1>Hello</h1></html>"), (500, "<html>Server Error</html>"), (500, "Internal Server Error")],
)
def test_j7_an_address_that_is_no_api_ends_the_run_at_its_first_call(status: int, body: str) -> None:
    answer = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    with said_raw(answer) as url, Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one", "two", "three"), judge={"base_url": url}, concurrency=1)
    (summary,) = result.summaries
    assert (summary.n, summary.errors) == (0, 3)
    assert summary.judge is not None
    assert summary.judge.calls == 1
    assert any("base_url" in one or "--judge-base-url" in one for one in result.findings)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Answer('{"reason": "cut', finish="length"), "1 of 3 replies of the judge was cut off."),
        (Answer("No.", finish="refusal"), "1 of 3 replies of the judge was refused"),
    ],
)
def test_g1_replies_of_a_judge_that_are_incomplete_are_noted(reply: Any, words: str) -> None:
    def answer(request: Request) -> Any:
        return reply if "two" in request.prompt else GOOD

    with Provider(answer) as provider:
        result = judged(provider, rows("one", "two", "three"))
    assert any(one.startswith(words) for one in result.findings)


def test_s8_a_call_that_is_refused_before_it_is_sent_is_not_counted(unused_tcp_port_url: str) -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one"), judge={"base_url": unused_tcp_port_url}, concurrency=1)
    (summary,) = result.summaries
    assert summary.judge is not None
    assert (summary.errors, summary.judge.calls) == (1, 0)


@pytest.fixture
def unused_tcp_port_url() -> str:
    """An address at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


def test_a_refused_key_is_told_once_and_asked_no_more() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows(*map(str, range(40))), judge={"api_key_env": "WRONG"}, concurrency=4)
    assert provider.calls <= 4
    (summary,) = result.summaries
    assert (summary.n, summary.errors) == (0, 40)
    assert {one["error"]["code"] for one in result.results} == {"provider.auth"}


@evaluator(name="graded-if-any", version=1, needs=("output",), asks=("judge",))
async def graded_if_any(record: Record, *, ctx: Context) -> float:
    """The judge's score; what is blank has none of its marks, and no judge is asked."""
    return await graded(record, ctx=ctx) if record.output.as_text().strip() else 0.0


def test_a_refused_key_is_a_problem_though_some_records_were_scored_without_a_judge() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("", "one", "two"), graded_if_any, judge={"api_key_env": "WRONG"})
        (summary,) = result.summaries
        assert (summary.n, summary.errors) == (1, 2)
        problem, note = result.findings
        assert problem.startswith("A model is not asked any more: openai-compatible at ")
        assert "answered 401" in problem
        assert problem.endswith("names the variable that holds it.")
        assert note.startswith("graded-if-any failed on 2 of 3 records")
        flags = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "WRONG")
        where = f"{Path(__file__)}:graded_if_any"
        data = "".join(json.dumps(row) + "\n" for row in rows("", "one", "two"))
        told = evalsi_command("eval", "--data", "-", "--evaluators", where, *flags, stdin=data.encode())
    assert told.code == 1
    assert "error: A model is not asked any more" in told.err


@pytest.fixture(autouse=True)
def wrong_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG", "sk-not-this-one")


def test_a_question_without_a_reply_has_no_reference_to_one() -> None:
    with Provider(fixed(GOOD)) as provider:
        result = judged(provider, rows("one"), judge={"api_key_env": "WRONG"})
    assert "judge_calls" not in result.results[0]


def test_a_missing_key_says_which_variable_before_any_work() -> None:
    with Provider(fixed(GOOD)) as provider, pytest.raises(EvalsiError, match="ABSENT_KEY") as caught:
        judged(provider, rows("one"), judge={"api_key_env": "ABSENT_KEY"})
    assert caught.value.code == "config.no_key"


def test_an_evaluator_that_asks_a_judge_needs_one_to_be_named() -> None:
    with pytest.raises(EvalsiError, match="graded needs a judge, but none is configured") as caught:
        evalsi.evaluate(rows("one"), [graded], quiet=True)
    assert "judge=" in caught.value.hint


def test_a_function_that_asks_without_saying_so_gets_an_error_and_no_score() -> None:
    @evaluator(name="silent", version=1)
    async def silent(record: Record, *, ctx: Context) -> float:
        return float((await ctx.judge([{"role": "user", "content": "?"}])).text)

    result = evalsi.evaluate(rows("one"), [silent], quiet=True)
    assert result.results[0]["error"]["code"] == "capability.not_bound"


def test_a_token_budget_is_never_passed_and_what_was_finished_is_kept() -> None:
    with Provider(fixed(Answer(GOOD, input_tokens=100, output_tokens=50))) as provider:
        result = judged(
            provider, rows(*map(str, range(50))), judge={"max_tokens": 50}, budget={"tokens": 4_000}, concurrency=50
        )
        calls = provider.calls
    (summary,) = result.summaries
    assert 0 < summary.n < 50
    assert (summary.n, summary.n + summary.errors) == (calls, 50)
    assert calls * 150 <= 4_000
    assert {one["error"]["code"] for one in result.results if one["outcome"] == "error"} == {"judge.budget"}
    assert any("budget" in finding for finding in result.findings)


def test_costs_are_known_where_prices_are(tmp_path: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text(f'version = "mine"\n[models."{MODEL}"]\ninput = 1.0\noutput = 10.0\n')
    with Provider(fixed(Answer(GOOD, input_tokens=1_000, output_tokens=100))) as provider:
        result = judged(provider, rows("one", "two"), prices=prices)
    (summary,) = result.summaries
    assert summary.judge is not None
    assert summary.judge.cost_usd == pytest.approx(2 * (1_000 * 1.0 + 100 * 10.0) / 1e6)
    assert "mine" in result.manifest["judge"]["prices"]


def test_repeats_are_asked_apart_and_settings_are_part_of_the_question() -> None:
    """Case open-29: repeats are independent, replays are exact, and more repeats pay only for the new ones."""

    def repeated(times: int, temperature: float) -> Any:
        @evaluator(name="repeated", version=1, asks=("judge",))
        async def repeated(record: Record, *, ctx: Context) -> Score:
            texts = [
                (await ctx.judge([{"role": "user", "content": "?"}], temperature=temperature, sample=sample)).text
                for sample in range(times)
            ]
            return Score(passed=True, metadata={"texts": texts})

        return repeated

    def texts(result: Result) -> list[str]:
        found: list[str] = result.results[0]["scores"][0]["metadata"]["texts"]
        return found

    with Provider(in_order(*[f"r{number}" for number in range(1, 10)])) as provider:
        calls = []
        seen = []
        for times, temperature in ((3, 0.7), (3, 0.7), (3, 0.0), (5, 0.7)):
            before = provider.calls
            seen.append(texts(judged(provider, rows("x"), repeated(times, temperature))))
            calls.append(provider.calls - before)
    assert calls == [3, 0, 3, 2]
    assert seen[0] == seen[1] == seen[3][:3] == ["r1", "r2", "r3"]


def test_no_key_reaches_a_results_file(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    with Provider(fixed(GOOD)) as provider:
        judged(provider, rows("one"), output=output)
    text = output.read_text("utf-8")
    assert KEY not in text
    assert json.loads(text)["judge_replies"][0]["text"] == GOOD


@pytest.mark.parametrize("verdict", ['{"reason": "\\ud800", "score": 4}', '{"\\ud800": 1, "reason": "x", "score": 4}'])
def test_half_a_character_in_a_verdict_is_an_unparsable_reply(verdict: str, tmp_path: Path) -> None:
    with Provider(fixed(verdict)) as provider:
        result = judged(provider, rows("a"), output=tmp_path / "results.json")
    (told,) = result.results
    assert told["error"]["code"] == "judge.unparsable"
    assert "\\ud800" in told["error"]["message"]
    (kept,) = json.loads((tmp_path / "results.json").read_text("utf-8"))["judge_replies"]
    assert "\\ud800" in kept["problem"]
