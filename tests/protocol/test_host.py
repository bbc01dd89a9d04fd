"""Test the SDK's host loop from the kernel's side: answers, their order, and errors of a pack."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from evalsi import Record, Score, Skip, evaluator
from evalsi.definition import Definition
from evalsi.host import Host
from evalsi.loading import LoadError
from evalsi_protocol.channels import MemoryChannel, memory_pair
from evalsi_protocol.errors import WireError
from evalsi_protocol.limits import MIN_FRAME_BYTES
from tests.protocol.kernel_end import BOUND_S, Answer, KernelEnd, code_of, serving, texts


@evaluator(name="polite", version=1, needs=("output",))
def polite(record: Record) -> bool:
    return "please" in record.output.as_text()


@pytest.mark.spec("SCO-1", "SCO-2", "SCO-3", "SCO-5", "OUT-2", "PNG-1", "DSC-1", "CLO-1", "BYE-1")
def test_a_session_from_hello_to_bye() -> None:
    @evaluator(name="length", version=1)
    def length(record: Record) -> int:
        return len(record.output.as_text())

    with serving(polite, length) as kernel:
        described = kernel.ask("describe", {})
        assert isinstance(described, dict)
        assert [one["name"] for one in described["evaluators"]] == ["polite", "length"]
        kernel.open(1, "polite")
        kernel.open(2, "length")
        answer, items = kernel.score([*texts("please", "now"), {"id": "2"}], 1, 2)
        assert sorted(items) == [
            [1, 0, "scored", [{"passed": True}]],
            [1, 1, "scored", [{"passed": False}]],
            [1, 2, "skipped", {"reason": "record has no output"}],
            [2, 0, "scored", [{"value": 6.0}]],
            [2, 1, "scored", [{"value": 3.0}]],
            [2, 2, "skipped", {"reason": "record has no output"}],
        ]
        assert answer == {"outcomes": {"scored": 4, "skipped": 2}}
        assert kernel.ask("ping", {}) == {"running": []}
        assert kernel.ask("close", {"session": 1}) == {}
        assert code_of(kernel.score(texts("please"))[0]) == "protocol.session"
        assert isinstance(kernel.open(1, "polite"), dict)
        assert kernel.ask("bye", {}) == {}


@pytest.mark.spec("REQ-7", "REQ-8", "OPN-1", "OPN-2", "SCO-2", "PLN-1")
def test_a_request_that_cannot_be_done_is_answered_with_why() -> None:
    @evaluator(name="strict", version=1)
    def strict(record: Record, *, limit: int = 3) -> bool:
        return True

    with serving(polite, strict) as kernel:
        kernel.open(1, "polite")
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("plan", {"session": 1, "records": []}, "pack.not_supported"),
            ("open", {"session": 1, "evaluator": "polite"}, "protocol.session"),
            ("open", {"session": 2, "evaluator": "rude"}, "config.unknown_evaluator"),
            ("open", {"session": 2, "evaluator": "strict", "params": {"size": 1}}, "config.param"),
            ("open", {"session": 2, "evaluator": "strict", "params": {"limit": "many"}}, "config.param"),
            ("open", {"evaluator": "polite"}, "protocol.body"),
            ("open", {"session": True, "evaluator": "polite"}, "protocol.body"),
            ("open", {"session": 2, "evaluator": "polite", "params": []}, "protocol.body"),
            ("open", {"session": 2, "evaluator": "polite", "concurrency": "many"}, "protocol.body"),
            ("score", {"sessions": [9], "records": []}, "protocol.session"),
            ("score", {"sessions": [[1]], "records": []}, "protocol.session"),
            ("score", {"sessions": 1, "records": []}, "protocol.body"),
            ("score", {"sessions": [1]}, "protocol.body"),
            ("aggregate", {"session": 1, "states": []}, "protocol.session"),
            ("close", {}, "protocol.body"),
        ]
        for method, body, code in refused:
            answer = kernel.ask(method, body)
            assert code_of(answer) == code, (method, body)
            assert isinstance(answer, WireError)
            assert answer.hint
        assert kernel.score(texts("please"))[0] == {"outcomes": {"scored": 1}}


@pytest.mark.spec("SCO-4", "OUT-1", "OUT-3", "OUT-4", "OUT-5", "VAL-3", "VAL-4", "VAL-7", "SUP-7", "ERR-3")
def test_what_an_evaluator_does_wrong_costs_its_record_only() -> None:
    odd_key: Any = {1: "x"}
    loop: list[Any] = []
    loop.append(loop)

    def fault(output: str) -> Any:
        if output == "exit":
            sys.exit(3)
        if output == "raise":
            raise ValueError("odd \ud800 text")
        if output == "skip":
            raise Skip("odd \ud800 reason")
        makers: dict[str, Callable[[], Any]] = {
            "nan": lambda: float("nan"),
            "none": lambda: None,
            "two": lambda: [Score(name="a", value=1), Score(name="a", value=2)],
            "key": lambda: Score(passed=True, metadata=odd_key),
            "deep nan": lambda: Score(passed=True, metadata={"x": [float("inf")]}),
            "bytes": lambda: Score(passed=True, metadata={"x": b"x"}),
            "loop": lambda: Score(passed=True, metadata={"x": loop}),
            "surrogate": lambda: Score(passed=True, explanation="\ud800"),
            "cost": lambda: Score(passed=True, cost_usd=float("nan")),
            "fine": lambda: True,
        }
        return makers[output]()

    @evaluator(name="faulty", version=1)
    def faulty(record: Record) -> Any:
        return fault(record.output.as_text())

    @evaluator(name="faulty-async", version=1)
    async def faulty_async(record: Record) -> Any:
        await asyncio.sleep(0)
        return fault(record.output.as_text())

    faults = ["exit", "raise", "nan", "none", "two", "key", "deep nan", "bytes", "loop", "surrogate", "cost"]
    for name, one in (("faulty", faulty), ("faulty-async", faulty_async)):
        with serving(one) as kernel:
            kernel.open(1, name)
            answer, items = kernel.score(texts(*faults, "skip", "fine"))
            outcomes = {index: (outcome, payload) for _, index, outcome, payload in items}
            for index, output in enumerate(faults):
                outcome, payload = outcomes[index]
                assert outcome == "error", output
                assert payload["code"] in ("pack.evaluator_raised", "pack.bad_score", "protocol.unencodable")
                assert payload["source"] == "pack"
            assert "faulty" in outcomes[0][1]["message"]
            assert "SystemExit: 3" in outcomes[0][1]["message"]
            assert "ValueError: odd \\ud800 text" in outcomes[1][1]["message"]
            assert outcomes[len(faults)] == ("skipped", {"reason": "odd \\ud800 reason"})
            assert outcomes[len(faults) + 1] == ("scored", [{"passed": True}])
            assert answer == {"outcomes": {"error": len(faults), "skipped": 1, "scored": 1}}


@pytest.mark.spec("SES-6")
def test_a_channel_that_breaks_ends_the_host_and_says_so_once() -> None:
    class Broken(MemoryChannel):
        def read(self) -> bytes:
            raise OSError("The line is dead.")

    over: list[bool] = []
    nothing: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    host = Host(Broken(nothing, nothing.put), "tested", "1", dict, on_over=lambda: over.append(True))
    host.serve()
    assert over == [True]


@pytest.mark.spec("HEL-1", "HEL-2", "HEL-3")
def test_a_hello_that_cannot_be_met_is_refused_with_what_to_do() -> None:
    def broken() -> dict[str, Definition]:
        raise LoadError("There is no module 'x'. Install it.")

    def raising() -> dict[str, Definition]:
        raise ZeroDivisionError

    for load, majors, code in (
        (broken, [1], "pack.import"),
        (raising, [1], "pack.import"),
        (broken, [2], "protocol.version"),
    ):
        here, there = memory_pair()
        host = Host(there, "tested", "1", load)
        thread = threading.Thread(target=host.serve, daemon=True)
        thread.start()
        kernel = KernelEnd(here)
        assert code_of(kernel.hello(majors=majors)) == code
        here.close()
        thread.join(BOUND_S)
        assert not thread.is_alive()


@pytest.mark.spec("SES-7", "FRM-7")
def test_a_ping_and_garbage_in_one_piece_end_the_host_in_good_order() -> None:
    with serving(polite) as kernel:
        kernel.machine.request("ping", {})
        kernel.channel.write(kernel.machine.data_to_send() + b"\xff" * 8)


@evaluator(name="share", version=1, scope="dataset")
class Share:
    """The share of outputs that are the letter a; fails on a sample without any."""

    def observe(self, record: Record) -> list[float]:
        return [float(record.output.as_text() == "a"), 1]

    def combine(self, totals: list[float]) -> float:
        if not totals[0]:
            raise Skip("no a")
        return totals[0] / totals[1]


@pytest.mark.spec("AGG-1", "AGG-2", "AGG-3", "OUT-1", "CLO-1")
def test_states_come_back_in_parts_and_are_scored_as_one() -> None:
    with serving(Share) as kernel:
        kernel.open(1, "share")
        _, items = kernel.score(texts(*"aabaaabaaa"))
        states = [payload["state"] for _, _, outcome, payload in items if outcome == "state"]
        assert len(states) == 10

        def aggregate(states: list[Any], seed: int = 0) -> Answer:
            assert kernel.ask("aggregate", {"session": 1, "states": states[:3], "more": True}) == {
                "states": len(states[:3])
            }
            body = {"session": 1, "states": states[3:], "more": False, "resamples": 50, "seed": seed}
            return kernel.ask("aggregate", body)

        whole = aggregate(states)
        assert isinstance(whole, dict)
        assert (whole["outcome"], whole["payload"]) == ("scored", [{"value": 0.8}])
        assert len(whole["replicates"][""]) == 50
        assert aggregate(states) == whole
        assert aggregate(states, seed=1) != whole
        # Half of the samples of two have no a: they are no zeros, and without them there is no interval.
        assert aggregate([[1, 1], [0, 1]]) == {"outcome": "scored", "payload": [{"value": 0.5}], "replicates": {}}
        assert aggregate([[0, 1]]) == {"outcome": "skipped", "payload": {"reason": "no a"}, "replicates": {}}
        kernel.ask("aggregate", {"session": 1, "states": states, "more": True})
        kernel.ask("close", {"session": 1})
        kernel.open(1, "share")
        assert kernel.ask("aggregate", {"session": 1, "states": []}) == {
            "outcome": "skipped",
            "payload": {"reason": "no record could be observed"},
            "replicates": {},
        }


@pytest.mark.spec("ERR-4", "DSC-1")
def test_an_answer_that_cannot_be_sent_is_an_error_that_says_why() -> None:
    @evaluator(name="huge", version=1, summary="x" * 70_000)
    def huge(record: Record) -> bool:
        return True

    with serving(huge, max_frame_bytes=MIN_FRAME_BYTES) as kernel:
        assert code_of(kernel.ask("describe", {})) == "protocol.too_large"
        assert kernel.ask("ping", {}) == {"running": []}


@pytest.mark.spec("LIM-1", "SCO-4", "ITM-5")
def test_items_too_long_for_one_frame_come_in_several_and_one_alone_too_long_is_an_error() -> None:
    @evaluator(name="verbose", version=1)
    def verbose(record: Record) -> Score:
        return Score(passed=True, explanation="x" * int(record.output.as_text()))

    with serving(verbose, max_frame_bytes=MIN_FRAME_BYTES) as kernel:
        kernel.open(1, "verbose")
        answer, items = kernel.score(texts(*["20000"] * 20, "70000", "1"))
        assert answer == {"outcomes": {"scored": 21, "error": 1}}
        assert sorted(item[1] for item in items) == list(range(22))
        assert [(index, payload["code"]) for _, index, kind, payload in items if kind == "error"] == [
            (20, "protocol.too_large")
        ]


@pytest.mark.spec("WIN-1", "WIN-3")
def test_the_window_that_hello_names_is_the_one_that_holds() -> None:
    with serving(polite, window=7) as kernel:
        kernel.open(1, "polite")
        assert kernel.machine.peer_window == 7
        asked = [kernel.start("score", {"sessions": [1], "records": texts("please")}) for _ in range(7)]
        assert {str(kernel.wait_for(request_id)) for request_id in asked} == {"{'outcomes': {'scored': 1}}"}
