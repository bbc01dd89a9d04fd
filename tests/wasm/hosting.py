"""Modules served for tests: by the session of the runner in this process, or by the runner as a process.

Knows how a module is served; knows nothing of what one does.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evalsi_protocol.channels import FdChannel, MemoryChannel, memory_pair
from evalsi_protocol.frames import Frame, FrameReader, Kind
from evalsi_wasm.module import Limits
from evalsi_wasm.pack_session import PackSession, Served
from evalsi_wasm.runner import serve_module
from tests.protocol.kernel_end import BOUND_S, KernelEnd

EXAMPLES = Path(__file__).parents[2] / "examples" / "wasm"
WORDS = EXAMPLES / "words" / "words.wasm"
KIND = EXAMPLES / "kind" / "kind.wasm"
LIMITS = Limits(16 * 1024**2)


def served(module: Path | bytes, folder: Path, limits: Limits = LIMITS) -> Served:
    """A module, loaded; one of bytes is written into the folder first."""
    if isinstance(module, bytes):
        path = folder / "tested.wasm"
        path.write_bytes(module)
        module = path
    manifest = module.with_name("plugin.toml")
    return serve_module(module, "acme/tested", "1.0", limits, manifest=manifest if manifest.is_file() else None)


@contextmanager
def hosting(
    module: Path | bytes, folder: Path, limits: Limits = LIMITS, *, instances: int = 2, greet: bool = True
) -> Iterator[KernelEnd]:
    """The session of a runner in a thread, and a kernel that has greeted it; the thread must have ended by the end."""
    one = served(module, folder, limits)
    here, there = memory_pair()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(one, there, instances)), daemon=True)
    thread.start()
    kernel = KernelEnd(here)
    if greet:
        assert isinstance(kernel.hello(), dict)
    yield kernel
    here.close()
    thread.join(BOUND_S)
    assert not thread.is_alive()
    if one.calls is not None:
        one.calls.close()


@contextmanager
def running(module: Path, *flags: str) -> Iterator[tuple[KernelEnd, subprocess.Popen[bytes]]]:
    """The runner as a process, started as the kernel starts it; it must have ended in order by the end."""
    words = [sys.executable, "-I", "-m", "evalsi_wasm.runner", f"--module={module}", *flags]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        channel = _Watched(process.stdout.fileno(), process.stdin.fileno())
        yield KernelEnd(channel), process
        process.stdin.close()
        assert process.wait(BOUND_S) == 0
        # Who reads from it must have seen its end before the descriptor is another's.
        assert channel.has_ended.wait(BOUND_S)
        assert b"Traceback" not in process.stderr.read()


class _Watched(FdChannel):
    def __init__(self, read_fd: int, write_fd: int) -> None:
        super().__init__(read_fd, write_fd)
        self.has_ended = threading.Event()

    def read(self) -> bytes:
        data = super().read()
        if not data:
            self.has_ended.set()
        return data


async def _serve(one: Served, channel: MemoryChannel, instances: int) -> None:
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(instances) as executor, ThreadPoolExecutor(1) as reader:
        session = PackSession(one, channel.write, executor)
        data = b"x"
        while data and not session.wire.is_over.is_set():
            data = await loop.run_in_executor(reader, channel.read)
            session.wire.receive(data)
            # What was asked is begun before the next bytes are read, as on a pipe.
            await asyncio.sleep(0)
        await session.wire.is_over.wait()
    channel.close()


def pinged(kernel: KernelEnd) -> list[dict[str, Any]]:
    """What the pack says that it is doing."""
    answer = kernel.ask("ping", {})
    assert isinstance(answer, dict)
    running: list[dict[str, Any]] = answer["running"]
    return running


class Raw:
    """A kernel's end that keeps to no rule: bytes in, and whatever frames come back."""

    def __init__(self, channel: MemoryChannel, thread: threading.Thread) -> None:
        self.frames: list[Frame] = []
        self.thread = thread
        self._channel = channel
        self._reader = FrameReader()
        self._has_ended = False

    def put(self, data: bytes) -> None:
        """Send bytes; none is the end of the stream."""
        if data:
            self._channel.write(data)
        else:
            self._channel.close()

    def until_answered(self, request: int) -> None:
        """Take in frames until a request has its answer; fails where the stream ends before."""
        while not any(one.id == request and one.kind in (Kind.RESPONSE, Kind.ERROR) for one in self.frames):
            assert self._read()

    def end(self) -> None:
        """Close the stream once nothing more can come, and take in what did."""
        self._channel.close()
        while self._read():
            pass

    def _read(self) -> bool:
        data = b"" if self._has_ended else self._channel.read()
        self._has_ended = not data
        self.frames += self._reader.feed(data)
        return not self._has_ended


@contextmanager
def raw(module: Path | bytes, folder: Path) -> Iterator[Raw]:
    """The session of a runner in a thread, and an end to send it anything."""
    one = served(module, folder)
    assert one.calls is not None
    here, there = memory_pair()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(one, there, 1)), daemon=True)
    thread.start()
    yield Raw(here, thread)
    here.close()
    thread.join(BOUND_S)
    assert not thread.is_alive()
    one.calls.close()
