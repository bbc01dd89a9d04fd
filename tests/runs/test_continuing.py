"""A run that was broken off goes on by the same command: nothing that was finished is lost, nothing is asked again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import ConfigError
from tests.cli.running import evalsi
from tests.providers import Provider, Request, faults, fixed
from tests.runs.running import executed, logged, model_of, records, results, run, start, write_spec

COUNT = 60
AT_ONCE = 4
ANSWERED = 10


def questions(requests: list[Request]) -> Counter[str]:
    """How often each question was asked."""
    return Counter(request.prompt for request in requests)


def kill_at(process: subprocess.Popen[bytes], vendor: Provider, calls: int) -> None:
    """Kill a run as soon as its target has seen so many calls, or is done."""
    vendor.wait(lambda seen: seen.calls >= calls or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_what_the_log_holds_is_not_asked_again(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.01) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        kill_at(start(tmp_path), vendor, 25)
        progress = logged(tmp_path, COUNT)
        kept = [item for item in range(COUNT) if progress.generated(item) is not None]
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
    assert evalsi("runs", "list", "--label", "team=none", cwd=tmp_path).out == "No runs here have these labels.\n"
    assert "--label team has no value" in evalsi("runs", "list", "--label", "team", cwd=tmp_path).err
    assert "run-1  cancelled" in listed
    assert "cancelled" in evalsi("runs", "show", "run-1", cwd=tmp_path).out
    assert evalsi("runs", "cancel", "run-1", cwd=tmp_path).code == 1
    assert evalsi("runs", "delete", "run-1", cwd=tmp_path).code == 0
    assert evalsi("runs", "list", cwd=tmp_path).out == "No runs here.\n"
    assert "There is no run 'run-1'" in evalsi("runs", "show", "run-1", cwd=tmp_path).err


@pytest.fixture
def vendor() -> Iterator[Provider]:
    """A vendor that answers ten calls, refuses the next so that a run is broken off there, and answers all after it."""
    with Provider(fixed("Lisbon"), faults=lambda call: faults.unauthorized() if call == ANSWERED + 1 else None) as one:
        yield one


def broken_off(folder: Path, vendor: Provider, **spec: Any) -> Path:
    """A run that was broken off after ten answers; returns its spec."""
    path = write_spec(folder, model_of(vendor, max_concurrency=1), records(COUNT), **spec)
    assert executed(folder).done == ANSWERED
    return path


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('max_tokens": 64', 'max_tokens": 65', "target.max_tokens was 64 and is 65"),
        ('"exact-match"', '"token-f1"', "evaluators.exact-match is gone; evaluators.token-f1 is new"),
        ('"trials": 1', '"trials": 2', "trials was 1 and is 2"),
        ('"mapping": {"input": "question"', '"mapping": {"input": "answer"', "dataset.sha256 was"),
    ],
)
def test_what_has_changed_since_is_named_and_fresh_begins_anew(
    tmp_path: Path, vendor: Provider, old: str, new: str, told: str
) -> None:
    path = broken_off(tmp_path, vendor, trials=1)
    before = vendor.calls
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ConfigError, match=re.escape(told)) as caught:
        executed(tmp_path)
    assert "--fresh" in str(caught.value.hint)
    assert vendor.calls == before
    assert executed(tmp_path, fresh=True).run_id == "run-2"
    assert results(tmp_path, "run-2")["manifest"]["status"] == "complete"


def test_a_change_of_the_data_is_named(tmp_path: Path, vendor: Provider) -> None:
    broken_off(tmp_path, vendor)
    data = tmp_path / "qa.jsonl"
    data.write_text(data.read_text().replace("Question 3?", "Question three?"))
    with pytest.raises(ConfigError, match=r"dataset\.sha256 was"):
        executed(tmp_path)


def test_a_change_of_an_evaluator_of_one_s_own_is_named_though_its_version_is_not_bumped(
    tmp_path: Path, vendor: Provider
) -> None:
    """Two states of it would be in one mean; who tries things out bumps no version."""
    own = tmp_path / "mine.py"
    own.write_text("def mine(record):\n    return 0.5\n")
    broken_off(tmp_path, vendor, evaluators=[{"ref": "./mine.py:mine"}], gates=[])
    own.write_text("def mine(record):\n    return 0.9\n")
    with pytest.raises(ConfigError, match=r"evaluators\.mine\.sha256 was"):
        executed(tmp_path)
    own.write_text("def mine(record):\n    return 0.5\n")
    assert executed(tmp_path).kept == ANSWERED
    (entry,) = results(tmp_path)["manifest"]["evaluators"]
    assert entry["sha256"] == hashlib.sha256(own.read_bytes()).hexdigest()


def test_gates_and_pace_may_change_while_a_run_goes_on(tmp_path: Path, vendor: Provider) -> None:
    broken_off(tmp_path, vendor)
    gates = [{"metric": "exact-match", "min": 0.4}]
    write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT), gates=gates)
    end = executed(tmp_path)
    assert (end.run_id, end.kept, end.verdict) == ("run-1", ANSWERED, "pass")


def test_a_log_that_was_cut_in_the_middle_of_a_record_loses_that_record_alone(tmp_path: Path, vendor: Provider) -> None:
    broken_off(tmp_path, vendor)
    kept = logged(tmp_path, COUNT)
    last = max(item for item in range(COUNT) if kept.is_done(item))
    log = tmp_path / ".evalsi" / "runs" / "run-1" / "events"
    # Up to the last outcomes, of which a byte is missing.
    os.truncate(log, kept._scored[last] + 20)
    before = vendor.calls
    end = executed(tmp_path)
    assert end.kept == ANSWERED - 1
    assert vendor.calls - before == COUNT - ANSWERED
    assert {one["outcome"] for one in results(tmp_path)["results"]} == {"scored"}


def test_a_score_of_the_whole_data_is_the_same_however_often_a_run_was_broken_off(tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    refused = {11, 23}
    evaluators = [{"ref": "corpus-bleu"}, {"ref": "exact-match"}]

    def answer(request: Request) -> str:
        return f"The answer to the {request.prompt} is a town"

    rows = [
        {**row, "answer": f"The answer to the Question {number}? is a city"}
        for number, row in enumerate(records(COUNT))
    ]
    for folder, faulty in ((whole, False), (broken, True)):
        folder.mkdir()
        plan = [faults.unauthorized() if faulty and call in refused else None for call in range(1, COUNT)]
        with Provider(answer, faults=plan) as vendor:
            write_spec(folder, model_of(vendor, max_concurrency=1), rows, evaluators=evaluators)
            while executed(folder).state != "succeeded":
                pass
            assert vendor.calls == COUNT + (len(refused) if faulty else 0)
    assert results(broken)["summaries"] == results(whole)["summaries"]
    (score,) = [one for one in results(whole)["summaries"] if one["metric"] == "corpus-bleu"]
    assert (score["n"], score["errors"]) == (COUNT, 0)


def test_a_run_that_may_stop_early_decides_the_same_after_it_was_broken_off(tmp_path: Path) -> None:
    rows = [{"id": f"r{number}", "question": f"Question {number}?", "answer": "Lisbon"} for number in range(400)]
    refuses = [True]
    with Provider(
        fixed("Lisbon"), faults=lambda call: faults.unauthorized() if refuses[0] and call > 4 else None
    ) as vendor:
        gates = [{"metric": "exact-match", "min": 0.5}]
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), rows, gates=gates, stop_when_decided=True)
        assert executed(tmp_path).done == 4
        refuses[0] = False
        end = executed(tmp_path)
        assert (end.state, end.verdict, end.kept) == ("succeeded", "pass", 4)
        stopped = results(tmp_path)["manifest"]["stopped_early"]
        # How far answers run ahead of their scores is for the machine to say.
        assert stopped["items"] == end.done < len(rows)
        again = executed(tmp_path)
    # What is in flight when all is decided differs; the decision does not.
    assert (again.run_id, again.verdict) == ("run-2", "pass")
    assert again.gates[0].verdict == end.gates[0].verdict


SLOW = """
import os, time
from evalsi import evaluator

