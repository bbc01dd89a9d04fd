"""A pack behaves alike over pipes, a Unix socket and memory."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalsi.host import Host
from evalsi.item_buffer import items_of
from evalsi.loading import from_file
from evalsi_kernel.supervision.connection import Connection, RequestFailed
from evalsi_kernel.supervision.transports import MemoryTransport, StreamTransport
from evalsi_protocol.frames import pack, pack_array, pack_map

BOUND_S = 60.0
PACK = """
import os, subprocess, sys, time
from evalsi import Score, evaluator

@evaluator(name="length", version=1, needs=("output",))
def length(record):
    return len(record.output.as_text())

@evaluator(name="echo", version=1)
def echo(record):
    return Score(passed=True, explanation=record.output.as_text())

@evaluator(name="noisy", version=1)
def noisy(record):
    print("from print", flush=True)
    os.write(1, b"from descriptor 1")
    subprocess.run([sys.executable, "-c", "print('from a child')"], check=True)
    return True

@evaluator(name="stuck", version=1)
def stuck(record):
    while True:
        time.sleep(0.01)
"""


@dataclass
class Link:
    """A pack and the connection to it."""

    connection: Connection
    process: asyncio.subprocess.Process | None
    thread: threading.Thread | None
    socket: str = ""

    async def open(self, evaluator: str) -> None:
        await self.connection.hello()
        await self.connection.request("open", {"session": 1, "evaluator": evaluator, "params": {}})

    async def score(self, records: list[dict[str, Any]]) -> list[list[Any]]:
        """The items, by the records' places."""
        items: list[list[Any]] = []

        def take(plain: list[Any], runs: list[Any]) -> None:
            items.extend([*plain, *(item for run in runs for item in items_of(run))])

        body = pack_map({"sessions": [1], "records": pack_array(map(pack, records), len(records))})
        await (await self.connection.start_request("score", body, take)).answer
        return sorted(items, key=lambda item: int(item[1]))

    async def ended(self) -> int:
        """Wait for the pack's end, or until one that listens takes the next session; its exit code."""
        if self.socket:
            again = Connection(await connected(self.socket))
            assert (await again.hello())["major"] == 1
            again.close_writing()
            await again.close()
            return 0
        if self.process is not None:
            return await self.process.wait()
        assert self.thread is not None
        await asyncio.to_thread(self.thread.join, BOUND_S)
        assert not self.thread.is_alive()
        return 0


async def connected(path: str) -> StreamTransport:
    return StreamTransport(*await asyncio.open_unix_connection(path))


async def _start(*arguments: str, serving: str = "import evalsi.serving as s; s.main()") -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", serving, *arguments, stdin=pipe, stdout=pipe, stderr=pipe
    )


@asynccontextmanager
async def over_stdio(file: Path, **more: str) -> AsyncIterator[Link]:
    process = await _start("--file", str(file), **more)
    assert process.stdin is not None
    assert process.stdout is not None
    connection = Connection(StreamTransport(process.stdout, process.stdin))
    async with _closing(Link(connection, process, None)) as link:
        yield link


@asynccontextmanager
async def over_a_unix_socket(file: Path) -> AsyncIterator[Link]:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders can be longer than a socket's path may be.
        process = await _start("--file", str(file), "--listen", f"unix://{folder}/pack")
        assert process.stderr is not None
        assert b"Listening" in await process.stderr.readline()
        connection = Connection(await connected(f"{folder}/pack"))
        async with _closing(Link(connection, process, None, f"{folder}/pack")) as link:
            yield link


@asynccontextmanager
async def over_memory(file: Path) -> AsyncIterator[Link]:
    transport = MemoryTransport()
    host = Host(transport.pack_channel, "tested", "1", lambda: from_file(file))
    thread = threading.Thread(target=host.serve, daemon=True)
    thread.start()
    async with _closing(Link(Connection(transport), None, thread)) as link:
        yield link


@asynccontextmanager
async def _closing(link: Link) -> AsyncIterator[Link]:
    try:
        yield link
    finally:
        link.connection.close_writing()
        await link.connection.close()
        process = link.process
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.communicate()
        elif link.thread is not None:
            await asyncio.to_thread(link.thread.join, BOUND_S)


