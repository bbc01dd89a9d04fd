"""The example pack in Zig: what it scores, over the whole of the protocol's requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_protocol.errors import WireError
from evalsi_protocol.greeting import kernel_hello
from evalsi_protocol.methods import ITEM_RUNS
from tests.protocol.kernel_end import KernelEnd, code_of, texts
from tests.wasm.hosting import WORDS, hosting, pinged, running
from tests.wasm.wat import FOR_EVER, guest, where

RECORDS: list[dict[str, Any]] = [
    {"id": "same", "output": " The  quick\nfox ", "reference": "the quick fox"},
    {"id": "of several", "output": "Grüße aus Köln", "reference": ["no", "Grüße aus Köln"]},
    {"id": "other", "output": "the quick", "reference": "the quick fox"},
    {"id": "no reference", "output": "the quick"},
    {"id": "messages", "output": {"messages": [{"role": "assistant", "content": "the"}]}, "reference": "the"},
]


def outcomes(kernel: KernelEnd, session: int, records: list[dict[str, Any]]) -> list[list[Any]]:
    answer, items = kernel.score(records, session)
    assert isinstance(answer, dict)
    return [[outcome, payload] for _, _, outcome, payload in sorted(items, key=lambda one: one[1])]


@pytest.mark.abi("WAB-6", "WAB-7", "WAB-13", "WAB-14")
def test_each_record_gets_its_outcome_and_what_cannot_be_scored_is_skipped(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path) as kernel:
        kernel.open(1, "same-words")
        found = outcomes(kernel, 1, RECORDS)
    assert found == [
        ["scored", [{"passed": True}]],
        ["scored", [{"passed": True}]],
        ["scored", [{"passed": False}]],
        ["skipped", {"reason": "record has no reference"}],
        ["skipped", {"reason": "the output is no text"}],
    ]


@pytest.mark.abi("WAB-14")
def test_params_reach_the_module_with_their_defaults_and_wrong_ones_do_not(tmp_path: Path) -> None:
    record = [{"id": "0", "output": "The", "reference": "the"}]
    with hosting(WORDS, tmp_path) as kernel:
        kernel.open(1, "same-words", params={"case_sensitive": True})
        kernel.open(2, "same-words")
        assert [outcomes(kernel, session, record)[0][1][0]["passed"] for session in (1, 2)] == [False, True]
        assert code_of(kernel.open(3, "same-words", params={"case": True})) == "config.param"
        assert code_of(kernel.open(3, "same-words", params={"case_sensitive": "yes"})) == "config.param"
        assert code_of(kernel.open(3, "no-words")) == "config.unknown_evaluator"
        assert code_of(kernel.open(1, "same-words")) == "protocol.session"
        assert code_of(kernel.open(3, "same-words", record_timeout_s=0)) == "protocol.body"


@pytest.mark.abi("WAB-16")
def test_the_whole_of_the_data_is_scored_from_states_in_parts_and_resampled(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path) as kernel:
        kernel.open(1, "words-per-answer")
        states = [payload["state"] for _, payload in outcomes(kernel, 1, texts("a b c", "a", "a b"))]
        assert states == [3, 1, 2]
        assert kernel.ask("aggregate", {"session": 1, "states": states[:1], "more": True}) == {"states": 1}
        body = {"session": 1, "states": states[1:], "resamples": 20, "seed": 7}
        answer = kernel.ask("aggregate", body)
        kernel.ask("aggregate", {"session": 1, "states": states[:1], "more": True})
        assert kernel.ask("aggregate", body) == answer, "the same states and seed give the same"
        empty = kernel.ask("aggregate", {"session": 1, "states": []})
        kernel.open(2, "word-count")
        assert code_of(kernel.ask("aggregate", {"session": 2, "states": []})) == "protocol.session"
    assert isinstance(answer, dict)
    assert (answer["outcome"], answer["payload"]) == ("scored", [{"value": 2.0}])
    assert len(answer["replicates"][""]) == 20
    assert all(1 <= value <= 3 for value in answer["replicates"][""])
    assert isinstance(empty, dict)
    assert empty["outcome"] == "skipped"


def test_a_module_that_asks_no_judge_plans_nothing(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path) as kernel:
        kernel.open(1, "word-count")
        assert code_of(kernel.ask("plan", {"session": 1, "records": texts("a")})) == "pack.not_supported"
        assert code_of(kernel.ask("score", {"session": 1})) == "protocol.body"
        assert code_of(kernel.ask("score", {"sessions": [9], "records": []})) == "protocol.session"
        assert code_of(kernel.ask("score", {"sessions": [1], "records": [1]})) == "protocol.body"
        assert kernel.ask("close", {"session": 1}) == {}
        assert code_of(kernel.ask("score", {"sessions": [1], "records": []})) == "protocol.session"


def test_verdicts_of_one_form_go_as_runs_to_a_kernel_that_takes_them(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path, greet=False) as kernel:
        kernel.ask("hello", kernel_hello("test", "0", [ITEM_RUNS]))
        kernel.open(1, "word-count")
        request = kernel.start("score", {"sessions": [1], "records": texts(*["a b"] * 100)})
        assert kernel.wait_for(request) == {"outcomes": {"scored": 100}}
    runs = kernel.runs[request]
    values = [value for _, _, ((_, _, column),) in runs for value in column]
    assert {(session, name, key) for session, _, ((name, key, _),) in runs} == {(1, "", "value")}
    assert len(values) + len(kernel.items[request]) == 100
    assert set(values) == {2.0}


def test_outcomes_go_in_events_that_the_kernel_takes(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path, greet=False) as kernel:
        hello = kernel_hello("test", "0", []) | {"max_frame_bytes": 65_536}
        kernel.machine.max_frame_bytes = 65_536
        kernel.ask("hello", hello)
        kernel.open(1, "word-count")
        answer, items = kernel.score(texts(*["a b"] * 5_000))
    assert answer == {"outcomes": {"scored": 5_000}}
    assert sorted(index for _, index, _, _ in items) == list(range(5_000))


def test_the_runner_serves_it_as_a_process_and_ends_after_its_goodbye() -> None:
    with running(WORDS, "--name=acme/words", "--version=1.0.0") as (kernel, process):
        hello = kernel.hello()
        assert isinstance(hello, dict)
        assert hello["pack"] == {"name": "acme/words", "version": "1.0.0"}
        assert hello["capabilities"] == ["aggregate", "score"]
        kernel.open(1, "word-count")
        assert kernel.score(texts("a b"))[0] == {"outcomes": {"scored": 1}}
        assert kernel.ask("bye", {}) == {}
        assert process.wait(60) == 0, "it does not wait for the end of its stream"


def test_the_runner_ends_when_its_kernel_goes_away_in_the_middle_of_a_record(tmp_path: Path) -> None:
    (tmp_path / "loop.wasm").write_bytes(guest(FOR_EVER))
    with running(tmp_path / "loop.wasm") as (kernel, process):
        kernel.hello()
        kernel.open(1, "tested")
        kernel.start("score", {"sessions": [1], "records": texts("a")})
        while not (running_now := pinged(kernel)):
            pass
        assert (running_now[0]["session"], running_now[0]["index"]) == (1, 0)
        assert process.poll() is None


@pytest.mark.abi("WAB-17")
def test_a_request_that_is_cancelled_is_answered_at_once_although_the_module_goes_on(tmp_path: Path) -> None:
    with hosting(guest(FOR_EVER), tmp_path) as kernel:
        kernel.open(1, "tested", record_timeout_s=0.5)
        request = kernel.start("score", {"sessions": [1], "records": texts(*"abc")})
        kernel.machine.cancel(request)
        kernel.send()
        answer = kernel.wait_for(request)
        assert isinstance(answer, WireError)
        assert answer.code == "protocol.cancelled"
        assert kernel.items[request] == []


def test_what_is_held_back_goes_before_the_answer_to_a_ping(tmp_path: Path) -> None:
    quick_then_slow = guest(where("!", FOR_EVER))
    with hosting(quick_then_slow, tmp_path) as kernel:
        kernel.open(1, "tested", record_timeout_s=1)
        request = kernel.start("score", {"sessions": [1], "records": texts("a", "b!")})
        while not any(running["index"] == 1 for running in pinged(kernel)):
            assert request not in kernel.answers
        assert [index for _, index, _, _ in kernel.items[request]] == [0]
        kernel.wait_for(request)
