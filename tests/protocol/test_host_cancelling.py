"""Every request is answered once, even if cancelled or open at `bye`."""

from __future__ import annotations

import asyncio
import threading

import pytest

from evalsi import Record, evaluator
from tests.protocol.kernel_end import BOUND_S, code_of, serving, texts


@pytest.mark.spec("CAN-1", "CAN-2", "PNG-1", "PNG-2", "WIN-4")
def test_a_cancelled_request_is_answered_once_with_what_was_finished() -> None:
    entered, go_on = threading.Event(), threading.Event()

    @evaluator(name="slow", version=1)
    def slow(record: Record) -> bool:
        if record.id == "1":
            entered.set()
            assert go_on.wait(BOUND_S)
        return True

    with serving(slow) as kernel:
        kernel.open(1, "slow")
        request_id = kernel.start("score", {"sessions": [1], "records": texts("a", "b", "c")})
        assert entered.wait(BOUND_S)
        running = kernel.ask("ping", {})
        assert isinstance(running, dict)
        (current,) = running["running"]
        assert (current["request"], current["index"], current["session"]) == (request_id, 1, 1)
        assert kernel.items[request_id] == [[1, 0, "scored", [{"passed": True}]]]
        kernel.machine.cancel(request_id)
        # A second request, which is cancelled before it is begun.
        waiting = kernel.start("score", {"sessions": [1], "records": texts("a")})
        kernel.machine.cancel(waiting)
        kernel.send()
        kernel.ask("ping", {})
        go_on.set()
        assert code_of(kernel.wait_for(request_id)) == "protocol.cancelled"
        assert code_of(kernel.wait_for(waiting)) == "protocol.cancelled"
        assert [index for _, index, _, _ in kernel.items[request_id]] == [0, 1]
        assert kernel.ask("ping", {}) == {"running": []}


@pytest.mark.spec("CAN-2", "CAN-3", "PNG-1")
def test_cancelled_async_requests_are_answered_and_give_back_their_places() -> None:
    started = threading.Semaphore(0)

    @evaluator(name="waits", version=1)
    async def waits(record: Record) -> bool:
        if record.output.as_text() == "wait":
            started.release()
            await asyncio.get_running_loop().create_future()
        return True

    with serving(waits) as kernel:
        kernel.open(1, "waits", concurrency=2)
        for _ in range(5):
            request_id = kernel.start("score", {"sessions": [1], "records": texts("wait", "wait", "wait")})
            assert started.acquire(timeout=BOUND_S)
            assert started.acquire(timeout=BOUND_S)
            running = kernel.ask("ping", {})
            assert isinstance(running, dict)
            assert [one["index"] for one in running["running"]] == [0, 1]
            kernel.machine.cancel(request_id)
            kernel.send()
            assert code_of(kernel.wait_for(request_id)) == "protocol.cancelled"
        # Cancelled in the same breath as asked: whichever comes first inside, it never hangs.
        for _ in range(20):
            request_id = kernel.start("score", {"sessions": [1], "records": texts("wait")})
            kernel.machine.cancel(request_id)
            kernel.send()
            assert code_of(kernel.wait_for(request_id)) == "protocol.cancelled"
        assert kernel.score(texts("a", "b", "c"))[0] == {"outcomes": {"scored": 3}}
        assert kernel.ask("ping", {}) == {"running": []}


@pytest.mark.spec("BYE-1", "REQ-3")
def test_bye_comes_after_the_answers_to_everything_that_still_ran() -> None:
    @evaluator(name="waits", version=1)
    async def waits(record: Record) -> bool:
        await asyncio.get_running_loop().create_future()
        return True

    with serving(waits) as kernel:
        kernel.open(1, "waits")
        asked = [kernel.start("score", {"sessions": [1], "records": texts("a", "b")}) for _ in range(3)]
        goodbye = kernel.start("bye", {})
        assert kernel.wait_for(goodbye) == {}
        assert {code_of(kernel.answers[request_id]) for request_id in asked} == {"protocol.cancelled"}
        assert list(kernel.answers)[-1] == goodbye
        kernel.until(lambda: kernel.machine.state.value == "ended")


def test_the_end_of_an_evaluator_let_out_of_its_own_task_is_an_error() -> None:
    @evaluator(name="lets-out", version=1)
    async def lets_out(record: Record) -> bool:
        raise asyncio.CancelledError

    with serving(lets_out) as kernel:
        kernel.open(1, "lets-out")
        answer, items = kernel.score(texts("a"))
        assert answer == {"outcomes": {"error": 1}}
        assert "CancelledError" in items[0][3]["message"]
