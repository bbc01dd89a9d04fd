"""A pack's process from start to end: limits and a folder of its own, a clock that is fair, an end that comes."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from evalsi import Record, evaluator
from evalsi.context import Context
from evalsi.host import Host
from evalsi.loading import from_objects
from evalsi_kernel.errors import PackEnvironmentError, PackError
from evalsi_kernel.packs.catalog import Catalog, default_catalog
from evalsi_kernel.packs.pack_info import Workers
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.planning.plan import make_plan
from evalsi_kernel.request import Request
from evalsi_kernel.supervision.connection import Connection
from evalsi_kernel.supervision.launch import Command, Launch, Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from evalsi_kernel.supervision.score_request import ScoreRequest
from evalsi_kernel.supervision.spawn import spawn
from evalsi_kernel.supervision.transports import MemoryTransport
from evalsi_kernel.supervision.watchdog import watch
from evalsi_kernel.supervision.worker import Worker, start_worker
from tests.kernel.supervised import NAUGHTY, bounded, chunk_of, kinds, launch, score, without_progress

STUBBORN = NAUGHTY / "stubborn.py"


@pytest.mark.parametrize(("how", "ended_by"), [("ignores-bye", "SIGTERM"), ("ignores-everything", "SIGKILL")])
def test_a_pack_that_does_not_leave_is_ended_in_steps_each_of_which_is_bounded(
    how: str, ended_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalsi_kernel.supervision.pack_process.LEAVE_S", 0.2)
    monkeypatch.setattr("evalsi_kernel.supervision.worker.GOODBYE_S", 0.2)
    command = Command([sys.executable, str(STUBBORN), how], whole_environment=True)

    async def work() -> tuple[float, str]:
        started = await start_worker(Launch("stubborn", command))
        assert started.process is not None
        before = time.monotonic()
        await started.stop()
        return time.monotonic() - before, await started.process.end_of_life()

    took_s, end = bounded(work)
    assert end == f"was killed by {ended_by}"
    assert took_s < 5


def test_a_pack_that_dies_at_every_start_is_tried_a_bounded_number_of_times_with_growing_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses_s = (0.0, 0.1, 0.3)
    monkeypatch.setattr("evalsi_kernel.supervision.pool.BACKOFF_S", pauses_s)
    starts = tmp_path / "starts"
    script = f"import sys; open({str(starts)!r}, 'a').write('x'); sys.exit(3)"

    async def work() -> list[str]:
        good = launch()
        pool = Pool(good, [Opening(1, "crash_on_bad")], PoolLimits())
        await pool.start()
        pool.launch = good._replace(command=Command([sys.executable, "-S", "-c", script]))
        chunk = chunk_of(["bad", "good"])
        event = asyncio.Event()
        chunk.when_answered = event.set
        chunk.expect(pool.sessions)
        before = time.monotonic()
        await pool.submit(chunk)
        await event.wait()
        assert time.monotonic() - before > sum(pauses_s)
        await pool.close()
        assert all(
            outcome is not None and "exited with code 3" in outcome[1]["message"] for outcome in chunk.columns[1]
        )
        return kinds(chunk.columns[1])

    assert bounded(work) == ["error", "error"]
    assert len(starts.read_text()) == len(pauses_s) + 1


class SettableClock:
    """A clock that only a test moves, and that says when it is read."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.is_read = asyncio.Event()

    def __call__(self) -> float:
        self.is_read.set()
        return self.now_s


