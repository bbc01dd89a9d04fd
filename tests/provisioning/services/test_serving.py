"""`evalsi plugins serve`: one process for each connection, none of whose faults is another's, and an orderly end."""

from __future__ import annotations

import os
import signal
import socket
import stat
import threading
from pathlib import Path
from time import monotonic

import pytest

from evalsi_kernel.supervision import pack_log
from tests.cli.running import BOUND_S, Done, evalsi
from tests.provisioning.adding.third_party import added, write_pack
from tests.provisioning.services.running import outcomes, scored, serving

BEGINNING = b"\x00"
"""Of a frame that never comes: whoever says something has a process."""
POISON = "return os._exit(7) if record.output.as_text() == 'poison' else True"


def attached(project: Path, at: str) -> None:
    done = evalsi("plugins", "attach", at, cwd=project)
    assert done.code == 0, done.err


def test_a_record_that_ends_the_process_costs_itself_only(project: Path, tmp_path: Path, at: str) -> None:
    records = [{"id": str(number), "output": "poison" if number == 33 else "fine"} for number in range(100)]
    with serving(write_pack(tmp_path / "style", body=POISON), at) as service:
        attached(project, at)
        _, results = scored(project, records=records)
        service.wait_for("exited with code 7")
    assert [one["record_id"] for one in results if one["outcome"] != "scored"] == ["33"]
    assert (results[33]["outcome"], results[33]["error"]["code"]) == ("error", "pack.crashed")


def test_a_service_that_goes_away_for_good_leaves_errors_and_no_scores(project: Path, tmp_path: Path, at: str) -> None:
    body = "return os.kill(os.getppid(), 9) or os._exit(7) if record.output.as_text() == 'xx' else True"
    with serving(write_pack(tmp_path / "style", body=body), at, "--warm", "0"):
        attached(project, at)
        done, results = scored(project)
    assert set(outcomes(results)) <= {"scored", "error", "skipped"}
    assert outcomes(results)[1] == "error"
    assert "Nobody answers at" in results[1]["error"]["message"]
    assert done.code in (0, 1)


def test_the_walls_of_the_serving_machine_hold_what_was_added_there(
    project: Path, tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import socket; return bool(socket.socket())"
    there = tmp_path / "there"
    there.mkdir()
    added(write_pack(tmp_path / "style", body=body), there)
    with monkeypatch.context() as moved:
        moved.chdir(there)
        service = serving("acme/style", at)
        with service:
            attached(project, at)
            _, results = scored(project)
    assert outcomes(results)[:2] == ["error", "error"]
    assert "PermissionError" in results[0]["error"]["message"]


def test_two_kernels_are_served_at_once_and_a_third_waits_its_turn(project: Path, tmp_path: Path, at: str) -> None:
    with serving(write_pack(tmp_path / "style"), at, "--max-sessions", "1") as service:
        attached(project, at)
        path = at.removeprefix("unix://")
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(path)
            silent.sendall(BEGINNING)
            service.wait_for("session 3 begins")
            done: list[tuple[Done, list[dict[str, object]]]] = []
            waiting = threading.Thread(target=lambda: done.append(scored(project)))
            waiting.start()
            service.wait_for("session 4 waits: 1 are open")
        waiting.join(BOUND_S)
    assert outcomes(done[0][1]) == ["scored", "scored", "skipped"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_service_ends_in_an_orderly_way(number: signal.Signals, tmp_path: Path, at: str) -> None:
    path = Path(at.removeprefix("unix://"))
    with serving(write_pack(tmp_path / "style"), at, "--grace", "0") as service:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        with socket.socket(socket.AF_UNIX) as session:
            session.connect(str(path))
            session.sendall(BEGINNING)
            service.wait_for("session 1 begins")
            assert service.end(number) == 0
            assert session.recv(1) == b""
    assert not path.exists()
    assert "ending, once one session is over, or in 0 s\n" in service.lines


def test_a_socket_that_a_killed_service_left_is_taken_over_and_one_in_use_is_not(tmp_path: Path, at: str) -> None:
    pack = write_pack(tmp_path / "style")
    with serving(pack, at) as first:
        refused = evalsi("plugins", "serve", pack, "--listen", at)
        assert refused.code == 1
        assert f"error: {at} cannot be listened on: Address already in use" in refused.err
        first.end(signal.SIGKILL)
    assert Path(at.removeprefix("unix://")).exists()
    with serving(pack, at) as second:
        assert second.address == at


def test_another_file_is_never_taken_away(tmp_path: Path, at: str) -> None:
    path = Path(at.removeprefix("unix://"))
    path.write_text("mine")
    done = evalsi("plugins", "serve", write_pack(tmp_path / "style"), "--listen", at)
    assert (done.code, path.read_text()) == (1, "mine")


def test_a_port_can_be_left_to_the_system(project: Path, tmp_path: Path) -> None:
    with serving(write_pack(tmp_path / "style"), "tcp://127.0.0.1:0") as service:
        assert not service.address.endswith(":0")
        attached(project, service.address)
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--listen", "tls://127.0.0.1:0"), "tls:// needs a certificate"),
        (("--listen", "tcp://0.0.0.0:7700"), "leaves this machine"),
        (("--listen", "tcp://127.0.0.1:0", "--tls-cert", "x.pem"), "Certificates are for tls://"),
        (("--listen", "tcp://127.0.0.1:0", "--max-sessions", "0"), "too small"),
    ],
)
def test_flags_that_do_not_fit_are_refused_before_anything_starts(words: tuple[str, ...], told: str) -> None:
    done = evalsi("plugins", "serve", "core", *words)
    assert done.code == 2
    assert told in done.err


