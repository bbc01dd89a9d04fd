"""A run with batches that is interrupted, whenever that is: the same command gets what is paid for, and pays once."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from tests.cli.running import write_jsonl
from tests.judging.batch_runs import (
    BOTH,
    BOUND_S,
    HANDED_IN,
    OPENAI,
    batches_made,
    command,
    last_digit,
    on_file,
    prepare,
    read_until,
    rows,
    run,
    scores,
)
from tests.providers import Batching, Provider, faults

FIVE = rows(11, 12, 13, 14, 15)
ALL = {"11": 1, "12": 2, "13": 3, "14": 4, "15": 5}
ENDED = Batching(polls=0)


@pytest.fixture(autouse=True)
def full_at_five(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=5)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", FIVE)


def kill_when_handed_in(server: Provider, provider: str, data: Path, *words: str) -> None:
    """Run the command until its batch is handed in, and end it as a crash would."""
    with command(server, provider, data, *words) as process:
        read_until(process, "handed in, 5 questions")
        process.send_signal(signal.SIGKILL)


@pytest.mark.parametrize("provider", BOTH)
def test_a_run_that_is_killed_after_it_handed_in_is_picked_up(provider: str, data: Path) -> None:
    with Provider(last_digit, batching=ENDED) as server:
        kill_when_handed_in(server, provider, data)
        result = run(server, FIVE, provider)
        assert (batches_made(server), len(server.rows)) == (1, 5)
    assert scores(result) == ALL
    (summary,) = result.summaries
    assert summary.judge is not None
    assert (summary.judge.calls, summary.judge.cached) == (5, 0), "the run that gets the replies books them"
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_a_run_that_is_killed_while_it_hands_in_is_picked_up_by_what_the_provider_lists(
    provider: str, data: Path
) -> None:
    def held(came: int) -> faults.Fault | None:
        return faults.held() if came == HANDED_IN[provider] else None

    with Provider(last_digit, batching=ENDED, batch_faults=held) as server:
        with command(server, provider, data) as process:
            server.wait(lambda seen: len(seen.rows) == 5, BOUND_S)
            process.send_signal(signal.SIGKILL)
        assert len(on_file()) == 1
        result = run(server, FIVE, provider)
        assert (batches_made(server), len(server.rows)) == (1, 5)
    assert scores(result) == ALL
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_a_run_that_is_killed_before_the_provider_made_the_batch_hands_in_once(provider: str, data: Path) -> None:
    held = faults.held()

    def unmade(came: int) -> faults.Fault | None:
        return (
            faults.server_error() if came == HANDED_IN[provider] else held if came == HANDED_IN[provider] + 1 else None
        )

    with Provider(last_digit, batching=ENDED, batch_faults=unmade) as server:
        with command(server, provider, data) as process:
            # It asks what the provider lists before it would hand in again.
            server.wait(lambda seen: seen.batch_requests == HANDED_IN[provider] + 1, BOUND_S)
            process.send_signal(signal.SIGKILL)
        assert (len(on_file()), server.rows) == (1, [])
        result = run(server, FIVE, provider)
        assert len(server.rows) == 5
    assert scores(result) == ALL
    assert on_file() == []


def test_a_run_without_a_cache_that_is_killed_is_picked_up_by_one_without(data: Path) -> None:
    with Provider(last_digit, batching=ENDED) as server:
        kill_when_handed_in(server, OPENAI, data, "--no-cache")
        run(server, FIVE)
        assert batches_made(server) == 2, "a run with a cache has no part in it"
        result = run(server, FIVE, cache=False)
        assert batches_made(server) == 2
    assert scores(result) == ALL
    assert on_file() == []


def test_what_a_shorter_run_picks_up_is_kept_whole(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Provider(last_digit, batching=ENDED) as server:
        kill_when_handed_in(server, OPENAI, data)
        prepare(monkeypatch, tmp_path / "cache", most=1)
        run(server, FIVE, limit=1)
        assert on_file() == []
        result = run(server, FIVE)
        assert (batches_made(server), len(server.rows)) == (1, 5)
    assert scores(result) == ALL


def test_a_run_that_asks_more_hands_in_only_what_is_new(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Provider(last_digit, batching=ENDED) as server:
        kill_when_handed_in(server, OPENAI, data)
        prepare(monkeypatch, tmp_path / "cache", most=7)
        result = run(server, [*FIVE, *rows(21, 22)])
        assert (batches_made(server), len(server.rows)) == (2, 7)
    assert scores(result) == {**ALL, "21": 1, "22": 2}


def test_a_repair_that_was_under_way_is_picked_up_with_the_reply_that_made_it_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(monkeypatch, tmp_path / "cache", most=1)
    data = write_jsonl(tmp_path / "one.jsonl", rows(9))

    def nine_then_four(request: object) -> dict[str, int]:
        return {"score": 9 if len(server.rows) == 1 else 4}

    killed: list[bool] = []
    with_both: list[int] = []

    def kept_waiting(came: int) -> faults.Fault | None:
        if batches_made(server) < 2 or killed:
            return None
        # The first of these made the second batch; those that ask after it get no answer.
        with_both.append(came)
        return faults.held() if len(with_both) > 1 else None

    with Provider(nine_then_four, batching=ENDED, batch_faults=kept_waiting) as server:
        with command(server, OPENAI, data, most=1, poll_s=0.0) as process:
            read_until(process, "batch_2: handed in")
            process.send_signal(signal.SIGKILL)
        killed.append(True)
        assert len(on_file()) == 2
        result = run(server, rows(9))
        assert (batches_made(server), len(server.rows)) == (2, 2)
    assert scores(result) == {"9": 4}
    assert on_file() == []


@pytest.mark.parametrize("provider", BOTH)
def test_ctrl_c_leaves_the_batch_to_the_provider_and_the_same_command_picks_it_up(provider: str, data: Path) -> None:
    with Provider(last_digit, batching=ENDED) as server:
        with command(server, provider, data) as process:
            read_until(process, "handed in, 5 questions")
            process.send_signal(signal.SIGINT)
            out, err = process.communicate()
            assert process.returncode == 130
        assert "· partial" in out
        assert "goes on at the provider. The same command picks it up." in err
        assert not any("cancel" in request.path for request in server.requests)
        with command(server, provider, data, "--format", "json", poll_s=0.0) as process:
            out, err = process.communicate()
            assert process.returncode == 0, err
        assert "picked up, 5 questions" in err
        assert (batches_made(server), len(server.rows)) == (1, 5)
    (summary,) = json.loads(out)["summaries"]
    assert (summary["n"], summary["mean"]) == (5, 3.0)


def test_ctrl_c_before_a_batch_is_full_hands_nothing_in(data: Path) -> None:
    with Provider(last_digit) as server:
        with command(server, OPENAI, data, most=6) as process:
            server.wait(lambda seen: seen.batch_requests == 1, BOUND_S)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        assert server.rows == []
    assert "goes on" not in err


def test_a_note_that_cannot_be_read_is_told_and_left_alone(tmp_path: Path) -> None:
    note = tmp_path / "cache" / "judge" / "batches" / "evalsi-0.json"
    note.parent.mkdir(parents=True)
    note.write_text("{")
    with Provider(last_digit) as server:
        assert scores(run(server, FIVE)) == ALL
    assert note.read_text() == "{"


def test_a_note_that_is_a_month_old_is_removed(tmp_path: Path) -> None:
    note = tmp_path / "cache" / "judge" / "batches" / "evalsi-0.json"
    note.parent.mkdir(parents=True)
    note.write_text("{")
    long_ago = time.time() - 31 * 24 * 3600
    os.utime(note, (long_ago, long_ago))
    with Provider(last_digit) as server:
        run(server, FIVE)
    assert not note.exists()


def test_a_dry_run_hands_nothing_in_and_foresees_half_the_price(tmp_path: Path, data: Path) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text('version = "mine"\n[models."my-judge"]\ninput = 0.0\noutput = 10.0\n')
    with Provider(last_digit) as server:
        words = ["--dry-run", "--format", "json", "--judge-prices", str(prices), "--judge-max-tokens", "1000"]
        with command(server, OPENAI, data, *words) as process:
            out, _ = process.communicate()
        assert server.requests == []
    preview = json.loads(out)
    assert (preview["calls"], preview["max_usd"]) == (5, pytest.approx(5 * 1_000 * 10.0 / 1e6 / 2))
