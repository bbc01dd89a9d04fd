"""A run that was broken off goes on by the same command: nothing that was finished is lost, nothing is asked again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.running import evalsi
from tests.providers import Provider, Request, faults, fixed
from tests.runs.running import logged, model_of, outcomes, records, results, run, start, write_spec

COUNT = 60
AT_ONCE = 4


def questions(requests: list[Request]) -> Counter[str]:
    """How often each question was asked."""
    return Counter(request.prompt for request in requests)


def kill_at(process: subprocess.Popen[bytes], vendor: Provider, calls: int) -> None:
    """Kill a run as soon as its target has seen so many calls, or is done."""
    vendor.wait(lambda seen: seen.calls >= calls or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_killed_run_goes_on_and_gives_the_numbers_of_one_that_was_not(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        for folder in (whole, broken):
            folder.mkdir()
            write_spec(folder, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT), trials=2)
        run(whole)
        before = vendor.calls
        draw = random.Random(7)
        kills = 0
        while kills < 5:
            kept = 0
            if (broken / ".evalsi").exists():
                kept = sum(map(logged(broken, COUNT * 2).is_generated, range(COUNT * 2)))
            process = start(broken)
            kill_at(process, vendor, vendor.calls + draw.randint(1, 20))
            kills += 1
            if (broken / ".evalsi").exists():
                assert sum(map(logged(broken, COUNT * 2).is_generated, range(COUNT * 2))) >= kept
        done = run(broken)
        assert done.code == 0
        # A call in flight when the process is killed is made again: nobody could know its answer.
        assert COUNT * 2 <= vendor.calls - before <= COUNT * 2 + kills * AT_ONCE
    assert outcomes(results(broken)) == outcomes(results(whole))
    assert results(broken)["summaries"] == results(whole)["summaries"]


def test_what_the_log_holds_is_not_asked_again(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 25)
        progress = logged(tmp_path, COUNT)
        kept = [item for item in range(COUNT) if progress.is_generated(item)]
        seen = len(vendor.requests)
        done = run(tmp_path)
        asked_again = questions(vendor.requests[seen:])
    assert f"{progress.done} of {COUNT} kept, {COUNT - progress.done} to go" in done.err
    assert kept
    assert not [item for item in kept if any(f"Question {item}?" in prompt for prompt in asked_again)]


def test_ctrl_c_ends_in_an_orderly_way_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.02) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        process = start(tmp_path)
        vendor.wait(lambda seen: seen.calls >= 10)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert process.returncode == 130
        value = results(tmp_path)
        assert value["manifest"]["status"] == "partial"
        scored = [one for one in value["results"] if one["outcome"] == "scored"]
        assert scored
        assert run(tmp_path).code == 0
        # What was in flight had half a second to come, and was kept.
        assert max(questions(vendor.requests).values()) == 1
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored"}


def test_a_run_is_cancelled_from_outside_listed_shown_and_deleted(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=lambda call: faults.held() if call > 5 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=2), records(COUNT))
        process = start(tmp_path)
        vendor.wait(lambda seen: seen.calls >= 6)
        locked = run(tmp_path)
        assert locked.code == 1
        assert f"The run run-1 is being worked on by process {process.pid}." in locked.err
        assert "being worked on" in evalsi("runs", "delete", "run-1", cwd=tmp_path).err
        assert evalsi("runs", "cancel", "run-1", cwd=tmp_path).code == 0
        process.communicate(timeout=30)
        vendor.release()
    listed = evalsi("runs", "list", cwd=tmp_path).out
    assert "run-1  cancelled" in listed
    assert "cancelled" in evalsi("runs", "show", "run-1", cwd=tmp_path).out
    assert evalsi("runs", "cancel", "run-1", cwd=tmp_path).code == 1
    assert evalsi("runs", "delete", "run-1", cwd=tmp_path).code == 0
    assert evalsi("runs", "list", cwd=tmp_path).out == "No runs here.\n"
    assert "There is no run 'run-1'" in evalsi("runs", "show", "run-1", cwd=tmp_path).err


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace('max_tokens": 64', 'max_tokens": 65'), "target.max_tokens was 64 and is 65"),
        (
            lambda text: text.replace('"exact-match"', '"token-f1"'),
            "evaluators.exact-match is gone; evaluators.token-f1 is new",
        ),
    ],
)
def test_what_has_changed_since_is_named_and_fresh_begins_anew(tmp_path: Path, change: object, told: str) -> None:
    assert callable(change)
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        path = write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 5)
        path.write_text(change(path.read_text()))
        refused = run(tmp_path)
        assert refused.code == 1
        assert told in refused.err
        assert "--fresh" in refused.err
        assert run(tmp_path, "--fresh").code == 0
    assert results(tmp_path, "run-2")["manifest"]["status"] == "complete"


def test_a_change_of_the_data_is_named(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 5)
        data = tmp_path / "qa.jsonl"
        data.write_text(data.read_text().replace("Question 3?", "Question three?"))
        refused = run(tmp_path)
    assert refused.code == 1
    assert "dataset.sha256 was" in refused.err


def test_gates_may_change_while_a_run_goes_on(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 5)
        gates = [{"metric": "exact-match", "min": 0.4}]
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE * 2), records(COUNT), gates=gates)
        assert run(tmp_path).code == 0
    assert results(tmp_path)["verdict"] == "pass"


def test_a_log_that_was_cut_in_the_middle_of_a_record_loses_that_record_alone(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 30)
        log = tmp_path / ".evalsi" / "runs" / "run-1" / "events"
        os.truncate(log, log.stat().st_size - 7)
        seen = vendor.calls
        assert run(tmp_path).code == 0
        assert vendor.calls - seen < COUNT
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored"}
