"""The keys by which a spec says how a model is asked: thinking, streaming, and which of a vendor's APIs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.extensions.hook_calls import target_options
from evalsi_kernel.target import Generated, Target
from tests.providers import KEY, Provider, faults, fixed
from tests.runs.running import MODEL_KEY, model_of, records, write_spec
from tests.targets.asking import EXTENSIONS, ask, failure_of, problems, with_target
from tests.targets.running_here import outcomes, run_here
from tests.targets.service import serving

OPENAI, ANTHROPIC = "openai-compatible", "anthropic"
RESPONSE = {
    "status": "completed",
    "model": "m-1",
    "output": [{"type": "message", "content": [{"type": "output_text", "text": "Oslo"}]}],
    "usage": {"input_tokens": 7, "output_tokens": 2},
}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL_KEY, KEY)


def asked(vendor: Provider, folder: Path, connector: str, **more: Any) -> Generated:
    where = vendor.root_url if connector == ANTHROPIC else vendor.base_url
    options = {name: value for name, value in model_of(vendor, base_url=where, **more).items() if name != "connector"}
    made: Generated = with_target(connector, folder, ask, **options)
    return made


# -- thinking ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thinking", "sent"),
    [
        ("adaptive", {"type": "adaptive"}),
        ({"mode": "disabled"}, {"type": "disabled"}),
        ({"mode": "enabled", "budget_tokens": 2048}, {"type": "enabled", "budget_tokens": 2048}),
    ],
)
def test_a_model_of_anthropic_thinks_as_the_spec_says(tmp_path: Path, thinking: Any, sent: dict[str, Any]) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        made = asked(vendor, tmp_path, ANTHROPIC, thinking=thinking, max_tokens=4096)
        assert vendor.requests[0].body["thinking"] == sent
    assert made.output == "Lisbon"


@pytest.mark.parametrize(
    ("connector", "thinking", "told"),
    [
        (ANTHROPIC, {"mode": "enabled"}, "spec.target.thinking is enabled without budget_tokens"),
        (ANTHROPIC, {"mode": "adaptive", "budget_tokens": 2048}, "has budget_tokens, which adaptive thinking does not"),
        (ANTHROPIC, {"mode": "enabled", "budget_tokens": 9000}, "9,000 tokens, which is not below max_tokens (4,096)"),
        (ANTHROPIC, {"mode": "enabled", "budget_tokens": 10}, "spec.target.thinking.budget_tokens"),
        (ANTHROPIC, "deeply", "spec.target.thinking.mode"),
        (
            OPENAI,
            "adaptive",
            "spec.target has thinking, which is a key of anthropic. Say how hard to think with effort.",
        ),
        ("responses", "adaptive", "spec.target.thinking is not a known key"),
    ],
)
def test_thinking_that_cannot_be_is_told_before_anything_is_asked(connector: str, thinking: Any, told: str) -> None:
    found = problems(connector, model="m", max_tokens=4096, thinking=thinking)
    assert any(told in one for one in found), found


def test_how_a_model_thinks_tells_one_run_s_target_from_another(tmp_path: Path) -> None:
    async def identity(target: Target) -> dict[str, Any]:
        return dict(target.identity)

    plain, thinking, streaming = (
        with_target(ANTHROPIC, tmp_path, identity, model="m", api_key_env="none", **more)
        for more in ({}, {"thinking": "adaptive"}, {"stream": True})
    )
    assert not {"thinking", "stream", "api", "fallbacks", "fallback_after"} & plain.keys()
    assert thinking == {**plain, "thinking": {"mode": "adaptive"}}
    assert streaming == {**plain, "stream": True}


# -- stream --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("connector", [OPENAI, ANTHROPIC])
def test_a_streamed_answer_is_the_same_output_at_the_same_cost(tmp_path: Path, connector: str) -> None:
    with Provider(fixed("Lisbon — naïve 🎈")) as vendor:
        whole = asked(vendor, tmp_path, connector)
        streamed = asked(vendor, tmp_path, connector, stream=True)
        assert [request.field("stream") for request in vendor.requests] == [None, True]
    assert streamed == whole


@pytest.mark.parametrize("connector", [OPENAI, ANTHROPIC])
def test_a_stream_that_breaks_off_is_tried_again_and_its_part_is_no_output(tmp_path: Path, connector: str) -> None:
    plan = [faults.truncated_json(), faults.close_mid_body(), None]
    with Provider(fixed("Lisbon, and more of it"), faults=plan) as vendor:
        where = vendor.root_url if connector == ANTHROPIC else vendor.base_url
        target = model_of(vendor, connector=connector, base_url=where, stream=True)
        _, found = run_here(write_spec(tmp_path, target, records(1)))
        assert vendor.calls == 3
    assert outcomes(found) == ["scored"]
    assert found["records"][0]["output"] == "Lisbon, and more of it"


# -- api -----------------------------------------------------------------------------------------------------------


def test_a_model_of_openai_is_asked_by_the_api_that_the_spec_names(tmp_path: Path) -> None:
    with serving() as service:
        service.response, service.seen = RESPONSE, []
        how: dict[str, Any] = {"max_tokens": 64, "effort": "low", "system_prompt": "Be brief.", "temperature": 0.5}
        where: dict[str, Any] = {"model": "m", "base_url": f"{service.url}/v1", "api_key_env": MODEL_KEY}
        made: Generated = with_target(OPENAI, tmp_path, ask, api="responses", **where, **how)
        [seen] = service.seen
    assert (made.output, made.model, made.tokens.input, made.tokens.output) == ("Oslo", "m-1", 7, 2)
    assert seen["authorization"] == f"Bearer {KEY}"
    assert seen["body"] == {
        "model": "m",
        "input": [{"role": "user", "content": "hello"}],
        "max_output_tokens": 64,
        "instructions": "Be brief.",
        "temperature": 0.5,
        "reasoning": {"effort": "low"},
    }
    with Provider(fixed("Lisbon")) as vendor:
        assert asked(vendor, tmp_path, OPENAI, api="chat-completions").output == "Lisbon"
        assert vendor.requests[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"api": "completions"}, "spec.target.api"),
        ({"api": "responses", "seed": 1}, "asks for api: responses, and seed is not a known key"),
        (
            {"api": "responses", "max_tokens": 8},
            "asks for api: responses, and max_tokens is the number 8: input should",
        ),
    ],
)
def test_what_an_api_does_not_take_is_told_before_anything_is_asked(more: dict[str, Any], told: str) -> None:
    found = problems(OPENAI, model="m", **more)
    assert any(told in one for one in found), found


def test_only_openai_has_more_than_one_api() -> None:
    [told] = problems(ANTHROPIC, model="m", api="responses")
    assert told.startswith("spec.target.api is not a known key.")


def events(*values: dict[str, Any]) -> str:
    return "".join(f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in values)


STARTED = {"type": "response.created", "response": {"status": "in_progress", "output": []}}
PIECE = {"type": "response.output_text.delta", "delta": "Os"}


@pytest.mark.parametrize("connector", ["responses", OPENAI])
def test_a_streamed_response_is_the_one_that_comes_whole(tmp_path: Path, connector: str) -> None:
    api: dict[str, Any] = {"api": "responses"} if connector == OPENAI else {}
    with serving() as service:
        service.response, service.seen = (
            events(STARTED, PIECE, {"type": "response.completed", "response": RESPONSE}),
            [],
        )
        where: dict[str, Any] = {"model": "m", "base_url": f"{service.url}/v1", "api_key_env": "none"}
        streamed: Generated = with_target(connector, tmp_path, ask, stream=True, **where, **api)
        service.response = RESPONSE
        whole: Generated = with_target(connector, tmp_path, ask, **where, **api)
        assert [seen["body"].get("stream") for seen in service.seen] == [True, None]
    assert streamed == whole


@pytest.mark.parametrize(
    ("stream", "code", "told"),
    [
        (events(STARTED, PIECE), "provider.connection", "ended its stream in the middle of the answer"),
        (events(STARTED) + "data: {\n\n", "provider.bad_reply", "is no event"),
        (events(STARTED, {"type": "error", "message": "Boom"}), "provider.failed", "Boom"),
        (
            events(
                {"type": "response.failed", "response": {"status": "failed", "output": [], "error": {"message": "Oh"}}}
            ),
            "provider.failed",
            "Oh",
        ),
    ],
)
def test_a_streamed_response_that_does_not_come_to_its_end_is_an_error(
    tmp_path: Path, stream: str, code: str, told: str
) -> None:
    with serving() as service:
        service.response = stream
        where: dict[str, Any] = {"model": "m", "base_url": f"{service.url}/v1", "api_key_env": "none"}
        error = failure_of("responses", tmp_path, stream=True, **where)
    assert (error.error.code, error.error.retry) == (code, "later")
    assert told in error.error.message


# -- how long a call may take --------------------------------------------------------------------------------------

WHERE: dict[str, dict[str, Any]] = {
    "http": {"url": "http://localhost:1/"},
    "responses": {"model": "m"},
    "python": {"function": "json:dumps"},
    "command": {"command": "cat"},
    OPENAI: {"model": "m"},
    ANTHROPIC: {"model": "m"},
}


@pytest.mark.parametrize("connector", WHERE)
def test_the_time_of_a_call_is_a_duration_or_seconds(connector: str) -> None:
    model = target_options(connector, EXTENSIONS)
    for written, meant_s in (("30s", 30.0), ("250ms", 0.25), ("1.5h", 5400.0), (45, 45.0)):
        checked = model.model_validate({**WHERE[connector], "timeout": written})
        assert checked.timeout_s == meant_s  # type: ignore[attr-defined]
        assert "timeout" not in checked.model_dump()
    assert model.model_validate({**WHERE[connector], "timeout_s": 30.0}).timeout_s == 30.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("connector", WHERE)
@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"timeout": "soon"}, "spec.target.timeout"),
        ({"timeout": "0s"}, "spec.target.timeout"),
        ({"timeout": "30h"}, "spec.target.timeout_s is the number 108000"),
        ({"timeout": "30s", "timeout_s": 30.0}, "spec.target says how long a call may take twice"),
    ],
)
def test_a_time_that_is_none_is_told_with_its_place(connector: str, more: dict[str, Any], told: str) -> None:
    found = problems(connector, **WHERE[connector], **more)
    assert any(told in one for one in found), found


def test_a_call_that_takes_longer_than_its_duration_is_ended(tmp_path: Path) -> None:
    with serving() as service:
        error = failure_of("http", tmp_path, url=f"{service.url}/hang", timeout="200ms")
    assert error.error.code == "target.timeout"
