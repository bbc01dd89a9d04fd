"""T2: the model `evalsi`, at both ends of the supported range: requests reach a chat model over HTTP."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

DOCS = [{"q": f"What is {n} and {n}?", "a": str(2 * n)} for n in range(8)]
TASK: dict[str, Any] = {
    "task": "sums",
    "output_type": "generate_until",
    "doc_to_text": "q",
    "doc_to_target": "a",
    "generation_kwargs": {"until": ["\n", "END"], "max_gen_toks": 40},
    "metric_list": [{"metric": "exact_match"}],
}


class Vendor:
    """A server of chat completions that adds numbers."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.reply: Callable[[str], str | int] = lambda text: str(2 * int(text.split()[2]))
        self.finish = "stop"
        vendor = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                vendor.bodies.append(body)
                said = vendor.reply(body["messages"][-1]["content"])
                choice = {"index": 0, "finish_reason": vendor.finish, "message": {"role": "assistant", "content": said}}
                usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
                answer = {"id": "1", "object": "chat.completion", "model": "m", "choices": [choice], "usage": usage}
                refused = {"error": {"message": "no", "type": "invalid_request_error"}}
                data = json.dumps(answer if isinstance(said, str) else refused).encode()
                self.send_response(200 if isinstance(said, str) else said)
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
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def vendor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path / "cache"))
    made = Vendor()
    yield made
    made.close()


@pytest.fixture
def evaluate(vendor: Vendor) -> Callable[..., Any]:
    """Runs a task by the harness with this model, made from an argument string as on its command line."""
    from lm_eval import evaluator
    from lm_eval.api.registry import get_model
    from lm_eval.api.task import ConfigurableTask

    import evalsi_lm_eval_bridge.model

    assert get_model("evalsi") is evalsi_lm_eval_bridge.model.EvalsiModel

    class Docs(list[dict[str, Any]]):
        features = DOCS[0]

    def run(arguments: str = "", chat: bool = False, **config: Any) -> Any:
        given = f"model=m,base_url={vendor.base_url},api_key_env=none,{arguments}"
        model = get_model("evalsi").create_from_arg_string(given, {"batch_size": 1, "device": None})
        whole = TASK | {"test_split": "test", "custom_dataset": lambda **_: {"test": Docs(DOCS)}} | config
        found = evaluator.evaluate(
            model, {"tasks": {"sums": ConfigurableTask(config=whole)}}, bootstrap_iters=0, apply_chat_template=chat
        )
        return found | {"info": model.get_model_info()["evalsi"]}

    return run


def test_a_task_is_answered_and_scored_and_a_second_run_costs_nothing(
    evaluate: Callable[..., Any], vendor: Vendor
) -> None:
    first = evaluate()
    assert first["results"]["sums"]["exact_match,none"] == 1.0
    assert first["info"] | {"base_url": ""} == {
        "provider": "openai-compatible",
        "model": "m",
        "base_url": "",
        "requests": 8,
        "cached": 0,
        "cost_usd": None,
    }
    again = evaluate()
    assert again["results"]["sums"]["exact_match,none"] == 1.0
    assert again["info"]["cached"] == 8
    assert len(vendor.bodies) == 8


def test_all_requests_of_a_task_are_in_flight_together(evaluate: Callable[..., Any], vendor: Vendor) -> None:
    # Each waits for all but the first, which goes ahead alone to find out what the server takes.
    together = threading.Barrier(len(DOCS) - 1, timeout=20)

    def reply(text: str) -> str:
        if len(vendor.bodies) > 1:
            together.wait()
        return str(2 * int(text.split()[2]))

    vendor.reply = reply
    assert evaluate()["results"]["sums"]["exact_match,none"] == 1.0
    assert not together.broken