@evaluator(name="slow", version=1, needs=["output"])
def slow(record):
    time.sleep(0.01)
    os.write(os.open("scored", os.O_WRONLY), b".")
    return True
"""


def test_what_a_slow_evaluator_has_scored_is_lost_by_a_few_records_at_most(tmp_path: Path) -> None:
    count, seen = 300, 100
    os.mkfifo(tmp_path / "scored")
    told = os.open(tmp_path / "scored", os.O_RDWR)
    (tmp_path / "slow.py").write_text(SLOW.replace('"scored"', repr(str(tmp_path / "scored"))))
    rows = [{"id": str(number), "question": "?", "output": "Lisbon"} for number in range(count)]
    # Recorded outputs are all there at once, and fit one frame.
    write_spec(tmp_path, {"connector": "replay"}, rows, evaluators=[{"ref": "./slow.py:slow"}])
    document = json.loads((tmp_path / "run.yaml").read_text())
    document["spec"]["dataset"]["mapping"] = {"input": "question", "output": "output"}
    (tmp_path / "run.yaml").write_text(json.dumps(document))
    process = start(tmp_path)
    scored = 0
    while scored < seen:
        assert select.select([told], [], [], 60)[0]
        scored += len(os.read(told, 4096))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert run(tmp_path).code == 0
    while select.select([told], [], [], 0)[0]:
        scored += len(os.read(told, 4096))
    os.close(told)
    assert len(results(tmp_path)["results"]) == count
    assert count <= scored <= count + seen // 2


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_g5_a_continued_run_tells_the_times_of_all_its_attempts(tmp_path: Path, end: signal.Signals) -> None:
    with Provider(fixed("Lisbon"), latency_s=0.02) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        process = start(tmp_path)
        vendor.wait(lambda seen: seen.calls >= 10)
        process.send_signal(end)
        process.communicate(timeout=30)
        assert run(tmp_path).code == 0
    manifest = results(tmp_path)["manifest"]
    first, last = manifest["attempts"]
    assert manifest["started_at"] == first["started_at"] < first["finished_at"] <= last["started_at"]
    assert last["started_at"] < last["finished_at"] <= manifest["finished_at"]
    assert (first["kept"], last["kept"]) == (0, manifest["kept"])
    shown = json.loads(evalsi("runs", "show", "run-1", "--format", "json", cwd=tmp_path).out)
    assert (shown["attempts"], len(shown["attempt_times"])) == (2, 2)
    assert evalsi("report", ".evalsi/runs/run-1/results.json", "-o", "report.md", cwd=tmp_path).code == 0
    assert "in 2 attempts" in (tmp_path / "report.md").read_text()
