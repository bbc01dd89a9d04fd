"""Whatever a pack does to its streams, its children and its files: no record is lost, nothing hangs, nothing stays."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.supervision.launch import Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pack_process import TAIL_CHARS
from evalsi_kernel.supervision.pool import Pool
from tests.kernel.supervised import NAUGHTY, answered, bounded, chunk_of, kinds, launch, score

LOUD = launch(NAUGHTY / "loud.py")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a dead pack wrote is read for so long; a second elsewhere."""
    monkeypatch.setattr("evalsi_kernel.supervision.pack_process.LEAVE_S", 0.2)


def message(outcome: Outcome | None) -> str:
    assert outcome is not None
    text: str = outcome[1]["message"]
    return text


def test_a_pack_that_prints_while_it_is_imported_scores_every_record() -> None:
    [column], pool = score(LOUD, "leaves", chunk_of(["a"] * 20))
    assert kinds(column) == ["scored"] * 20
    assert pool.restarts == 0


def test_megabytes_on_stderr_hold_nothing_up_and_the_last_words_are_kept_short() -> None:
    [column], _ = score(LOUD, "writes_megabytes", chunk_of(["a", "a", "bad"]))
    assert kinds(column) == ["scored", "scored", "error"]
    said = message(column[2])
    assert said.endswith("last words")
    assert len(said) < TAIL_CHARS + 1000


def test_an_evaluator_that_ends_the_interpreter_costs_its_record_and_no_process() -> None:
    [column], pool = score(LOUD, "leaves", chunk_of(["a", "bad", "a"]))
    assert kinds(column) == ["scored", "error", "scored"]
    assert message(column[1]) == "leaves raised SystemExit: enough"
    assert pool.restarts == 0


def test_a_pack_that_closes_its_standard_streams_scores_on() -> None:
    [column], pool = score(LOUD, "closes_standard_streams", chunk_of(["a", "bad", "a"]))
    assert kinds(column) == ["scored"] * 3
    assert pool.restarts == 0


@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        # Its next write fails and ends it: whether it is gone before its patience is up is for the system to say.
        ("closes_everything", "closed its stream without exiting and was killed|exited with code 1"),
        ("closes_everything_and_stays", "closed its stream without exiting and was killed"),
    ],
)
def test_a_pack_that_closes_the_way_to_the_kernel_loses_that_record_alone(evaluator: str, said: str) -> None:
    columns, _ = score(LOUD, evaluator, chunk_of(["bad"]), chunk_of(["a"]))
    assert [kinds(column) for column in columns] == [["error"], ["scored"]]
    assert re.search(said, message(columns[0][0]))


def test_a_child_that_holds_the_pipes_of_a_dead_pack_is_ended_and_holds_nothing_up() -> None:
    started = time.monotonic()
    [column], _ = score(LOUD, "leaves_a_child", chunk_of(["a", "bad", "a"]))
    assert kinds(column) == ["scored", "error", "scored"]
    assert time.monotonic() - started < 10


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[Path]:
    """The file to which ids of processes are written that nobody but this test ends."""
    file = tmp_path / "daemons"
    yield file
    for line in file.read_text().splitlines():
        with suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)


def test_a_child_that_left_the_group_of_a_dead_pack_holds_nothing_up(daemons: Path) -> None:
    outcomes = score_with(LOUD, "leaves_a_daemon", ["bad"], where=str(daemons))
    assert kinds(outcomes) == ["error"]


def score_with(started: Launch, evaluator: str, outputs: Sequence[str], **params: str) -> list[Outcome | None]:
    async def work() -> list[Outcome | None]:
        pool = Pool(started, [Opening(1, evaluator, params)], PoolLimits())
        await pool.start()
        try:
            return await answered(pool, chunk_of(outputs))
        finally:
            await pool.close()

    return bounded(work)


@pytest.mark.parametrize("outputs", [["a", "a"], ["a", "bad"]])
def test_the_scratch_folders_of_a_pack_are_gone_afterwards(
    outputs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    started = LOUD._replace(command=LOUD.command._replace(whole_environment=False))  # type: ignore[union-attr]
    [column], pool = score(started, "leaves_files", chunk_of(outputs))
    assert kinds(column) == ["error" if output == "bad" else "scored" for output in outputs]
    assert (pool.restarts > 0) == ("bad" in outputs)
    assert list(tmp_path.iterdir()) == []
