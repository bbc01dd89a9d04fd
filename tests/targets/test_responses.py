"""A model or an agent behind the Responses API as a target: what is asked, what of a response is kept, its faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Bounds, Generated, Target, TargetInput
from tests.runs.running import results, run, write_spec
from tests.targets.asking import ask, failure_of, problems, with_target
from tests.targets.service import Service, serving

SECRET = "s3cret-of-tests"


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


def message(*texts: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": one} for one in texts]}


@contextmanager
def answering(service: Service, answer: Any) -> Iterator[str]:
    """The address of a service that answers so."""
    service.response, service.seen = answer, []
    yield f"{service.url}/v1"


def made_of(service: Service, folder: Path, answer: Any, text: Any = "hello", **options: Any) -> Generated:
    with answering(service, answer) as url:
        return with_target(
            "responses", folder, lambda target: ask(target, text), model="agent", base_url=url, **options
        )


def response(*items: Any, **more: Any) -> dict[str, Any]:
    return {"status": "completed", "output": list(items), **more}


def test_the_agent_of_a_spec_is_asked_as_the_api_has_it(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_KEY", SECRET)
    with answering(service, response(message("Oslo"), model="agent-7")) as url:
        agent = {"base_url": url, "model": "agent", "api_key_env": "AGENT_KEY", "system_prompt": "Be brief."}
        write_spec(tmp_path, {"agent": {"responses": {**agent, "max_tokens": 64, "effort": "low", "temperature": 0}}})
        done = run(tmp_path)
    assert done.code == 0, done.err
    seen = sorted(service.seen, key=lambda one: str(one["body"]["input"]))
    assert len(seen) == 4
    assert seen[1]["authorization"] == f"Bearer {SECRET}"
    assert seen[1]["body"] == {
        "model": "agent",
        "input": [{"role": "user", "content": "Question 1?"}],
        "instructions": "Be brief.",
        "max_output_tokens": 64,
        "temperature": 0,
        "reasoning": {"effort": "low"},
    }
    value = results(tmp_path)
    assert {record["output"] for record in value["records"]} == {"Oslo"}
    assert value["manifest"]["target"]["connector"] == "responses"
    assert SECRET not in json.dumps(value)


def test_texts_calls_and_tokens_of_a_response_are_kept_and_reasoning_is_no_output(
    service: Service, tmp_path: Path
) -> None:
    items = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "name": "lookup", "arguments": '{"id": 7}', "call_id": "c1"},
        {"type": "mcp_call", "name": "search", "arguments": "no json", "output": "found", "error": None},
        {"type": "web_search_call", "action": {"type": "search", "query": "Oslo"}},
        message("First.", "Second."),
        message("Third."),
    ]
    usage = {
        "input_tokens": 30,
        "output_tokens": 12,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens_details": {"reasoning_tokens": 8},
    }
    made = made_of(service, tmp_path, response(*items, usage=usage, model="agent-7"))
    assert made.output == "First.\nSecond.\nThird."
    assert made.fields["trajectory"]["steps"] == [
        {"type": "tool", "name": "lookup", "input": {"id": 7}},
        {"type": "tool", "name": "search", "input": "no json", "output": "found"},
        {"type": "tool", "name": "web_search", "input": {"type": "search", "query": "Oslo"}},
    ]
    assert made.tokens == (30, 12, 20, None, 8)
    assert (made.model, made.metadata) == ("agent-7", {})


@pytest.mark.parametrize(
    ("answer", "output", "finish"),
    [
        (response({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}), "No.", "refusal"),
        (
            response(message("Os"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "Os",
            "length",
        ),
        (response(status="incomplete", incomplete_details={"reason": "content_filter"}), "", "refusal"),
        (response(status="incomplete", incomplete_details=None), "", "other"),
        (response({"type": "function_call", "name": "f", "arguments": "{}"}), "", "tool"),
    ],
)
def test_what_did_not_end_as_an_answer_is_an_output_that_says_so(
    service: Service, tmp_path: Path, answer: Any, output: str, finish: str
) -> None:
    made = made_of(service, tmp_path, answer)
    assert (made.output, made.metadata) == (output, {"finish": finish})
    assert made.tokens == (None,) * 5


@pytest.mark.parametrize(
    ("answer", "code", "said"),
    [
        (
            {"status": "failed", "output": [], "error": {"code": "server_error", "message": "out of\nmemory"}},
            "provider.failed",
            "answered that the response is failed: out of memory.",
        ),
        ({"choices": []}, "provider.bad_reply", "it has no list `output`"),
        ([1], "provider.bad_reply", "it has no list `output`"),
    ],
)
def test_what_is_no_response_is_an_error(service: Service, tmp_path: Path, answer: Any, code: str, said: str) -> None:
    with answering(service, answer) as url:
        error = failure_of("responses", tmp_path, model="agent", base_url=url).error
    assert (error.code, error.retry) == (code, "later")
    assert said in error.message


def test_errors_name_the_keys_of_this_target(service: Service, tmp_path: Path) -> None:
    for path, hint in (
        ("/status/401", "spec.target.api_key_env"),
        ("/status/404", "spec.target.base_url, which ends before /responses"),
        ("/page", "spec.target.base_url, which ends before /responses"),
    ):
        error = failure_of("responses", tmp_path, model="agent", base_url=f"{service.url}/under{path}").error
        assert hint in error.hint, path


def test_a_missing_key_is_named_and_a_stranger_never_gets_the_usual_one(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def opened(_: Target) -> None:
        raise AssertionError("it was opened without a key")

    for variable, name in ((None, "OPENAI_API_KEY"), ("MY_KEY", "MY_KEY")):
        with pytest.raises(ConfigError, match=name) as caught:
            with_target("responses", tmp_path, opened, model="agent", api_key_env=variable)
        assert caught.value.code == "config.no_key"
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    made_of(service, tmp_path, response(message("Oslo")))
    assert service.seen[0]["authorization"] is None


def test_messages_are_asked_as_they_are_and_a_budget_knows_its_bounds(service: Service, tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]}
    made_of(service, tmp_path, response(message("Oslo")), chat)
    assert service.seen[0]["body"]["input"] == chat["messages"]
    assert service.seen[0]["body"]["max_output_tokens"] == 16_000

    async def bounds(target: Target) -> tuple[Bounds, Bounds]:
        return target.bounds(TargetInput({"id": "1", "input": "hello"}, 1)), target.bounds(TargetInput({"id": "2"}, 1))

    known, none = with_target("responses", tmp_path, bounds, model="agent", base_url=service.url, max_tokens=64)
    assert known.output_tokens == 64
    assert known.input_tokens is not None
    assert known.input_tokens >= 1
    assert none == (0, 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"base_url": "localhost:8000"}, "is no address of a server"),
        ({"base_url": "http://x/{{input}}"}, "lets a record say where it is asked"),
        ({"seed": 1}, "seed is not a known key"),
        ({"max_tokens": 0}, "max_tokens"),
    ],
)
def test_what_is_wrong_with_its_keys_is_told_with_its_place(options: dict[str, Any], said: str) -> None:
    (problem,) = problems("responses", **{"model": "agent", **options})
    assert problem.startswith("spec.target.")
    assert said in problem
