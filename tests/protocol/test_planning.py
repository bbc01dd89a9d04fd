"""Test the `plan` and `reduce` requests of judge evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evalsi import JudgeReply, Question, Record, evaluator
from evalsi_protocol.errors import WireError
from tests.protocol.kernel_end import KernelEnd, code_of, serving, texts

SCHEMA = {"type": "object", "properties": {"good": {"type": "boolean"}}, "required": ["good"]}
LOST = WireError("provider.timeout", "The provider did not answer in time.", "Try again.", "provider", "later")


@evaluator(name="kind", version=1, needs=("output",), asks=("judge",))
class Kind:
    """Two questions about each record, which are met when both answers are good."""

    def plan(self, record: Record) -> list[Question]:
        text = record.output.as_text()
        if text == "unreadable":
            raise ValueError("no question fits it")
        return [Question([{"role": "user", "content": f"{word}: {text}"}], SCHEMA) for word in ("kind", "true")]

    def reduce(self, record: Record, replies: Sequence[JudgeReply]) -> bool:
        return all(reply.value["good"] for reply in replies)


RECORDS: list[dict[str, Any]] = [*texts("hello"), {"id": "bare"}, {"id": "odd", "output": "unreadable"}]


def ask(kernel: KernelEnd, method: str, **body: Any) -> Any:
    return kernel.ask(method, {"session": 1, "records": RECORDS, **body})


@pytest.mark.spec("PLN-2", "PLN-3")
def test_a_plan_is_a_question_list_a_record_and_asks_nothing() -> None:
    with serving(Kind) as kernel:
        kernel.open(1, "kind")
        first, second = ask(kernel, "plan"), ask(kernel, "plan")
        assert first == second
        planned, skipped, failed = first["plans"]
    assert planned[0] == "planned"
    assert [request["messages"][0]["content"] for request in planned[1]["requests"]] == ["kind: hello", "true: hello"]
    assert [request["schema"] for request in planned[1]["requests"]] == [SCHEMA, SCHEMA]
    assert skipped == ["skipped", {"reason": "record has no output"}]
    assert (failed[0], failed[1]["code"]) == ("error", "pack.evaluator_raised")


@pytest.mark.spec("PLN-2", "PLN-3", "PLN-4")
def test_replies_reduce_to_outcomes_and_a_failed_one_fails_its_record_with_its_own_code() -> None:
    def good(*answers: bool) -> list[dict[str, Any]]:
        return [{"value": {"good": answer}, "text": "…"} for answer in answers]

    cases: list[tuple[list[dict[str, Any]], Any]] = [
        (good(True, True), ["scored", [{"passed": True}]]),
        (good(True, False), ["scored", [{"passed": False}]]),
        ([*good(True), {"error": LOST.to_body()}], ["error", LOST.to_body()]),
    ]
    with serving(Kind) as kernel:
        kernel.open(1, "kind")
        for replies, expected in cases:
            answer = kernel.ask("reduce", {"session": 1, "records": texts("hello"), "replies": [replies]})
            assert answer == {"outcomes": [expected]}


@pytest.mark.spec("PLN-1")
def test_an_evaluator_that_asks_while_it_scores_has_no_pure_form() -> None:
    @evaluator(name="plain", version=1)
    def plain(record: Record) -> bool:
        return True

    with serving(plain) as kernel:
        kernel.open(1, "plain")
        for method in ("plan", "reduce"):
            assert code_of(ask(kernel, method, replies=[[], [], []])) == "pack.not_supported"


def test_replies_that_are_not_one_list_a_record_are_refused() -> None:
    with serving(Kind) as kernel:
        kernel.open(1, "kind")
        assert code_of(ask(kernel, "reduce", replies=[])) == "protocol.body"
