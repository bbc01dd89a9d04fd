"""Inspect's model-graded scorer over recorded outputs. Arguments: the file, the base URL, records at once.

It prints how many were scored and their mean, as JSON. It asks one question a record: whether the answer meets the
criterion, which here is that the texts support it.
"""

# What it imports is in the tool's own environment alone.
# mypy: disable-error-code="import-not-found, untyped-decorator"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from inspect_ai.scorer import model_graded_qa
from inspect_ai.solver import solver


@solver
def recorded() -> Any:
    """Gives each sample the output that it came with."""

    async def solve(state: Any, _generate: Any) -> Any:
        state.output = ModelOutput.from_content("recorded", state.metadata["output"])
        return state

    return solve


def main(data: str, base_url: str, at_once: int) -> None:
    """Score every record."""
    records = [json.loads(line) for line in Path(data).read_text("utf-8").splitlines()]
    samples = [
        Sample(
            input=one["input"],
            target="Everything it says is supported by these texts:\n" + "\n".join(one["context"]),
            metadata={"output": one["output"]},
        )
        for one in records
    ]
    grader = get_model(
        "openai-api/local/my-judge",
        base_url=base_url,
        api_key="test-key",
        config=GenerateConfig(max_connections=at_once),
    )
    task = Task(dataset=MemoryDataset(samples), solver=recorded(), scorer=model_graded_qa(model=grader))
    (log,) = eval(task, model="mockllm/model", display="none", log_dir="logs", max_samples=at_once)
    (score,) = log.results.scores
    print(json.dumps({"scored": score.scored_samples, "mean": score.metrics["accuracy"].value}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