every_transport = pytest.mark.parametrize("over", [over_stdio, over_a_unix_socket, over_memory])
every_process = pytest.mark.parametrize("over", [over_stdio, over_a_unix_socket])


@pytest.fixture
def pack_file(tmp_path: Path) -> Path:
    file = tmp_path / "tested_pack.py"
    file.write_text(PACK, encoding="utf-8")
    return file


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(BOUND_S):
            await work()

    asyncio.run(bounded())


@pytest.mark.spec("SUP-1", "SCO-1")
@every_transport
def test_a_pack_is_greeted_described_and_scores_a_thousand_records(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            assert (await link.connection.hello())["major"] == 1
            described = await link.connection.request("describe", {})
            assert [one["name"] for one in described["evaluators"]] == ["length", "echo", "noisy", "stuck"]
            await link.connection.request("open", {"session": 1, "evaluator": "length"})
            records = [{"id": str(number), "output": "x" * number} for number in range(1000)]
            batches = [records[start : start + 50] for start in range(0, 1000, 50)]
            scored = await asyncio.gather(*(link.score(batch) for batch in batches))
            values = [item[3][0]["value"] for batch in scored for item in batch]
            assert values == list(range(1000))

    run(work)


@pytest.mark.spec("FRM-6", "WIN-4")
@every_transport
def test_frames_of_many_megabytes_pass_in_both_directions_at_once(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            await link.open("echo")
            outputs = [letter * size for letter, size in zip("abcdef", (70_000, 200_000, 5_000_000) * 2, strict=True)]
            scored = await asyncio.gather(*(link.score([{"id": "0", "output": output}]) for output in outputs))
            assert [batch[0][3][0]["explanation"] for batch in scored] == outputs

    run(work)


@pytest.mark.spec("SUP-1")
@every_transport
def test_whatever_a_pack_prints_breaks_nothing(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            await link.open("noisy")
            items = await link.score([{"id": str(number), "output": "x"} for number in range(3)])
            assert [item[2] for item in items] == ["scored"] * 3

    run(work)


@pytest.mark.spec("BYE-1", "SES-6")
@every_transport
def test_bye_ends_the_pack_by_itself(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            await link.open("length")
            assert await link.connection.request("bye", {}) == {}
            assert await link.ended() == 0
            await link.connection.is_over.wait()
            assert link.connection.violation == ""

    run(work)


@pytest.mark.spec("SUP-3", "SUP-8")
@every_transport
def test_a_pack_ends_when_the_kernel_goes_away(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            await link.open("length")
            link.connection.close_writing()
            assert await link.ended() == 0

    run(work)


@pytest.mark.spec("SUP-3")
def test_a_pack_whose_evaluator_never_returns_is_no_orphan(pack_file: Path) -> None:
    async def work() -> None:
        soon = "import evalsi.serving as s; s.ORPHAN_S = 0.1; s.main()"
        async with over_stdio(pack_file, serving=soon) as link:
            await link.open("stuck")
            asked = await link.connection.start_request("score", {"sessions": [1], "records": [{"id": "0"}]})
            while not (await link.connection.request("ping", {}))["running"]:
                pass
            link.connection.close_writing()
            assert await link.ended() == 0
            with pytest.raises(RequestFailed):
                await asked.answer

    run(work)


@pytest.mark.spec("SES-6")
@every_process
def test_a_killed_pack_fails_what_was_asked_and_what_will_be(over: Any, pack_file: Path) -> None:
    async def work() -> None:
        async with over(pack_file) as link:
            await link.open("stuck")
            asked = await link.connection.start_request("score", {"sessions": [1], "records": [{"id": "0"}]})
            link.process.kill()
            for failing in (asked.answer, link.connection.request("ping", {}), link.connection.request("describe", {})):
                with pytest.raises(RequestFailed) as caught:
                    await failing
                assert caught.value.gone
                assert caught.value.error.code == "protocol.eof"

    run(work)
