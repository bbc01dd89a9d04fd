"""How many hits a second the cache of model replies gives to tasks of one event loop, and what a key costs.

Run: `python benchmarks/judge_cache.py`. The file is larger than what SQLite keeps of it, and replies are asked for at
random. It prints JSON; the budget is 10,000 hits a second.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evalsi_kernel.broker.ask import Ask, Reply, Tokens
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_replies.cache import ReplyCache
from evalsi_replies.cache_store import connect
from evalsi_replies.contents import size_on_disk

TASKS = 64
IDENTITY = {"provider": "openai-compatible", "model": "my-judge", "base_url": "http://localhost:8000/v1"}
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}


def ask_number(number: int) -> Ask:
    """A question of some 2 kB, as a judge is asked it."""
    content = f"Answer {number}: " + "The quick brown fox jumps over the lazy dog. " * 40
    return Ask([{"role": "system", "content": "Grade the answer."}, {"role": "user", "content": content}], SCHEMA)


REPLY = Reply(json.dumps({"reasoning": "It is well argued. " * 30, "score": 4}), tokens=Tokens(600, 150), model="m-1")


async def fill(cache: ReplyCache, keys: list[JudgeKey]) -> float:
    """Put a reply under each key; returns replies a second, until all are written."""
    started = time.perf_counter()
    for key in keys:
        cache.put(key, REPLY)
    await cache.close()
    return len(keys) / (time.perf_counter() - started)


async def hits_per_s(cache: ReplyCache, digests: Iterator[str], *, tasks: int = TASKS) -> float:
    """Ask for replies that are there, from many tasks at once; returns hits a second."""
    hits = 0

    async def ask() -> None:
        nonlocal hits
        for digest in digests:
            hits += await cache.get(digest) is not None
            await asyncio.sleep(0)  # As a task that goes on to something else would.

    await cache.start()
    started = time.perf_counter()
    await asyncio.gather(*(ask() for _ in range(tasks)))
    return hits / (time.perf_counter() - started)


async def measure(path: Path, entries: int, hits: int) -> dict[str, Any]:
    """The figures."""
    asks = [ask_number(number) for number in range(entries)]
    started = time.perf_counter()
    keys = [judge_key(IDENTITY, ask) for ask in asks]
    key_us = (time.perf_counter() - started) / entries * 1e6
    writes = await fill(ReplyCache(path), keys)
    chosen = [random.choice(keys).digest for _ in range(hits)]
    cache = ReplyCache(path)
    first = await hits_per_s(cache, iter(chosen))
    # As of an hour ago, so that each hit notes its use; the notes are written while the hits go on.
    connection = connect(path)
    connection.execute("UPDATE replies SET used = used - 1")
    connection.close()
    noting = await hits_per_s(cache, iter(chosen))
    await cache.close()
    return {
        "entries": entries,
        "file_mb": round(size_on_disk(path) / 1e6),
        "key_us": round(key_us, 1),
        "writes_per_s": round(writes),
        "hits_per_s": round(first),
        "hits_per_s_noting_use": round(noting),
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--hits", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(Path(folder) / "replies.sqlite", options.entries, options.hits))
    print(json.dumps({"benchmark": "judge_cache", "tasks": TASKS, **figures}, indent=1))


if __name__ == "__main__":
    main()