def test_what_the_task_says_of_generating_goes_along(evaluate: Callable[..., Any], vendor: Vendor) -> None:
    evaluate()
    assert {body["temperature"] for body in vendor.bodies} == {0.0}
    assert {body.get("max_tokens", body.get("max_completion_tokens")) for body in vendor.bodies} == {40}
    vendor.bodies.clear()
    evaluate("temperature=none,max_gen_toks=77", generation_kwargs={"until": []})
    assert all("temperature" not in body for body in vendor.bodies)
    assert {body.get("max_tokens", body.get("max_completion_tokens")) for body in vendor.bodies} == {77}
    vendor.bodies.clear()
    evaluate(generation_kwargs={"until": [], "do_sample": True, "temperature": 0.7})
    assert {body["temperature"] for body in vendor.bodies} == {0.7}


def test_an_answer_ends_at_the_first_stop_and_one_that_was_cut_off_or_refused_is_an_answer(
    evaluate: Callable[..., Any], vendor: Vendor
) -> None:
    vendor.reply = lambda text: f"{2 * int(text.split()[2])}END and 1\nand so on"
    assert evaluate("cache=False")["results"]["sums"]["exact_match,none"] == 1.0
    for finish in ("length", "content_filter"):
        vendor.finish = finish
        assert evaluate("cache=False")["results"]["sums"]["exact_match,none"] == 1.0


def test_repeats_are_asked_anew_and_are_the_same_when_run_again(evaluate: Callable[..., Any], vendor: Vendor) -> None:
    evaluate(repeats=3)
    assert len(vendor.bodies) == 24
    evaluate(repeats=3)
    assert len(vendor.bodies) == 24


def test_with_a_chat_template_the_messages_are_sent_as_messages(evaluate: Callable[..., Any], vendor: Vendor) -> None:
    found = evaluate(chat=True, description="Add. ")
    assert found["results"]["sums"]["exact_match,none"] == 1.0
    assert [message["role"] for message in vendor.bodies[0]["messages"]] == ["system", "user"]
    assert found["samples"]["sums"][0]["arguments"][0][0].startswith('[{"role": "system"')


def test_a_request_that_failed_ends_the_run_and_is_never_an_empty_answer(
    evaluate: Callable[..., Any], vendor: Vendor
) -> None:
    from evalsi_lm_eval_bridge.model import NoAnswers

    good = vendor.reply
    vendor.reply = lambda text: 400 if " 3 " in text else good(text)
    with pytest.raises(NoAnswers, match=r"1 of 8 requests were not answered: .*What was answered is in the cache"):
        evaluate()
    vendor.reply = good
    assert evaluate()["info"]["cached"] == 7


def test_a_budget_holds_over_all_that_the_model_is_asked(evaluate: Callable[..., Any], vendor: Vendor) -> None:
    from evalsi_lm_eval_bridge.model import NoAnswers

    with pytest.raises(NoAnswers, match="budget"):
        evaluate("max_tokens=1")
    assert vendor.bodies == []