def test_what_is_no_pack_is_told(tmp_path: Path) -> None:
    done = evalsi("plugins", "serve", tmp_path, "--listen", "tcp://127.0.0.1:0")
    assert done.code == 1
    assert "plugin.toml" in done.err
    assert os.linesep not in done.err.strip().partition("\n")[0]


def test_p11_the_log_has_what_the_processes_of_a_pack_print(project: Path, tmp_path: Path, at: str) -> None:
    log = tmp_path / "service.log"
    log.write_text("from before\n", "utf-8")
    body = "print('saw', record.output.as_text(), file=sys.stderr, flush=True); return True"
    with serving(write_pack(tmp_path / "style", body=body), at, "--log", log) as service:
        attached(project, at)
        assert outcomes(scored(project)[1]) == ["scored", "scored", "skipped"]
        assert service.end() == 0
    lines = log.read_text("utf-8").splitlines()
    assert lines[0] == "from before"
    sessions = {line.partition(": ")[0] for line in lines[1:]}
    assert len(sessions) == 1
    assert sessions.pop().startswith("session ")
    assert [line.partition(": ")[2] for line in lines[1:]] == ["saw x", "saw xx"]
    assert not any("saw" in line for line in service.lines)


def test_p11_a_log_of_no_session_has_what_a_spare_process_printed(tmp_path: Path, at: str) -> None:
    log = tmp_path / "service.log"
    pack = write_pack(tmp_path / "style")
    (module,) = (pack / "src").glob("*.py")
    marker = tmp_path / "imported"
    told = f"import sys, pathlib\nprint('imported', file=sys.stderr, flush=True)\npathlib.Path({str(marker)!r}).touch()"
    module.write_text(f"{told}\n{module.read_text('utf-8')}", "utf-8")
    with serving(pack, at, "--log", log) as service:
        deadline = monotonic() + BOUND_S
        while not marker.exists() and monotonic() < deadline:
            os.sched_yield()
        assert service.end() == 0
    assert "no session: imported" in log.read_text("utf-8").splitlines()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_p11_a_log_that_cannot_be_written_is_refused_before_anything_starts(tmp_path: Path, at: str) -> None:
    for path in (tmp_path, tmp_path / "none" / "service.log"):
        done = evalsi("plugins", "serve", write_pack(tmp_path / "style"), "--listen", at, "--log", path)
        assert done.code in (1, 2)
        assert done.err.startswith(f"error: The log {path} cannot be written")


def test_p11_a_full_log_begins_another_file_and_keeps_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack_log, "MAX_BYTES", 30)
    log = pack_log.PackLog(tmp_path / "service.log", rotates=True)
    for number in range(7):
        log.write(f"session {number}", ["some text"])
    log.close()
    assert (tmp_path / "service.log").read_text("utf-8") == "session 6: some text\n"
    assert (tmp_path / "service.log.1").read_text("utf-8") == "session 4: some text\nsession 5: some text\n"