def test_the_clock_of_a_record_stands_still_while_its_pack_waits_for_the_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limit_s = 0.05
    clock, watching_clock = SettableClock(), SettableClock()
    for module in ("evalsi_kernel.supervision.worker", "evalsi.scoring", "evalsi.async_scoring"):
        monkeypatch.setattr(f"{module}.monotonic", clock)
    monkeypatch.setattr("evalsi_kernel.supervision.watchdog.monotonic", watching_clock)

    @evaluator(name="asks", version=1, asks=("judge",))
    async def asks(record: Record, ctx: Context) -> bool:
        await ctx.ask("judge.ask", {})
        return True

    async def work() -> tuple[bool, str]:
        async def judge(method: str, body: dict[str, Any]) -> dict[str, Any]:
            clock.now_s = watching_clock.now_s = 2000.0
            for _ in range(3):
                watching_clock.is_read.clear()
                await watching_clock.is_read.wait()
            return {}

        transport = MemoryTransport()
        host = Host(transport.pack_channel, "asking", "1", lambda: from_objects([asks]))
        threading.Thread(target=host.serve, daemon=True).start()
        asking = Worker(Launch("asking"), Connection(transport, judge), None)
        await asking.connection.hello()
        await asking.open([Opening(1, "asks")], 4, limit_s)
        chunk = chunk_of(["a"])
        chunk.expect((1,))
        request = ScoreRequest(chunk, (1,))
        asking.requests.append(request)
        watching = asyncio.create_task(watch(asking, limit_s))
        await asking.score(request)
        watching.cancel()
        await asking.stop()
        return asking.timed_out is None, kinds(chunk.columns[1])[0]

    assert bounded(work) == (True, "scored")


def test_a_pack_that_gives_no_sign_of_life_is_ended_and_its_record_says_so() -> None:
    limits = PoolLimits(record_timeout_s=0.2)
    [column], _ = score(without_progress(launch()), "hang_hard_on_bad", chunk_of(["bad"]), limits=limits)
    assert column[0] is not None
    assert "did not respond" in column[0][1]["message"]


def test_a_record_that_holds_the_interpreter_is_a_timeout() -> None:
    [column], _ = score(launch(), "hang_hard_on_bad", chunk_of(["bad"]), limits=PoolLimits(record_timeout_s=0.2))
    assert column[0] is not None
    assert column[0][1]["code"] == "pack.timeout"


def test_a_pack_has_a_folder_of_its_own_that_others_cannot_enter_and_leaves_no_core_file(tmp_path: Path) -> None:
    code = (
        "import os, resource, stat\nfrom evalsi import evaluator\n\n@evaluator\ndef where(record) -> str:\n"
        "    mode = stat.S_IMODE(os.stat('.').st_mode)\n"
        "    core = resource.getrlimit(resource.RLIMIT_CORE)\n"
        "    return f'{os.getcwd() == os.environ[\"TMPDIR\"]} {mode:o} {core} {os.getpgid(0) == os.getpid()}'\n"
    )
    (tmp_path / "where.py").write_text(code)
    command = launch(tmp_path / "where.py").command
    assert command is not None
    started = Launch("where", command._replace(whole_environment=False))
    [column], _ = score(started, "where", chunk_of(["a"]))
    assert column[0] == ("scored", [{"label": "True 700 (0, 0) True"}])


@pytest.mark.parametrize(("workers", "processes"), [("cpu", 8), ("wide", 1)])
def test_a_pack_that_computes_gets_a_process_a_core_and_one_that_waits_gets_one(
    workers: Workers, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    catalog = Catalog(tuple(pack._replace(workers=workers) for pack in default_catalog().packs))
    plan = make_plan(Request("", [Wanted("exact-match")], concurrency=5), catalog)
    plan.abandon()
    assert [(group.limits.processes, group.limits.concurrency) for group in plan.groups] == [(processes, 5)]


def test_a_pack_that_refuses_to_start_says_why_and_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("import missing_library\n")
    before = set(os.listdir("/proc"))
    with pytest.raises(PackError, match="missing_library"):
        score(launch(tmp_path / "empty.py"), "any", chunk_of(["a"]))
    own = [pid for pid in set(os.listdir("/proc")) - before if pid.isdigit() and _is_child(pid)]
    assert own == []


def _is_child(pid: str) -> bool:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_host_that_grants_no_wider_pipes_runs_packs_with_narrow_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalsi_kernel.supervision.spawn.PIPE_BYTES", 1 << 31)  # More than any system grants.
    [column], _ = score(launch(), "raise_on_bad", chunk_of(["good"] * 20))
    assert kinds(column) == ["scored"] * 20


def test_a_start_that_fails_for_any_reason_leaves_no_scratch_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for program, fault in (("/nonexistent", PackEnvironmentError), ("a\0b", ValueError)):
        with pytest.raises(fault):
            spawn(Launch("odd", Command([program])))
    assert list(tmp_path.iterdir()) == []
