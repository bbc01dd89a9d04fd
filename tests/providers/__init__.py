"""A vendor of models on this machine: an HTTP server that speaks the APIs of OpenAI and Anthropic and can misbehave.

    from tests.providers import KEY, MODEL, Provider, faults, fixed

    def test_a_full_server_is_asked_again() -> None:
        with Provider(fixed('{"score": 5}'), faults=[faults.rate_limited(0), None]) as provider:
            ...  # a client with base_url=provider.base_url, api_key=KEY, model=MODEL
            assert provider.calls == 2
            assert "Grade this" in provider.requests[0].prompt

Anthropic's clients take `provider.root_url` as their base URL. An answer function gets a `Request` and returns an
`Answer`, a text, a value that is said as JSON, or a fault. A plan of faults is a list, or a function of the call's
number from 1. `provider.wait(lambda seen: seen.in_flight == 3)` waits on what the server saw; `faults.held()` waits for
`provider.release()`. `python -m tests.providers --help` runs it as a process, for benchmarks and for other languages.
"""

from tests.providers import faults
from tests.providers.answers import Answer, Answering, Reply, by_schema, count_tokens, fixed, in_order, matching
from tests.providers.batching import Batching
from tests.providers.requests import Request
from tests.providers.rules import EMBEDDER, KEY, MODEL
from tests.providers.server import Provider

__all__ = [
    "EMBEDDER",
    "KEY",
    "MODEL",
    "Answer",
    "Answering",
    "Batching",
    "Provider",
    "Reply",
    "Request",
    "by_schema",
    "count_tokens",
    "faults",
    "fixed",
    "in_order",
    "matching",
]
