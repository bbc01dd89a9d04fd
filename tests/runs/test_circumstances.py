"""A run under a full disk, a clock that goes backwards and a user in a hurry: it ends in order, and goes on."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
from collections import Counter
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest

from evalsi_kernel.errors import OutputError
from evalsi_kernel.request import Listener
from evalsi_kernel.runs import attempt, history, running
from tests.cli.running import BOUND_S, EVALSI
from tests.providers import KEY, Provider, faults, fixed
from tests.runs.running import MODEL_KEY, executed, logged, model_of, records, results, run, write_spec

COUNT = 60
AT_ONCE = 4
DISK_BYTES = 24_000


def asked(vendor: Provider) -> Counter[str]:
    return Counter(request.prompt for request in vendor.requests)


def test_a_disk_that_is_full_ends_the_run_and_nothing_that_was_written_down_is_lost_or_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, pwrite = [0], os.pwrite

    def filling(descriptor: int, data: bytes, offset: int) -> int:
        """As a disk with room for so many bytes: it takes what fits, and then no more."""
        fits = data[: max(0, DISK_BYTES - written[0])]
        if not fits:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written[0] += len(fits)
        return pwrite(descriptor, fits, offset)

    with Provider(fixed("Lisbon " * 150)) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE, max_tokens=1_000), records(COUNT))
        monkeypatch.setattr(os, "pwrite", filling)
        with pytest.raises(OutputError, match=r"events cannot be written: No space left on device\."):
            executed(tmp_path)
        monkeypatch.setattr(os, "pwrite", pwrite)
        kept = [item for item in range(COUNT) if logged(tmp_path, COUNT).generated(item) is not None]
        assert 0 < len(kept) < COUNT
        before = asked(vendor)
        assert executed(tmp_path).state == "succeeded"
        assert not [item for item in kept if asked(vendor)[f"Question {item}?"] != before[f"Question {item}?"]]
    assert Counter(one["outcome"] for one in results(tmp_path)["results"]) == {"scored": COUNT}


class Backwards(datetime):
    """A clock that goes back by an hour with every look at it."""

    looks = 0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        cls.looks += 1
        return cls(2030, 1, 1, tzinfo=UTC) - timedelta(hours=cls.looks)


def test_a_clock_that_goes_backwards_changes_nothing_but_what_is_shown_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (history, running):
        monkeypatch.setattr(module, "datetime", Backwards)
    refuses = [True]
    with Provider(fixed("Lisbon"), faults=lambda _: faults.unauthorized() if refuses[0] else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        assert executed(tmp_path).state == "error"
        refuses[0] = False
        end = executed(tmp_path)
        assert (end.run_id, end.state, end.done) == ("run-1", "succeeded", COUNT)
        end = executed(tmp_path)
        assert (end.run_id, end.state, end.kept) == ("run-2", "succeeded", 0)
    assert Backwards.looks > 10
    manifest = results(tmp_path, "run-2")["manifest"]
    assert manifest["finished_at"] < manifest["started_at"]


def test_a_second_ctrl_c_ends_at_once_and_the_same_command_goes_on(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon"), faults=lambda call: faults.held() if call > 10 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=AT_ONCE), records(COUNT))
        process = subprocess.Popen(
            [EVALSI, "run", "-f", "run.yaml"],
            cwd=tmp_path,
            env=os.environ | {MODEL_KEY: KEY},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        vendor.wait(lambda seen: seen.in_flight == AT_ONCE)
        process.send_signal(signal.SIGINT)
        while "stopping" not in (line := process.stderr.readline()):
            assert line, "it ended before it was told to"
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        process.stderr.close()
        assert process.wait(BOUND_S) == 130
        assert "Traceback" not in rest
        kept = logged(tmp_path, COUNT).done
        vendor.release()
        done = run(tmp_path)
        assert done.code == 0
        assert f"{kept} of {COUNT} kept" in done.err
    assert Counter(one["outcome"] for one in results(tmp_path)["results"]) == {"scored": COUNT}


def test_a_log_with_a_damaged_end_is_told_of_and_goes_on(tmp_path: Path) -> None:
    notes: list[str] = []
    with Provider(fixed("Lisbon"), faults=lambda call: faults.unauthorized() if call == 20 else None) as vendor:
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), records(COUNT))
        assert executed(tmp_path).state == "error"
        with (tmp_path / ".evalsi" / "runs" / "run-1" / "events").open("ab") as log:
            log.write(b"\0" * 4096)  # As a machine that lost its power may leave it.
        end = executed(tmp_path, listener=Listener(on_note=notes.append))
    assert end.state == "succeeded"
    assert "run-1: the last 4,096 bytes of its log were damaged and are dropped" in notes
    assert f"run-1: 19 of {COUNT} kept, {COUNT - 19} to go" in notes


def test_a_summary_that_a_killed_process_could_not_write_is_written_by_the_next(tmp_path: Path) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor))
        executed(tmp_path)
        folder = tmp_path / ".evalsi" / "runs" / "run-1"
        summary: dict[str, Any] = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps(summary | {"state": "gating"}))
        (folder / ".evalsi-0123456789abcdef.tmp").touch()
        executed(tmp_path)
    assert json.loads((folder / "run.json").read_text())["state"] == "succeeded"
    assert {path.name for path in folder.iterdir()} == {"events", "lock", "results.json", "run.json"}


def test_a_disk_that_does_not_hold_what_the_system_holds_ends_the_run_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced = os.fdatasync
    monkeypatch.setattr(attempt, "SYNC_S", 0.01)
    with Provider(fixed("Lisbon"), latency_s=0.02) as vendor:

        def fails(descriptor: int) -> None:
            if vendor.calls > 10:
                raise OSError(errno.EIO, os.strerror(errno.EIO))
            synced(descriptor)

        monkeypatch.setattr(os, "fdatasync", fails)
        write_spec(tmp_path, model_of(vendor, max_concurrency=1), records(COUNT))
        with pytest.raises(OutputError, match=r"events cannot be written: Input/output error\."):
            executed(tmp_path)
        monkeypatch.setattr(os, "fdatasync", synced)
        assert executed(tmp_path).state == "succeeded"
        assert vendor.calls <= COUNT + 1