def test_log_likelihoods_are_refused_in_a_clear_sentence_before_anything_is_asked(
    evaluate: Callable[..., Any], vendor: Vendor, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lm_eval import evaluator

    from evalsi_lm_eval_bridge.__main__ import refuse_likelihoods_early
    from evalsi_lm_eval_bridge.model import NoLikelihood

    choosing = {"output_type": "multiple_choice", "doc_to_choice": ["0", "2"], "generation_kwargs": None}
    for config in (choosing, {"output_type": "loglikelihood_rolling", "generation_kwargs": None}):
        metric = "acc" if "doc_to_choice" in config else "bits_per_byte"
        with pytest.raises(NoLikelihood, match="Chat models give no log-likelihood, and sums is scored by it"):
            evaluate(metric_list=[{"metric": metric}], **config)
    # By the command even before another task is answered.
    monkeypatch.setattr(evaluator, "evaluate", evaluator.evaluate)
    refuse_likelihoods_early()
    with pytest.raises(NoLikelihood, match="sums is scored by it"):
        evaluate(metric_list=[{"metric": "acc"}], **choosing)
    assert evaluate()["results"]["sums"]["exact_match,none"] == 1.0
    assert len(vendor.bodies) == 8


@pytest.mark.parametrize(
    ("arguments", "config", "why"),
    [
        ("modle=x", {}, "no argument 'modle'"),
        ("", {"generation_kwargs": {"until": [], "do_sample": True, "top_p": 0.5}}, "top_p=0.5"),
    ],
)
def test_what_cannot_be_sent_is_an_error_that_names_it(
    evaluate: Callable[..., Any], vendor: Vendor, arguments: str, config: dict[str, Any], why: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=why):
        evaluate(arguments, **config)
    assert vendor.bodies == []


# -- the command ----------------------------------------------------------------------------------------------------

COMMON = """
dataset_path: json
dataset_kwargs: {data_files: {test: sums.jsonl}}
test_split: test
doc_to_text: "{{q}}"
"""
GENERATING = """
output_type: generate_until
doc_to_target: "{{a}}"
generation_kwargs: {until: ["\\n"]}
metric_list: [{metric: exact_match}]
"""
CHOOSING = """
output_type: multiple_choice
doc_to_target: 0
doc_to_choice: ["0", "2"]
metric_list: [{metric: acc}]
"""
GROUP = """
group: both
task: [sums, choices]
"""


class Done(NamedTuple):
    code: int
    said: str


@pytest.fixture
def command(vendor: Vendor, tmp_path: Path) -> Callable[[str], Done]:
    """Run the command of the harness with tasks of a folder: `sums`, `choices` and the group `both`."""
    (tmp_path / "sums.jsonl").write_text("".join(f"{json.dumps(doc)}\n" for doc in DOCS), "utf-8")
    (tmp_path / "sums.yaml").write_text(f"task: sums\n{COMMON}{GENERATING}", "utf-8")
    (tmp_path / "choices.yaml").write_text(f"task: choices\n{COMMON}{CHOOSING}", "utf-8")
    (tmp_path / "both.yaml").write_text(GROUP, "utf-8")

    def run(tasks: str, *more: str) -> Done:
        model = f"model=m,base_url={vendor.base_url},api_key_env=none"
        words = ["run", "--model", "evalsi", "--model_args", model, "--include_path", ".", "--tasks", tasks, *more]
        done = subprocess.run(
            [sys.executable, "-m", "evalsi_lm_eval_bridge", *words, "--apply_chat_template"],
            cwd=tmp_path,
            env={**os.environ, "HF_HOME": str(tmp_path / "hub"), "HF_HUB_OFFLINE": "1"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout + done.stderr)

    return run


def test_t2_the_command_runs_a_task_with_the_model(command: Callable[..., Done], vendor: Vendor) -> None:
    done = command("sums")
    assert (done.code, len(vendor.bodies)) == (0, 8), done.said
    assert "|exact_match|↑  |    1|" in done.said


@pytest.mark.parametrize("more", [[], ["--use_cache", "answers"]], ids=["plain", "with the harness's cache"])
@pytest.mark.parametrize("tasks", ["sums,choices", "both"])
def test_t2_the_command_rejects_log_likelihoods_before_any_task_is_asked(
    command: Callable[..., Done], vendor: Vendor, tasks: str, more: list[str]
) -> None:
    done = command(tasks, *more)
    assert (done.code, vendor.bodies) == (1, []), done.said
    assert "error: Chat models give no log-likelihood, and choices is scored by it" in done.said


def test_t2_the_command_ends_with_a_sentence_if_a_request_fails(command: Callable[..., Done], vendor: Vendor) -> None:
    vendor.reply = lambda text: 400
    done = command("sums")
    assert done.code == 1, done.said
    assert "error: 8 of 8 requests were not answered" in done.said
    assert "Traceback" not in done.said
