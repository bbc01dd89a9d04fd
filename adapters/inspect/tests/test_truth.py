"""What Inspect says of a sample in an evaluation of its own, and what the evaluator says of it as a record, agree."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import inspect_ai.scorer
import pytest
from adapters.inspect.tests.cases import DETERMINISTIC, GRADED, Case, evaluator, reply_to
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import value_to_float
from inspect_ai.solver import generate, multiple_choice

from evalsi import Question, Record, Score
from evalsi.testing import Bench, Outcome
from evalsi_inspect.reading import rows
from evalsi_inspect.table import SCORERS

Alone = tuple[list[EvalSample], list[str], list[Path]]
"""The samples as Inspect scored them, what its grader was asked, and the logs."""


def said(text: str) -> ModelOutput:
    output = ModelOutput.from_content("mockllm/model", text)
    output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return output


def grader(prompts: list[str]) -> Model:
    """Inspect's own stand-in for a model, which says what the judge says."""

    def reply(messages: list[Any], *_: Any) -> ModelOutput:
        prompts.append(messages[-1].text)
        return said(reply_to(messages[-1].text))

    return get_model("mockllm/grader", custom_outputs=reply)


def alone(cases: list[Case], folder: Path) -> Alone:
    """Inspect itself: a task a case."""
    prompts: list[str] = []
    tasks = []
    for number, case in enumerate(cases):
        params = {name: value for name, value in case.params.items() if name != "multiple_correct"}
        sample = Sample("What is it?", target=case.target, choices=case.choices, id=1)
        solver = multiple_choice(multiple_correct="multiple_correct" in case.params) if case.choices else generate()
        scorer = getattr(inspect_ai.scorer, case.name.replace("-", "_"))(**params)
        tasks.append(
            Task(
                dataset=[sample],
                solver=solver,
                scorer=scorer,
                name=f"case{number}",
                model=get_model("mockllm/model", custom_outputs=[said(case.output)], memoize=False),
            )
        )
    logs = eval(
        tasks, model_roles={"grader": grader(prompts)}, log_dir=str(folder), display="none", max_tasks=1, max_samples=1
    )
    by_task = {log.eval.task: log for log in logs}
    ordered = [by_task[f"case{number}"] for number in range(len(cases))]
    assert [log.error.message for log in ordered if log.error] == []
    samples = [log.samples[0] for log in ordered if log.samples]
    return samples, prompts, [Path(log.location.removeprefix("file://")) for log in ordered]


@pytest.fixture(scope="session")
def inspect_alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    return alone([*DETERMINISTIC, *GRADED], tmp_path_factory.mktemp("logs"))


def number_of(score: Score) -> float | None:
    """Return Inspect's number for a score, 1 for a pass and 0 for a fail."""
    return score.value if score.passed is None else float(score.passed)


def foreign_value(sample: EvalSample) -> float:
    assert sample.scores is not None
    ((_, score),) = sample.scores.items()
    return float(value_to_float()(score.value))


def ours(case: Case, record: Record, prompts: list[str]) -> Outcome:
    def judge(question: Question) -> str:
        prompts.append(question.messages[-1]["content"])
        return reply_to(prompts[-1])

    return Bench(judge=judge).score(evaluator(case.name), record, **case.params)


def test_the_cases_try_every_row_and_every_param() -> None:
    tried: dict[str, set[str]] = {}
    for case in [*DETERMINISTIC, *GRADED]:
        tried.setdefault(case.name, set()).update(case.params)
    # A time limit changes no verdict.
    assert tried == {row.name: set(row.params) - {"timeout"} for row in SCORERS}


def of_record(case: Case, _: Path) -> Record:
    return case.record


def of_log(case: Case, log: Path) -> Record:
    (row,) = rows(log)
    return Record(**row)


@pytest.mark.parametrize("record_of", [of_record, of_log])
def test_a_record_and_a_sample_read_from_the_log_get_the_score_that_inspect_gave(
    inspect_alone: Alone, record_of: Callable[[Case, Path], Record]
) -> None:
    samples, theirs, logs = inspect_alone
    prompts: list[str] = []
    values = set()
    for case, sample, log in zip([*DETERMINISTIC, *GRADED], samples, logs, strict=True):
        outcome = ours(case, record_of(case, log), prompts)
        value = number_of(outcome.score)
        assert value == foreign_value(sample), (case, outcome)
        values.add((case.name, value))
    # The prompts are the same to the letter.
    assert prompts == theirs
    # A scorer that gave one value to all would prove little.
    assert all(len({value for name, value in values if name == row.name}) > 1 for row in SCORERS)
    assert ("model-graded-qa", 0.5) in values
