"""Questions and replies for the tests of the cache, and processes beside this one that use the same file."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from evalsi_kernel.broker.ask import Ask, Reply, Tokens
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_replies.cache import ReplyCache

ROOT = Path(__file__).parents[2]
IDENTITY = {"provider": "openai-compatible", "model": "small-1", "base_url": "http://localhost:8000/v1"}
BOUND_S = 60.0
COUNT = 500
EACH = 200
"""Replies that each process of `putting` puts."""

T = TypeVar("T")


def question(number: int, **changes: Any) -> Ask:
    messages = [{"role": "system", "content": "Grade."}, {"role": "user", "content": f"Answer {number}"}]
    return Ask(messages, {"type": "object"}, temperature=0.0)._replace(**changes)


def key(number: int, model: str = "small-1", **changes: Any) -> JudgeKey:
    return judge_key(IDENTITY | {"model": model}, question(number, **changes))


def reply(number: int) -> Reply:
    return Reply(f"Reply {number}. " + "It is well argued. " * 40, tokens=Tokens(600, number), model="small-1-0914")


def bounded(work: Callable[[], Awaitable[T]]) -> T:
    async def run() -> T:
        async with asyncio.timeout(BOUND_S):
            return await work()

    return asyncio.run(run())


async def put_all(path: Path, numbers: Iterable[int], model: str = "small-1") -> list[str]:
    """Keep a reply for each number; the notes."""
    notes: list[str] = []
    cache = ReplyCache(path, notes.append)
    await cache.start()
    for number in numbers:
        cache.put(key(number, model), reply(number))
    await cache.close()
    return notes


async def found(path: Path, numbers: Iterable[int]) -> tuple[set[int], list[str]]:
    """The numbers whose replies are kept, each the one that was put, and the notes."""
    notes: list[str] = []
    cache = ReplyCache(path, notes.append)
    hits = set()
    for number in numbers:
        kept = await cache.get(key(number).digest)
        if kept is not None:
            assert kept == reply(number)
            hits.add(number)
    await cache.close()
    return hits, notes


def use(path: Path) -> tuple[set[int], list[str], str | None]:
    """Ask for COUNT replies as a run does, and keep those that are missing; the hits, the notes, the fault's code."""
    notes: list[str] = []

    async def work() -> tuple[set[int], list[str], str | None]:
        cache = ReplyCache(path, notes.append, wait_s=0.2)
        hits = set()
        for number in range(COUNT):
            kept = await cache.get(key(number).digest)
            if kept is None:
                cache.put(key(number), reply(number))
            else:
                assert kept == reply(number)
                hits.add(number)
        await cache.close()
        return hits, notes, None if cache.fault is None else cache.fault.code

    return bounded(work)


def fill(path: Path, numbers: Iterable[int], model: str = "small-1") -> Path:
    assert bounded(lambda: put_all(path, numbers, model)) == []
    return path


def sql(path: Path, statement: str, *values: Any) -> list[Any]:
    """Run a statement on the file, past the cache."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        return connection.execute(statement, values).fetchall()
    finally:
        connection.close()


def beside(script: str, *words: str | Path) -> subprocess.Popen[str]:
    """Start a script in a process of its own, which finds the tests and this module."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("held", flush=True)
sys.stdin.readline()
"""
"""Holds a lock until it is told to let go."""


@contextmanager
def held(path: Path, *statements: str) -> Iterator[Callable[[], None]]:
    """Another process has run the statements on the file, and holds what they lock; gives what makes it let go."""
    process = beside(HOLD, path, *statements)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"

    def let_go() -> None:
        process.communicate("\n", timeout=BOUND_S)

    try:
        yield let_go
    finally:
        if process.poll() is None:
            let_go()


# Says that it is ready, and begins when all are told to.
PUT = """
import asyncio, sys
from pathlib import Path
from tests.replies.kept_replies import put_all
print("ready", flush=True)
sys.stdin.readline()
for start in range(int(sys.argv[2]), int(sys.argv[3]), 50):
    print(asyncio.run(put_all(Path(sys.argv[1]), range(start, start + 50))))
"""


def all_at_once(processes: Sequence[subprocess.Popen[str]]) -> list[str]:
    """Let them begin together; what each prints after."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    return [process.communicate(timeout=BOUND_S)[0] for process in processes]


def putting(path: Path, processes: int) -> list[subprocess.Popen[str]]:
    return [beside(PUT, path, str(number * EACH), str((number + 1) * EACH)) for number in range(processes)]
