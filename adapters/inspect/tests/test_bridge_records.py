"""T2: a sample that the bridge scores while it runs is the same record as in its log."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adapters.inspect.tests.make_logs import MODEL, add, answer
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import TaskState, generate, use_tools

from evalsi_inspect.reading import rows
from evalsi_inspect_bridge.scorer import row_of

FIELDS = ("input", "output", "reference", "trajectory")


def test_t2_a_sample_gives_the_bridge_and_the_log_reader_the_same_record(tmp_path: Path) -> None:
    seen: dict[Any, dict[str, Any]] = {}

    @scorer(metrics=[mean()])  # type: ignore[untyped-decorator]
    def keeps() -> Scorer:
        async def run(state: TaskState, target: Target) -> Score:
            seen[state.sample_id] = row_of(state, target, "context")
            return Score(value=1)

        return run

    asked = [ChatMessageSystem(content="Answer in a word."), ChatMessageUser(content="The capital of France?")]
    samples = [
        Sample("What is 2 + 3?", target="5", id="sum"),
        Sample(asked, target=["Paris", "paris"], id="capital"),
        Sample("Anything?", id="open"),
    ]
    answers = [answer("Let me add.", x=2, y=3), answer("The sum is 5"), answer("Paris"), answer("No.")]
    task = Task(dataset=samples, solver=[use_tools(add()), generate()], scorer=keeps())
    model = get_model(MODEL, custom_outputs=answers, memoize=False)
    (log,) = eval(task, model=model, log_dir=str(tmp_path), display="none", max_samples=1)
    assert log.status == "success", log.error
    read = {row["id"]: row for row in rows(Path(log.location))}
    assert sorted(read) == ["capital", "open", "sum"]
    assert len(read["sum"]["trajectory"]["steps"]) == 3
    for name, row in read.items():
        assert {field: row.get(field) for field in FIELDS} == {field: seen[name].get(field) for field in FIELDS}
