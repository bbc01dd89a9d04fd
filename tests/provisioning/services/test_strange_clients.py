"""What connects to a served pack and is no kernel: it costs a process only once it speaks, and never for ever."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from evalsi_kernel.supervision.launch import Command, Launch
from evalsi_provisioning import serving
from evalsi_provisioning.addresses import Address
from evalsi_provisioning.served_session import _silent
from evalsi_provisioning.service_file import Tls
from evalsi_provisioning.serving import ServiceOptions, Serving
from tests.cli.running import BOUND_S

ECHO = "import sys\nwhile data := sys.stdin.buffer.raw.read(9): sys.stdout.buffer.raw.write(data)"
MUTE = "import sys\nsys.stdin.buffer.read()"
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Coroutine[None, None, Connection]]


class Log:
    """What the service tells."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._told = asyncio.Condition()

    def note(self, line: str) -> None:
        self.lines.append(line)
        self._waking = asyncio.ensure_future(self._wake())

    async def wait_for(self, text: str, times: int = 1) -> None:
        async with self._told:
            reached = self._told.wait_for(lambda: sum(text in line for line in self.lines) >= times)
            try:
                await asyncio.wait_for(reached, BOUND_S)
            except TimeoutError:
                pytest.fail(f"{text!r} is not in {self.lines}")

    async def _wake(self) -> None:
        async with self._told:
            self._told.notify_all()


def serve(
    at: str,
    visit: Callable[[Connect, Log], Coroutine[None, None, None]],
    *,
    program: str = ECHO,
    sessions: int = 1,
    warm: int = 0,
    silence_s: float = BOUND_S,
    greeting_s: float = BOUND_S,
    grace_s: float = BOUND_S,
) -> list[str]:
    """Serve a program while it is visited, then end it by SIGTERM; what the service told."""
    path = at.removeprefix("unix://")
    launch = Launch("acme/echo", Command([sys.executable, "-c", program]), start_timeout_s=greeting_s)
    options = ServiceOptions(Address("unix", path=path), Tls(), sessions, warm, grace_s, silence_s)

    async def connect() -> Connection:
        return await asyncio.open_unix_connection(path)

    async def both() -> list[str]:
        log = Log()
        running = asyncio.create_task(Serving(launch, options, log.note).run())
        await log.wait_for("is served at")
        await asyncio.wait_for(visit(connect, log), BOUND_S)
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.wait_for(running, BOUND_S)
        return log.lines

    return asyncio.run(both())


def test_who_says_nothing_is_turned_away_and_never_had_a_process(at: str) -> None:
    async def visit(connect: Connect, log: Log) -> None:
        silent, hold = await connect()
        assert await silent.read() == b""
        hold.close()
        reader, writer = await connect()
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        writer.close()
        await log.wait_for("is over after")

    lines = serve(at, visit, silence_s=0.2)
    assert lines[1] == "a connection was turned away: it said nothing for 0.2 s"
    assert [line for line in lines if "begins" in line] == ["session 1 begins"]


def test_who_looks_whether_somebody_listens_starts_nothing(at: str) -> None:
    async def visit(connect: Connect, log: Log) -> None:
        for _ in range(20):
            _, writer = await connect()
            writer.close()
            await writer.wait_closed()

    assert len(serve(at, visit)) == 1


def test_half_a_greeting_holds_a_process_for_as_long_as_a_start_may_take(at: str) -> None:
    async def visit(connect: Connect, log: Log) -> None:
        reader, writer = await connect()
        writer.write(b"\x00\x00")
        assert await reader.read() == b""
        writer.close()

    lines = serve(at, visit, program=MUTE, greeting_s=0.3)
    assert "the pack was not greeted within 0.3 s, and exited with code 0" in lines[-1]


def test_what_the_pack_says_last_reaches_a_client_that_closed_its_own_half(at: str) -> None:
    data = b"x" * 300_000
    program = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"

    async def visit(connect: Connect, log: Log) -> None:
        reader, writer = await connect()
        writer.write(data)
        writer.write_eof()
        assert await reader.read() == data
        writer.close()

    serve(at, visit, program=program)


def test_a_process_that_ended_while_it_was_kept_ready_is_nobodys(at: str, tmp_path: Path) -> None:
    began = tmp_path / "began"
    program = f"import os\nif not os.path.exists({str(began)!r}): open({str(began)!r}, 'x'); os._exit(0)\n{ECHO}"

    async def visit(connect: Connect, log: Log) -> None:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222 -- nothing else is to happen meanwhile.
        reader, writer = await connect()
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        writer.close()
        await log.wait_for("is over after")

    serve(at, visit, program=program, warm=1)


def test_more_connections_than_there_may_be_are_refused_at_once(at: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "WAITING", 3)

    async def visit(connect: Connect, log: Log) -> None:
        held = [await connect() for _ in range(4)]
        for _ in range(3):
            reader, writer = await connect()
            assert await reader.read() == b""
            writer.close()
        for _, writer in held:
            writer.close()
        await log.wait_for("turned away: 3 others wait already", 3)

    serve(at, visit)


def test_an_end_turns_away_who_waits_and_a_second_signal_who_is_served(at: str) -> None:
    async def visit(connect: Connect, log: Log) -> None:
        reader, writer = await connect()
        writer.write(b"hello")
        await reader.readexactly(5)
        waiting, hold = await connect()
        hold.write(b"hello")
        await log.wait_for("session 2 waits: 1 are open")
        os.kill(os.getpid(), signal.SIGTERM)
        assert await waiting.read() == b""
        hold.close()
        writer.write(b"still")
        assert await reader.readexactly(5) == b"still"
        os.kill(os.getpid(), signal.SIGTERM)
        assert await reader.read() == b""
        writer.close()

    lines = serve(at, visit)
    assert not [line for line in lines if line.startswith("session 2 begins")]


def test_a_client_that_does_not_read_keeps_no_service_from_its_end(at: str) -> None:
    program = "import sys\nsys.stdin.buffer.raw.read(1)\nwhile True: sys.stdout.buffer.write(bytes(65536))"

    async def visit(connect: Connect, log: Log) -> None:
        deaf.connect(at.removeprefix("unix://"))
        deaf.sendall(b"x")
        await log.wait_for("session 1 begins")

    with socket.socket(socket.AF_UNIX) as deaf:
        lines = serve(at, visit, program=program, grace_s=0)
    assert lines[1:3] == ["session 1 begins", "ending, once one session is over, or in 0 s"]


def test_a_session_that_is_ended_as_its_pack_says_its_first_word_does_end() -> None:
    async def story() -> None:
        spoke = asyncio.Event()
        watch = asyncio.create_task(_silent(spoke, BOUND_S))
        for _ in range(3):
            await asyncio.sleep(0)
        spoke.set()
        await asyncio.sleep(0)
        watch.cancel()
        done, _ = await asyncio.wait({watch}, timeout=BOUND_S)
        assert done == {watch}

    asyncio.run(story())
