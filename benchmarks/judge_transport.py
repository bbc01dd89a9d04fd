"""What a call of a model costs in CPU by the transport beneath: the own pools of httpx and httpx2, and aiohttp's.

Run: `python -m benchmarks.judge_transport`. A local server in a process of its own answers each call after a while;
so many calls are in flight at once. It prints JSON: CPU of this process a call, and the share of the ideal throughput,
which is that of calls that take no longer than the server. Both connectors, whole, stand beside the bare transports.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, NamedTuple

import httpx
import httpx2
from httpx_aiohttp.httpx2 import Httpx2AiohttpClient

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import ConnectorSettings
from evalsi_kernel.extensions.hook_calls import connector
from evalsi_kernel.extensions.installed import default_extensions
from tests.providers import KEY, MODEL
from tests.providers.process import running

KEY_VARIABLE: Final = "EVALSI_BENCHMARK_KEY"
MESSAGES: Final = (
    {"role": "system", "content": "Grade the answer."},
    {"role": "user", "content": "The quick brown fox jumps over the lazy dog. " * 20},
)
SCHEMA: Final = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["reasoning", "score"],
    "additionalProperties": False,
}
Call = Callable[[], Awaitable[object]]
Maker = Callable[[str], AbstractAsyncContextManager[Call]]


class Found(NamedTuple):
    """What a transport took.

    Args:
        cpu_ms: of this process, a call.
        share: of the ideal throughput, 0 to 1.
        wall_s: of all calls.
    """

    cpu_ms: float
    share: float
    wall_s: float


@asynccontextmanager
async def bare(client: httpx2.AsyncClient | httpx.AsyncClient, base_url: str) -> AsyncIterator[Call]:
    """Calls of a client, with nothing but the request and its body."""
    body = json.dumps({"model": MODEL, "messages": MESSAGES, "max_tokens": 100}).encode()
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}

    async def call() -> object:
        response = await client.post(f"{base_url}/chat/completions", content=body, headers=headers)
        assert response.status_code == 200, response.text
        return response.json()

    async with client:
        yield call


@asynccontextmanager
async def whole(provider: str, base_url: str, in_flight: int) -> AsyncIterator[Call]:
    """Calls of a connector, from the ask to the reply."""
    os.environ[KEY_VARIABLE] = KEY
    settings = ConnectorSettings(provider, MODEL, base_url, KEY_VARIABLE, max_connections=in_flight)
    made = connector(settings, default_extensions())
    try:
        yield lambda: made.complete(Ask(MESSAGES, SCHEMA, max_tokens=100))
    finally:
        await made.close()


async def measure(call: Call, calls: int, in_flight: int, latency_s: float) -> Found:
    """Make so many calls, so many at once, after a warm-up that fills the pool."""

    async def worker(share: int) -> None:
        for _ in range(share):
            await call()

    async def batch(count: int) -> None:
        await asyncio.gather(*(worker(count // in_flight) for _ in range(in_flight)))

    await batch(2 * in_flight)
    count = calls // in_flight * in_flight
    started, cpu = time.perf_counter(), time.process_time()
    await batch(count)
    wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu
    return Found(cpu_s / count * 1000, count / in_flight * latency_s / wall_s, wall_s)


def compare(calls: int = 2000, in_flight: int = 64, latency_s: float = 0.05) -> dict[str, Found]:
    """Each transport and each connector by name, measured one after the other against one server each.

    Args:
        calls: to make with each.
        in_flight: at once.
        latency_s: of the server.
    """
    limits = httpx2.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    old_limits = httpx.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
    makers: dict[str, tuple[str, Maker]] = {
        "httpx, its own pool": ("openai", lambda url: bare(httpx.AsyncClient(limits=old_limits, timeout=60), url)),
        "httpx2, its own pool": ("openai", lambda url: bare(httpx2.AsyncClient(limits=limits, timeout=60), url)),
        "httpx2 on aiohttp": ("openai", lambda url: bare(Httpx2AiohttpClient(limits=limits, timeout=60), url)),
        "connector openai-compatible": ("openai", lambda url: whole("openai-compatible", url, in_flight)),
        "connector anthropic": ("anthropic", lambda url: whole("anthropic", url, in_flight)),
    }
    found = {}
    for name, (api, maker) in makers.items():
        with running("--latency-ms", f"{latency_s * 1000:g}", "--api", api) as server:
            found[name] = asyncio.run(_measured(maker, server.base_url, calls, in_flight, latency_s))
    return found


async def _measured(maker: Maker, base_url: str, calls: int, in_flight: int, latency_s: float) -> Found:
    async with maker(base_url) as call:
        return await measure(call, calls, in_flight, latency_s)


def main() -> None:
    """Print the table as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="with each transport (2000)")
    parser.add_argument("--in-flight", type=int, default=64, help="calls at once (64)")
    parser.add_argument("--latency-ms", type=float, default=50.0, help="of the server (50)")
    options = parser.parse_args()
    rows = {
        name: {"cpu_ms": round(one.cpu_ms, 2), "share_of_ideal": round(one.share, 3), "wall_s": round(one.wall_s, 2)}
        for name, one in compare(options.calls, options.in_flight, options.latency_ms / 1000).items()
    }
    print(json.dumps({"benchmark": "judge_transport", "in_flight": options.in_flight, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
