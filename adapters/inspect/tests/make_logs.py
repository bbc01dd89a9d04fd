"""Writes `tests/logs/` with Inspect itself: `python tests/make_logs.py`. The tests read what is checked in."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import Generate, Solver, TaskState, generate, solver, use_tools
from inspect_ai.tool import Tool, tool

LOGS = Path(__file__).parent / "logs"
MODEL = "mockllm/model"


def answer(text: str, **call: Any) -> ModelOutput:
    """What the model says, or which tool it calls."""
    output = (
        ModelOutput.for_tool_call(MODEL, "add", call, content=text) if call else ModelOutput.from_content(MODEL, text)
    )
    # Counted by hand, since Inspect counts with a library that fetches its words from the network.
    output.usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    return output


@tool  # type: ignore[untyped-decorator]
def add() -> Tool:
    """A tool that adds."""

    async def execute(x: int, y: int) -> int:
        """Add two numbers.

        Args:
            x: One.
            y: Another.
        """
        return x + y

    return execute


@solver  # type: ignore[untyped-decorator]
def fails_where_told() -> Solver:
    """Raises for a sample whose metadata says so."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.metadata.get("fail"):
            raise RuntimeError("the tool server is down")
        return state

    return solve


def made(task: Task, answers: list[ModelOutput], **settings: Any) -> EvalLog:
    """The log of a task."""
    folder = tempfile.mkdtemp()
    (log,) = eval(
        task,
        model=get_model(MODEL, custom_outputs=answers),
        log_dir=folder,
        display="none",
        max_samples=1,
        log_format="eval",
        **settings,
    )
    whole = read_eval_log(log.location)
    shutil.rmtree(folder)
    return whole


def agent_log() -> EvalLog:
    """Three samples: one with a tool, one of messages with several targets, one that fails and has no output."""
    samples = [
        Sample("What is 2 + 3?", target="5", id="sum", metadata={"level": 1, "weight": float("nan")}),
        Sample(
            [ChatMessageSystem(content="Answer in a word."), ChatMessageUser(content="The capital of France?")],
            target=["Paris", "paris"],
            id=7,
        ),
        Sample("Nothing comes of this.", target="x", id="down", metadata={"fail": True}),
    ]
    task = Task(
        dataset=samples,
        solver=[fails_where_told(), use_tools(add()), generate()],
        scorer=[match(), includes()],
        name="agent",
    )
    answers = [answer("I add.", x=2, y=3), answer("The sum is 5"), answer("Rome")]
    return made(task, answers, fail_on_error=False)


def epochs_log() -> EvalLog:
    """One sample with choices, answered twice."""
    sample = Sample("Which is a fruit?", target="B", id="fruit", choices=["stone", "pear"])
    task = Task(dataset=[sample], solver=[generate()], scorer=match(), name="epochs")
    return made(task, [answer("ANSWER: B"), answer("ANSWER: A")], epochs=2)


def main() -> None:
    """Write all logs."""
    LOGS.mkdir(exist_ok=True)
    for name, log in (("agent", agent_log()), ("epochs", epochs_log())):
        for sample in log.samples or []:
            # What says where the log was made is of no use here.
            sample.events, sample.events_data, sample.timelines, sample.attachments = [], None, None, {}
            for failure in [sample.error] if sample.error else []:
                failure.traceback = failure.traceback_ansi = "left out"
        log.eval.revision = None
        log.eval.packages = {}
        log.eval.task_file = None
        for end in ("eval", "json"):
            write_eval_log(log, str(LOGS / f"{name}.{end}"))


if __name__ == "__main__":
    main()
