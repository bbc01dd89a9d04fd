"""`python -m tests.providers`: the server as a process of its own. Its base URL is the first line that it prints."""

from __future__ import annotations

import argparse
import asyncio
import gc
import signal

from tests.providers.answers import Answering, by_schema, fixed
from tests.providers.rules import EMBEDDER, KEY, MODEL
from tests.providers.server import Provider

EPILOG = f"""It ends with SIGTERM or SIGINT. GET /seen tells what it saw, as JSON. It takes the key {KEY!r} and has the
models {MODEL!r} and {EMBEDDER!r} unless told otherwise."""


def main(answer: Answering = by_schema) -> int:
    """Serve until a signal comes, with this answer unless a flag gives another; returns 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.providers", description=__doc__, epilog=EPILOG)
    parser.add_argument("--port", type=int, default=0, help="the port on 127.0.0.1 (a free one)")
    parser.add_argument("--latency-ms", type=float, default=0.0, help="how long every answer takes (0)")
    parser.add_argument("--api", choices=["openai", "anthropic"], default="openai", help="whose base URL is printed")
    parser.add_argument("--reply", help="the text of every answer (the smallest value that the schema allows)")
    parser.add_argument("--key", action="append", help="a key that it takes; may be given several times")
    parser.add_argument("--any-key", action="store_true", help="take every key, and none")
    parser.add_argument("--model", action="append", help="a model that it has; may be given several times")
    parser.add_argument("--any-model", action="store_true", help="have every model")
    parser.add_argument("--max-in-flight", type=int, help="429 for calls above so many at once")
    parser.add_argument("--per-second", type=int, help="429 for calls above so many in a second")
    options = parser.parse_args()
    provider = Provider(
        answer if options.reply is None else fixed(options.reply),
        keys=None if options.any_key else set(options.key or [KEY]),
        models=None if options.any_model else set(options.model or [MODEL, EMBEDDER]),
        latency_s=options.latency_ms / 1000,
        max_in_flight=options.max_in_flight,
        per_second=options.per_second,
        keep=False,
    )

    def started() -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, provider.stop)
        print(provider.root_url if options.api == "anthropic" else provider.base_url, flush=True)

    gc.freeze()
    gc.set_threshold(100_000)  # benchmarks measure clients beside it, so that it must take little
    asyncio.run(provider.serve(options.port, started))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
