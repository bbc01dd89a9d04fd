"""A pack may crash, hang, leak or lie: every record still gets one outcome, and only the guilty one an error."""

from __future__ import annotations

import sys

import pytest

from evalsi_kernel.errors import PackEnvironmentError, PackError
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import MAX_CRASHES, Pool
from tests.kernel.supervised import NAUGHTY, answered, bounded, chunk_of, kinds, launch, launch_raw, score


def test_what_a_pack_prints_to_stdout_breaks_nothing() -> None:
    [column], _ = score(launch(), "shout", chunk_of(["good", "other"] * 50))
    assert column == [("scored", [{"passed": True}]), ("scored", [{"passed": False}])] * 50


def test_a_record_that_kills_its_process_ends_as_one_error_with_the_last_words_of_the_process() -> None:
    outputs = ["good"] * 100
    outputs[37] = "bad"
    [column], pool = score(launch(), "crash_on_bad", chunk_of(outputs))
    assert kinds(column) == ["scored"] * 37 + ["error"] + ["scored"] * 62
    outcome = column[37]
    assert outcome is not None
    assert outcome[1]["code"] == "pack.crashed"
    assert "SIGKILL" in outcome[1]["message"]
    assert "about to die" in outcome[1]["message"]
    assert pool.restarts <= 8


def test_a_pack_that_crashes_on_every_record_is_given_up_after_some_and_every_record_has_its_error() -> None:
    columns, pool = score(launch(), "segfault_always", chunk_of(["x"] * 60), chunk_of(["y"] * 10))
    assert kinds(columns[0]) == ["error"] * 60
    assert kinds(columns[1]) == ["error"] * 10
    assert pool.restarts < 60
    messages = {outcome[1]["message"] for outcome in columns[0] if outcome is not None}
    assert any(f"crashed on {MAX_CRASHES} records" in message for message in messages)


@pytest.mark.parametrize("evaluator", ["hang_on_bad", "hang_hard_on_bad"])
def test_a_record_that_hangs_ends_as_one_error_after_its_time(evaluator: str) -> None:
    outputs = ["good", "bad", "good", "good"]
    [column], _ = score(launch(), evaluator, chunk_of(outputs), limits=PoolLimits(record_timeout_s=1.0))
    assert kinds(column) == ["scored", "error", "scored", "scored"]
    outcome = column[1]
    assert outcome is not None
    assert outcome[1]["code"] in ("pack.timeout", "pack.crashed")


def test_outcomes_that_were_kept_back_until_the_ping_give_no_record_its_time_twice() -> None:
    pack = Launch("keeps-back", Command([sys.executable, str(NAUGHTY / "keeps_back.py")], whole_environment=True))
    [column], _ = score(pack, "any", chunk_of(["quick", "slow"]), limits=PoolLimits(record_timeout_s=0.2))
    assert kinds(column) == ["scored", "error"]
    assert column[1] is not None
    assert column[1][1]["code"] == "pack.timeout"


@pytest.mark.parametrize("evaluator", ["hang_on_bad", "hang_hard_on_bad", "crash_on_bad"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_record_that_stops_one_evaluator_is_asked_of_the_others_and_never_again_of_that_one(
    evaluator: str, place: int
) -> None:
    evaluators = ["shout", "raise_on_bad"]
    evaluators.insert(place, evaluator)

    async def work() -> tuple[list[list[str]], int]:
        openings = [Opening(session, name) for session, name in enumerate(evaluators, 1)]
        pool, chunk = Pool(launch(), openings, PoolLimits(record_timeout_s=0.5)), chunk_of(["good", "bad", "good"])
        await pool.start()
        try:
            await answered(pool, chunk)
            return [kinds(chunk.columns[session]) for session in pool.sessions], pool.restarts
        finally:
            await pool.close()

    columns, restarts = bounded(work)
    expected = {"shout": ["scored"] * 3}
    assert columns == [expected.get(name, ["scored", "error", "scored"]) for name in evaluators]
    assert restarts <= 5


def test_a_pack_that_leaks_is_replaced_and_loses_nothing() -> None:
    chunks = [chunk_of(["x"] * 10) for _ in range(6)]
    columns, pool = score(launch(), "leak", *chunks, limits=PoolLimits(memory_bytes=150_000_000))
    assert [kinds(column) for column in columns] == [["scored"] * 10] * 6
    assert pool.replacements >= 1
    assert pool.restarts == 0


def test_an_exception_is_an_error_of_its_record_that_names_the_exception() -> None:
    [column], _ = score(launch(), "raise_on_bad", chunk_of(["good", "bad", "good"]))
    assert kinds(column) == ["scored", "error", "scored"]
    outcome = column[1]
    assert outcome is not None
    assert outcome[1]["message"] == "raise_on_bad raised RuntimeError: no such luck"


def test_nan_is_an_error_and_never_a_score() -> None:
    [column], _ = score(launch(), "not_a_number", chunk_of(["good", "bad"]))
    assert kinds(column) == ["scored", "error"]


def test_a_pack_that_ends_at_its_start_is_an_error_with_what_it_wrote() -> None:
    with pytest.raises(PackError, match=r"(?s)exited with code 7.*cannot find my configuration") as caught:
        score(launch(NAUGHTY / "crash_at_start.py"), "any", chunk_of(["x"]))
    assert caught.value.code == "pack.start_failed"


def test_a_program_that_is_not_there_is_an_error_that_says_so() -> None:
    with pytest.raises(PackEnvironmentError, match="cannot be started"):
        score(Launch("gone", Command(["/nonexistent/python"])), "any", chunk_of(["x"]))


def test_a_program_that_speaks_no_protocol_is_an_error_that_says_so() -> None:
    with pytest.raises(PackError, match="broke the protocol"):
        score(Launch("talker", Command(["/bin/sh", "-c", "echo hello; sleep 30"])), "any", chunk_of(["x"]))


def test_a_pack_that_never_greets_is_ended_after_its_time() -> None:
    silent = Launch("silent", Command(["/bin/sh", "-c", "sleep 60"]), start_timeout_s=0.3)
    with pytest.raises(PackError, match=r"did not answer within 0\.3 s"):
        score(silent, "any", chunk_of(["x"]))


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("answers_twice", "answered twice for this record"),
        ("unknown_record", "does not match the request"),
        ("unknown_outcome", "does not match the request"),
        ("garbage", "broke the protocol"),
    ],
)
def test_a_pack_that_breaks_the_protocol_costs_errors_and_not_the_run(fault: str, said: str) -> None:
    [column], _ = score(launch_raw(fault), "any", chunk_of(["x", "y"]))
    errors = [outcome[1] for outcome in column if outcome is not None and outcome[0] == "error"]
    assert errors
    assert any(said in error["message"] for error in errors)


def test_a_record_that_the_pack_forgets_is_an_error() -> None:
    [column], _ = score(launch_raw("leaves_gaps"), "any", chunk_of(["x", "y", "z"]))
    assert kinds(column) == ["scored", "scored", "error"]
    assert column[2] is not None
    assert column[2][1]["code"] == "pack.no_answer"
