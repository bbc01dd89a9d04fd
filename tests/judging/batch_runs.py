"""Runs with `--judge-batch` against the vendor on this machine, which wait for nothing: a batch is full or a test fails."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

import evalsi
from evalsi.evaluation import Result
from evalsi_connectors.anthropic_messages import AnthropicMessages
from evalsi_connectors.openai_compatible import OpenAICompatible
from evalsi_kernel import broker_opening
from evalsi_kernel.broker.batch_following import BatchTimes
from tests.judging.graded import graded
from tests.providers import KEY, MODEL, Provider, Request

OPENAI: Final = "openai-compatible"
ANTHROPIC: Final = "anthropic"
BOTH: Final = (OPENAI, ANTHROPIC)
NEVER_S: Final = 600.0
AT_ONCE: Final = BatchTimes(NEVER_S, poll_s=0.0, longest_poll_s=0.0, retry_s=0.0, gone_s=0.0, patience_s=NEVER_S)
"""Only a batch that is full is handed in, so that a test knows how many there are."""


def prepare(monkeypatch: pytest.MonkeyPatch, cache: Path, most: int, times: BatchTimes = AT_ONCE) -> None:
    """Have runs of this process keep to a cache folder, hand in so many questions at a time, and wait as told."""
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(cache))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    monkeypatch.setattr(broker_opening, "BATCH_TIMES", times)
    for connector in (OpenAICompatible, AnthropicMessages):
        monkeypatch.setattr(connector, "max_batch_asks", most)


def rows(*outputs: object) -> list[dict[str, Any]]:
    """A record for each output, whose id is the output."""
    return [{"id": str(output), "output": str(output)} for output in outputs]


def url_of(server: Provider, provider: str) -> str:
    """The base URL that this provider's connector takes."""
    return server.root_url if provider == ANTHROPIC else server.base_url


def run(
    server: Provider,
    data: Sequence[Mapping[str, Any]],
    provider: str = OPENAI,
    evaluator: Any = graded,
    judge: Mapping[str, Any] = {},
    **settings: Any,
) -> Result:
    """Evaluate in batches."""
    model = {"model": MODEL, "provider": provider, "base_url": url_of(server, provider), "api_key_env": "JUDGE_KEY"}
    return evalsi.evaluate(data, [evaluator], judge={**model, **judge}, batch=True, quiet=True, **settings)


def last_digit(request: Request) -> Any:
    """Grade with the last digit of the output."""
    return {"score": int(request.last_text.removesuffix(".")[-1])}


def scores(result: Result) -> dict[str, float | str]:
    """What each record got: its score, or the code of its error."""
    return {
        one["record_id"]: one["error"]["code"] if one["outcome"] == "error" else one["scores"][0]["value"]
        for one in result.results
    }


def batches_made(server: Provider) -> int:
    """How many batches were handed in."""
    paths = ("/v1/batches", "/v1/messages/batches")
    return sum(request.method == "POST" and request.path in paths for request in server.requests)


def on_file() -> list[str]:
    """The names of the notes of batches."""
    folder = Path(os.environ["EVALSI_CACHE_DIR"]) / "judge" / "batches"
    return sorted(path.name for path in folder.glob("*.json"))
