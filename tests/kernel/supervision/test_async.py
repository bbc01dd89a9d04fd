"""Evaluators that wait: so many records in flight as are allowed, and a bad one costs itself alone."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import evalsi
from evalsi import Record
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.supervision.launch import Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from tests.kernel.supervised import NAUGHTY, answered, bounded, chunk_of, kinds, launch, score

WAITING = launch(NAUGHTY / "waiting.py")


@pytest.mark.parametrize("concurrency", [2, 16])
def test_concurrency_bounds_the_records_in_flight_and_is_made_use_of(concurrency: int) -> None:
    [column], _ = score(WAITING, "in_flight", chunk_of(["a"] * 32), limits=PoolLimits(concurrency=concurrency))
    assert max(outcome[1][0]["value"] for outcome in column if outcome is not None) == concurrency


@pytest.mark.parametrize("max_requests", [1, 3])
def test_max_requests_bounds_the_requests_in_flight_and_each_is_made_use_of(max_requests: int) -> None:
    async def work() -> list[list[Outcome | None]]:
        pool = Pool(WAITING, [Opening(1, "in_flight")], PoolLimits(max_requests=max_requests))
        await pool.start()
        try:
            return await asyncio.gather(*(answered(pool, chunk_of(["a"])) for _ in range(24)))
        finally:
            await pool.close()

    outcomes = [column[0] for column in bounded(work)]
    assert max(outcome[1][0]["value"] for outcome in outcomes if outcome is not None) == max_requests


def test_concurrency_bounds_the_functions_of_a_script_as_well() -> None:
    most = {"now": 0, "ever": 0}

    async def counted(record: Record) -> bool:
        most["now"] += 1
        most["ever"] = max(most["ever"], most["now"])
        await asyncio.sleep(0.005)
        most["now"] -= 1
        return True

    rows: list[dict[str, Any]] = [{"output": "a"}] * 40
    assert evalsi.evaluate(rows, [counted], concurrency=4, quiet=True)["counted"].mean == 1.0
    assert most == {"now": 0, "ever": 4}


def test_an_asynchronous_evaluator_that_raises_cancels_itself_or_leaves_costs_its_record() -> None:
    outputs = ["a", "raise", "b", "cancel", "c", "exit", "d"]
    [column], pool = score(WAITING, "raises_on_bad", chunk_of(outputs))
    assert kinds(column) == ["scored", "error"] * 3 + ["scored"]
    messages = [outcome[1]["message"] for outcome in column if outcome is not None and outcome[0] == "error"]
    assert [message.split(" raised ")[1].split(":")[0] for message in messages] == [
        "LookupError",
        "CancelledError",
        "SystemExit",
    ]
    assert pool.restarts == 0


@pytest.mark.parametrize("evaluator", ["hangs_on_bad", "blocks_on_bad"])
def test_an_asynchronous_evaluator_that_never_comes_back_costs_its_record_after_its_time(evaluator: str) -> None:
    [column], _ = score(
        WAITING, evaluator, chunk_of(["a", "bad", "a", "a"]), limits=PoolLimits(record_timeout_s=1.0, concurrency=2)
    )
    assert kinds(column) == ["scored", "error", "scored", "scored"]
    assert column[1] is not None
    assert column[1][1]["code"] == "pack.timeout"


def test_a_record_that_waits_behind_another_after_its_ask_is_not_blamed_for_it() -> None:
    async def judge(method: str, body: dict[str, Any]) -> dict[str, Any]:
        return {}

    async def work() -> list[Any]:
        limits = PoolLimits(record_timeout_s=1.0, concurrency=2)
        pool = Pool(WAITING, [Opening(1, "blocks_once_another_was_told")], limits, answer=judge)
        await pool.start()
        try:
            return await answered(pool, chunk_of(["good", "bad"]))
        finally:
            await pool.close()

    column = bounded(work)
    assert kinds(column) == ["scored", "error"]
    assert column[1][1]["code"] == "pack.timeout"
