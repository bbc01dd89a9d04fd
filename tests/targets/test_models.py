"""A model as a target: what it is asked, and that its provider's faults lose no item and make no number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.target import Generated, Target, TargetInput
from tests.providers import KEY, Provider, Request, faults, fixed
from tests.runs.running import MODEL_KEY, model_of, write_spec
from tests.targets.asking import ask, failure, failure_of, problems, with_target
from tests.targets.running_here import outcomes, run_here


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODEL_KEY, KEY)


def options(vendor: Provider, **more: Any) -> dict[str, Any]:
    return {name: value for name, value in model_of(vendor, **more).items() if name != "connector"}


def asked_of(vendor: Provider, folder: Path, use: Callable[[Target], Any], **more: Any) -> Any:
    return with_target("openai-compatible", folder, use, **options(vendor, **more))


def test_the_input_is_the_question_and_a_prompt_is_filled(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        made: Generated = asked_of(vendor, tmp_path, ask, system_prompt="Be brief.", seed=5)
        asked_of(vendor, tmp_path, lambda target: ask(target, "x", 3), prompt="Say {{input}} of {{id}}", seed=5)
        first, second = vendor.requests
    assert made.output == "Lisbon"
    assert [(one["role"], one["content"]) for one in first.body["messages"]] == [
        ("system", "Be brief."),
        ("user", "hello"),
    ]
    assert second.body["messages"][-1]["content"] == "Say x of of x"
    assert (first.body["seed"], second.body["seed"]) == (5, 7)


def test_messages_are_asked_as_they_are(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    with Provider(fixed("Lisbon")) as vendor:
        asked_of(vendor, tmp_path, lambda target: ask(target, {"messages": messages}))
        assert vendor.requests[0].body["messages"] == messages


def test_a_prompt_that_cannot_be_made_is_an_error_of_its_item_and_calls_nobody(tmp_path: Path) -> None:
    async def used(target: Target) -> list[Any]:
        inputs: list[dict[str, Any]] = [
            {},
            {"input": {"json": {"q": 1}}},
            {"input": {"messages": [{"role": "assistant", "content": None}]}},
            {"input": {"messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "f"}]}]}},
            {"input": {"messages": [{"role": "tool", "content": "5", "tool_call_id": "1"}]}},
        ]
        given = [TargetInput({"id": "r", **one}, 1) for one in inputs]
        assert [target.bounds(one) for one in given] == [(0, 0)] * 5
        return [await failure(target.generate(one)) for one in given]

    with Provider(fixed("Lisbon")) as vendor:
        made = asked_of(vendor, tmp_path, used)
        lacking = failure_of("openai-compatible", tmp_path, **options(vendor, prompt="{{metadata.topic}}"))
        assert vendor.calls == 0
    for error in (*made, lacking):
        assert (error.error.code, error.error.source, error.is_final) == ("target.input", "record", False)
        assert error.tokens.input == 0
    assert "has no metadata.topic" in lacking.error.message


def test_what_a_model_did_not_finish_or_would_not_say_is_an_output_that_says_so(tmp_path: Path) -> None:
    plan = [faults.cut_text(), faults.empty_content(), faults.refusal(), None]
    with Provider(fixed("Lisbon"), faults=plan) as vendor:

        async def used(target: Target) -> list[Generated]:
            return [await ask(target) for _ in plan]

        cut, empty, refused, whole = asked_of(vendor, tmp_path, used)
    assert (bool(cut.output), cut.metadata) == (True, {"finish": "length"})
    assert empty.output == ""
    assert refused.metadata == {"finish": "refusal"}
    assert (whole.output, whole.metadata) == ("Lisbon", {})


def test_its_identity_is_what_it_is_asked_and_no_key(tmp_path: Path) -> None:
    async def used(target: Target) -> dict[str, Any]:
        return dict(target.identity)

    with Provider(fixed("Lisbon")) as vendor:
        identity = asked_of(vendor, tmp_path, used, system_prompt="Be brief.", timeout_s=5.0)
    assert identity["system_prompt"] == "Be brief."
    assert KEY not in str(identity)
    assert "timeout_s" not in identity


def test_a_prompt_that_names_nothing_is_found_in_the_spec() -> None:
    [told] = problems("openai-compatible", model="m", prompt="Answer {{question}}")
    assert told == (
        "spec.target.prompt has {{question}}, and a record has no field question. "
        "Write {{metadata.question}} for a column that is not mapped."
    )


def test_a_storm_of_refusals_loses_nothing(tmp_path: Path) -> None:
    rows = [{"id": f"r{number}", "question": f"Q{number}?", "answer": "Lisbon"} for number in range(6)]
    with Provider(fixed("Lisbon"), faults=lambda call: faults.rate_limited(0.01) if call <= 3 else None) as vendor:
        _, results = run_here(write_spec(tmp_path, model_of(vendor, max_concurrency=3), rows))
        assert vendor.calls == 9
    assert outcomes(results) == ["scored"] * 6
    assert results["manifest"]["target_usage"]["failed"] == 0


def test_a_fault_that_passes_is_tried_again_and_one_that_stays_is_an_error_and_never_a_score(tmp_path: Path) -> None:
    passing: dict[str, list[Any]] = {
        "Q1?": [faults.missing_choices()],
        "Q2?": [faults.hang()],
        "Q3?": [faults.truncated_json()],
        "Q4?": [faults.server_error(503)],
    }
    rows = [{"id": f"r{number}", "question": f"Q{number}?", "answer": "Lisbon"} for number in range(7)]

    def answer(request: Request) -> Any:
        if "Q0?" in request.prompt:
            return faults.bad_request()
        if "Q5?" in request.prompt:
            return faults.empty_content()
        left = next((plan for question, plan in passing.items() if question in request.prompt), [])
        return left.pop() if left else "Lisbon"

    with Provider(answer) as vendor:
        _, results = run_here(write_spec(tmp_path, model_of(vendor, timeout_s=0.5), rows))
    assert outcomes(results) == ["provider.bad_request", *["scored"] * 6]
    assert "output" not in results["records"][0]
    assert [one["output"] for one in results["records"][1:]] == ["Lisbon"] * 4 + ["", "Lisbon"]
    assert results["summaries"][0]["n"] == 6


def test_ten_megabytes_of_a_reply_are_an_output(tmp_path: Path) -> None:
    text = "x" * (10 * 2**20)
    with Provider(fixed(text)) as vendor:
        made: Generated = asked_of(vendor, tmp_path, ask, max_tokens=2**24)
    assert len(made.output) == len(text)
