"""Runs with `--judge-batch` against the vendor on this machine; they wait for no clock, only for a batch to be full."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import evalsi
from evalsi.evaluation import Result
from evalsi_batches import plugin
from evalsi_batches.following import BatchTimes
from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.broker.connector import Connector, ConnectorSettings
from evalsi_kernel.broker.judge_key import judge_key
from evalsi_kernel.evaluation import broker_opening
from evalsi_kernel.extensions.hook_calls import connector
from evalsi_kernel.extensions.installed import Extensions
from tests.judging.graded import SCHEMA, graded, question
from tests.providers import KEY, MODEL, Provider, Request

OPENAI: Final = "openai-compatible"
ANTHROPIC: Final = "anthropic"
BOTH: Final = (OPENAI, ANTHROPIC)
HANDED_IN: Final = {OPENAI: 3, ANTHROPIC: 2}
"""The request with which a batch is made: first it is asked whether there are any, and OpenAI wants a file."""
NEVER_S: Final = 3600.0
AT_ONCE: Final = BatchTimes(NEVER_S, poll_s=0.0, longest_poll_s=0.0, retry_s=0.0, gone_s=0.0, patience_s=NEVER_S)
"""Only a batch that is full is handed in, so that a test knows how many there are."""
ROOT: Final = Path(__file__).parents[2]
BOUND_S: Final = 60.0


def prepare(monkeypatch: pytest.MonkeyPatch, cache: Path, most: int, times: BatchTimes = AT_ONCE) -> None:
    """Have runs of this process keep to a cache folder, hand in so many questions at a time, and wait as told."""

    def with_most(settings: ConnectorSettings, extensions: Extensions) -> Connector:
        made = connector(settings, extensions)
        monkeypatch.setattr(made, "max_batch_asks", most, raising=False)
        return made

    monkeypatch.setenv("EVALSI_CACHE_DIR", str(cache))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    monkeypatch.setattr(plugin, "TIMES", times)
    monkeypatch.setattr(broker_opening, "connector", with_most)


def rows(*outputs: object) -> list[dict[str, Any]]:
    """A record for each output, whose id is the output."""
    return [{"id": str(output), "output": str(output)} for output in outputs]


def url_of(server: Provider, provider: str) -> str:
    """The base URL that this provider's connector takes."""
    return server.root_url if provider == ANTHROPIC else server.base_url


def custom_id(server: Provider, provider: str, output: object) -> str:
    """The custom id of the question about an output."""
    identity = {"provider": provider, "model": MODEL, "base_url": url_of(server, provider)}
    return judge_key(identity, Ask([{"role": "user", "content": question(str(output))}], SCHEMA)).digest


def run(
    server: Provider,
    data: Sequence[Mapping[str, Any]],
    provider: str = OPENAI,
    judge: Mapping[str, Any] = {},
    **settings: Any,
) -> Result:
    """Evaluate in batches."""
    model = {"model": MODEL, "provider": provider, "base_url": url_of(server, provider), "api_key_env": "JUDGE_KEY"}
    return evalsi.evaluate(data, [graded], judge={**model, **judge}, batch=True, quiet=True, **settings)


@contextmanager
def command(
    server: Provider, provider: str, data: Path, *words: str, most: int = 5, poll_s: float = NEVER_S
) -> Iterator[subprocess.Popen[str]]:
    """The command in a process of its own, which ends with the context; its cache lies beside the data."""
    flags = ["--judge-model", MODEL, "--judge-provider", provider, "--judge-base-url", url_of(server, provider)]
    given = ["--data", str(data), "--evaluators", "./graded.py:graded", *flags, "--judge-batch", *words]
    variables = {"EVALSI_CACHE_DIR": str(data.parent / "cache"), "EVALSI_JUDGE_API_KEY_ENV": "JUDGE_KEY"}
    process = subprocess.Popen(
        [sys.executable, ROOT / "tests" / "judging" / "batch_command.py", str(most), str(poll_s), "eval", *given],
        cwd=ROOT / "tests" / "judging",
        env=os.environ | variables | {"JUDGE_KEY": KEY},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # Whoever reads from it waits no longer than this.
    bound = threading.Timer(BOUND_S, process.kill)
    bound.start()
    try:
        yield process
    finally:
        bound.cancel()
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], words: str) -> None:
    """Read what it says on stderr up to a line with these words."""
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if words in line:
            return
    raise AssertionError(f"it ended before it said {words!r}: {''.join(lines)}")


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
