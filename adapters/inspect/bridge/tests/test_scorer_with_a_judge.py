"""T2: a scorer whose evaluator asks a judge: the kernel asks it over HTTP, in the environment of Inspect."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from evalsi_inspect_bridge import evalsi_scorer

CODE = """
from evalsi import Context, Record, Score, evaluator

GRADE = {"type": "integer", "minimum": 0, "maximum": 4}
SCHEMA = {"type": "object", "properties": {"score": GRADE}, "required": ["score"]}

@evaluator(asks=("judge",))
async def graded(record: Record, ctx: Context) -> Score:
    reply = await ctx.judge([{"role": "user", "content": f"Grade this: {record.output_text}"}], schema=SCHEMA)
    return Score(value=reply.value["score"] / 4, explanation="by the judge")
"""
SAMPLES = {"a": "Paris", "b": "Rome"}


class Vendor:
    """A server of chat completions; `reply` gives the text for a prompt, or a status that refuses it."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.keys: set[str | None] = set()
        self.reply: Callable[[str], str | int] = lambda prompt: json.dumps({"score": 4 if "Paris" in prompt else 1})
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                vendor.keys.add(self.headers["authorization"])
                vendor.prompts.append(body["messages"][-1]["content"])
                said = vendor.reply(vendor.prompts[-1])
                choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                answer: dict[str, Any] = {"id": "1", "model": "m", "choices": [choice], "usage": usage}
                if isinstance(said, int):
                    answer = {"error": {"message": "no", "type": "invalid_request_error"}}
                data = json.dumps(answer).encode()
                self.send_response(said if isinstance(said, int) else 200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    @property
    def judge(self) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        return {"model": "m", "base_url": url, "api_key_env": "JUDGE_KEY"}

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("JUDGE_KEY", "a-key")
    made = Vendor()
    yield made
    made.close()


@pytest.fixture
def graded(tmp_path: Path) -> str:
    path = tmp_path / "checks.py"
    path.write_text(CODE, "utf-8")
    return f"{path}:graded"


def logged(folder: Path, graded: str, **settings: Any) -> EvalLog:
    """What Inspect made of two samples that were answered as they stand."""
    outputs = []
    for text in SAMPLES.values():
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        outputs.append(output)
    task = Task(
        dataset=[Sample("The capital?", target="Paris", id=name) for name in SAMPLES],
        scorer=evalsi_scorer(graded, **settings),
    )
    model = get_model("mockllm/model", custom_outputs=outputs, memoize=False)
    (log,) = eval(task, model=model, log_dir=str(folder), display="none", max_samples=1)
    return log


def scores(log: EvalLog) -> dict[Any, Any]:
    return {sample.id: score for sample in log.samples or [] for score in (sample.scores or {}).values()}


def test_a_judge_grades_the_samples_and_a_second_run_asks_it_nothing(
    vendor: Vendor, graded: str, tmp_path: Path
) -> None:
    log = logged(tmp_path / "logs", graded, judge=vendor.judge)
    assert log.status == "success", log.error
    found = scores(log)
    assert {name: score.value for name, score in found.items()} == {"a": 1.0, "b": 0.25}
    assert found["a"].explanation == "by the judge"
    assert log.results is not None
    assert log.results.scores[0].metrics["mean"].value == 0.625
    assert (len(vendor.prompts), vendor.keys) == (2, {"Bearer a-key"})
    again = logged(tmp_path / "logs", graded, judge=vendor.judge)
    assert {name: score.value for name, score in scores(again).items()} == {"a": 1.0, "b": 0.25}
    assert len(vendor.prompts) == 2


@pytest.mark.parametrize(
    ("said", "code"), [("{}", "judge.unparsable"), ("Perfect.", "judge.unparsable"), (400, "provider.")]
)
def test_a_judge_that_fails_leaves_a_sample_unscored_or_ends_the_evaluation_and_is_no_number(
    said: str | int, code: str, vendor: Vendor, graded: str, tmp_path: Path
) -> None:
    vendor.reply = lambda _: said
    log = logged(tmp_path / "logs", graded, judge=vendor.judge)
    assert log.status == "error"
    assert log.error is not None
    assert code in log.error.message
    log = logged(tmp_path / "logs", graded, judge=vendor.judge, on_error="unscored")
    assert log.status == "success"
    assert [math.isnan(score.value) for score in scores(log).values()] == [True, True]
    assert all(code in str(score.explanation) for score in scores(log).values())


def test_without_a_judge_the_evaluation_ends_with_a_sentence(graded: str, tmp_path: Path) -> None:
    log = logged(tmp_path / "logs", graded)
    assert log.error is not None
    assert "judge" in log.error.message
