"""Inspect's match, and its model-graded scorer with one question a record: alone, and through the adapter."""

# What it imports is in the adapter's environment alone.
# mypy: disable-error-code="import-not-found"

from __future__ import annotations

from typing import Any

import inspect_ai.scorer
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Target

from benchmarks.adapter_tools.timing import RECORDS, scored, tell, together
from evalsi import Record
from evalsi.testing import Bench
from evalsi_inspect.task_state import task_state

GRADE = "It is what was asked for.\nGRADE: C"
NAMES = ("match", "model-graded-qa")


def grader(*_: Any) -> ModelOutput:
    """What Inspect's own stand-in for a model says."""
    output = ModelOutput.from_content("mockllm/grader", GRADE)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def compare(name: str) -> None:
    """One scorer, both ways."""
    records = [
        Record(id=str(number), input="What is it?", output="It is Paris.", reference="Paris")
        for number in range(RECORDS)
    ]
    asks = name == "model-graded-qa"
    model = get_model("mockllm/grader", custom_outputs=grader)
    scorer = getattr(inspect_ai.scorer, name.replace("-", "_"))(**({"model": model} if asks else {}))

    async def measure() -> None:
        await scorer(task_state(records[0]), Target("Paris"))

    def ours() -> None:
        scored(Bench(judge=lambda _: GRADE).run_pack("evalsi_inspect", name, records, timeout_s=300))

    tell(f"inspect/{name}", lambda: together(measure), ours)


if __name__ == "__main__":
    for one in NAMES:
        compare(one)
