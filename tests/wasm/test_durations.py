"""A module's records that were waited for, or took a millisecond each by themselves, say how long they took."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from evalsi_protocol.greeting import kernel_hello
from evalsi_protocol.methods import ITEM_DURATIONS, ITEM_RUNS
from tests.protocol.kernel_end import texts
from tests.wasm.hosting import KIND, WORDS, hosting

TAKEN = [ITEM_RUNS, ITEM_DURATIONS]


@pytest.fixture(autouse=True)
def _each_look_at_the_clock_is_two_ms_later(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = count()
    monkeypatch.setattr("evalsi_wasm.scoring.monotonic", lambda: next(looks) * 0.002)


@pytest.mark.parametrize(("capabilities", "ms"), [(TAKEN, [2.0]), ([ITEM_RUNS], [])])
def test_a_record_that_was_computed_by_itself_says_how_long(
    capabilities: list[str], ms: list[float], tmp_path: Path
) -> None:
    with hosting(WORDS, tmp_path, greet=False) as kernel:
        kernel.ask("hello", kernel_hello("test", "0", capabilities))
        kernel.open(1, "word-count")
        _, items = kernel.score(texts("a b"))
        assert items == [[1, 0, "scored", [{"value": 2.0}], *ms]]


def test_records_that_were_computed_together_are_a_run_and_no_state_says_how_long(tmp_path: Path) -> None:
    with hosting(WORDS, tmp_path, greet=False) as kernel:
        kernel.ask("hello", kernel_hello("test", "0", TAKEN))
        kernel.open(1, "word-count")
        kernel.open(2, "words-per-answer")
        request = kernel.start("score", {"sessions": [1], "records": texts(*["a b"] * 50)})
        assert kernel.wait_for(request) == {"outcomes": {"scored": 50}}
        assert sum(len(columns[0][2]) for _, _, columns in kernel.runs[request]) + len(kernel.items[request]) == 50
        assert kernel.score(texts("a b"), 2)[1] == [[2, 0, "state", {"state": 2}]]


@pytest.mark.parametrize(("capabilities", "size"), [([*TAKEN, "judge.ask"], 5), (["judge.ask"], 4)])
def test_a_record_that_waited_for_a_judge_says_how_long(capabilities: list[str], size: int, tmp_path: Path) -> None:
    reply: dict[str, Any] = {"value": {"kind": True}, "text": "…", "ref": "r", "model": "m", "cached": False}
    with hosting(KIND, tmp_path, greet=False) as kernel:
        kernel.ask("hello", kernel_hello("test", "0", capabilities))
        kernel.open(1, "kind")
        request = kernel.start("score", {"sessions": [1], "records": texts("be nice")})
        kernel.until(lambda: kernel.asks)
        kernel.machine.respond(kernel.asks[0].id, {"replies": [reply | {"cost_usd": None}]})
        kernel.send()
        assert kernel.wait_for(request) == {"outcomes": {"scored": 1}}
        (item,) = kernel.items[request]
    assert item[:4] == [1, 0, "scored", [{"passed": True}]]
    assert len(item) == size
    assert all(ms > 0 for ms in item[4:])
