"""The example pack in AssemblyScript, which asks a judge: planned, asked and reduced, by itself and by the kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_protocol.errors import WireError
from tests.protocol.kernel_end import KernelEnd, code_of, texts
from tests.wasm.hosting import KIND, hosting
from tests.wasm.wat import JUDGING, guest, packed

LOST = WireError("provider.timeout", "The provider did not answer in time.", "Try again.", "provider", "later")
PLANS = """(func (export "evalsi_plan") (param $ptr i32) (param $len i32) (result i64)
  (call $score (local.get $ptr) (local.get $len)))
  (func (export "evalsi_reduce") (param i32 i32) (result i64) (i64.const 0))"""


def reply(*, kind: bool) -> dict[str, Any]:
    return {"value": {"kind": kind}, "text": "…", "ref": "r", "model": "m", "cached": False, "cost_usd": None}


def answered(kernel: KernelEnd, count: int) -> list[dict[str, Any]]:
    """The bodies of the next asks, in the order of their records, once there are so many."""
    kernel.until(lambda: len(kernel.asks) >= count)
    return sorted((ask.body for ask in kernel.asks), key=lambda body: str(body["record"]))


@pytest.mark.abi("WAB-15")
def test_each_record_is_asked_about_and_scored_from_its_own_reply(tmp_path: Path) -> None:
    with hosting(KIND, tmp_path) as kernel:
        kernel.open(7, "kind")
        request = kernel.start("score", {"sessions": [7], "records": [*texts("be nice", "go away"), {"id": "bare"}]})
        kernel.until(lambda: len(kernel.asks) == 2)
        # Answered in the other order: none waits for another's.
        for ask in reversed(kernel.asks):
            nice = "be nice" in ask.body["requests"][0]["messages"][1]["content"]
            kernel.machine.respond(ask.id, {"replies": [reply(kind=nice)]})
        kernel.send()
        assert kernel.wait_for(request) == {"outcomes": {"scored": 2, "skipped": 1}}
    bodies = answered(kernel, 2)
    assert [(body["session"], body["record"], len(body["requests"])) for body in bodies] == [(7, "0", 1), (7, "1", 1)]
    assert bodies[0]["requests"][0]["schema"]["required"] == ["kind"]
    found = {index: payload for _, index, _, payload in kernel.items[request]}
    assert (found[0], found[1]) == ([{"passed": True}], [{"passed": False}])
    assert found[2] == {"reason": "record has no output"}


@pytest.mark.abi("WAB-15")
def test_a_plan_is_pure_and_replies_reduce_to_outcomes(tmp_path: Path) -> None:
    with hosting(KIND, tmp_path) as kernel:
        kernel.open(1, "kind")
        records = [*texts("Grüße 👋", "b", "c"), {"id": "bare"}]
        first = kernel.ask("plan", {"session": 1, "records": records})
        assert first == kernel.ask("plan", {"session": 1, "records": records})
        assert kernel.asks == []
        assert isinstance(first, dict)
        planned = first["plans"]
        assert [kind for kind, _ in planned] == ["planned"] * 3 + ["skipped"]
        assert planned[0][1]["requests"][0]["messages"][1]["content"] == "-----\nGrüße 👋\n-----"
        replies = [[reply(kind=True)], [reply(kind=False)], [{"error": LOST.to_body()}]]
        reduced = kernel.ask("reduce", {"session": 1, "records": records[:3], "replies": replies})
        assert reduced == {
            "outcomes": [["scored", [{"passed": True}]], ["scored", [{"passed": False}]], ["error", LOST.to_body()]]
        }
        assert code_of(kernel.ask("reduce", {"session": 1, "records": records, "replies": []})) == "protocol.body"
        kernel.open(2, "characters")
        assert kernel.score(texts("Grüße 👋"), 2)[1][0][3] == [{"value": 7.0}]


def test_a_judge_that_cannot_be_asked_is_an_error_of_its_code(tmp_path: Path) -> None:
    with hosting(KIND, tmp_path) as kernel:
        kernel.open(1, "kind")
        request = kernel.start("score", {"sessions": [1], "records": texts("a", "b", "c")})
        kernel.until(lambda: len(kernel.asks) == 3)
        kernel.machine.fail(kernel.asks[0].id, LOST)
        kernel.machine.respond(kernel.asks[1].id, {"replies": [{"error": LOST.to_body()}]})
        kernel.machine.respond(kernel.asks[2].id, {"replies": []})
        kernel.send()
        assert kernel.wait_for(request) == {"outcomes": {"error": 3}}
    codes = {payload["code"] for _, _, _, payload in kernel.items[request]}
    assert codes == {"provider.timeout", "protocol.body"}


def test_no_more_records_wait_than_the_kernel_says_and_a_cancelled_one_gives_its_ask_up(tmp_path: Path) -> None:
    with hosting(KIND, tmp_path) as kernel:
        kernel.open(1, "kind", concurrency=2)
        request = kernel.start("score", {"sessions": [1], "records": texts(*"abcdef")})
        for number in range(4):
            kernel.until(lambda number=number: len(kernel.asks) > number)  # type: ignore[misc]
            assert len(kernel.machine.unanswered) <= 2
            kernel.machine.respond(kernel.asks[number].id, {"replies": [reply(kind=True)]})
            kernel.send()
        kernel.until(lambda: len(kernel.asks) == 6)
        kernel.machine.cancel(request)
        kernel.send()
        assert code_of(kernel.wait_for(request)) == "protocol.cancelled"
        assert kernel.ask("ping", {}) == {"running": []}


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"plans": [["planned", {"requests": "ask"}]]}, "has a plan whose requests are not a list of maps"),
        ({"plans": [["planned", {"requests": []}]]}, "has a plan whose requests are not a list of maps"),
        ({"plans": [["scored", [{"passed": True}]]]}, "has the outcome 'scored'; there are error, planned, skipped"),
        ({"plans": []}, "has 0 plans for 1 records"),
    ],
)
def test_a_plan_that_is_none_is_an_error(answer: dict[str, Any], told: str, tmp_path: Path) -> None:
    code = guest(answer=packed(answer), description={"evaluators": [JUDGING]}, more=PLANS)
    with hosting(code, tmp_path) as kernel:
        kernel.open(1, "tested")
        _, items = kernel.score(texts("a"))
    assert items[0][2] == "error"
    assert told in items[0][3]["message"]
