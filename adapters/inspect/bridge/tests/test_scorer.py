"""T2: evaluators as scorers of Inspect, at both ends of the supported range: scores, skips and failures."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Scorer

from evalsi_inspect_bridge import EvaluatorFailed, evalsi_scorer
from evalsi_inspect_bridge.batches import Batches, Found, Row
from evalsi_inspect_bridge.scorer import Settings, evaluate_rows

CODE = """
from evalsi import Record, Score, Skip, evaluator

@evaluator
def length(record: Record, *, factor: float = 1.0) -> float:
    return len(record.output_text) * factor

@evaluator
def right(record: Record) -> bool:
    return record.output_text in record.reference_texts

@evaluator
def tone(record: Record) -> str:
    return "calm"

@evaluator
def several(record: Record) -> list[Score]:
    return [Score(value=0.5, explanation="half"), Score(name="calm", passed=True), Score(name="tone", label="flat")]

@evaluator
def grounded(record: Record) -> float:
    return float(record.context[0].as_text() in record.output_text)

@evaluator
def fails(record: Record) -> float:
    raise RuntimeError("out of order")

@evaluator(scope="dataset")
class Whole:
    def observe(self, record: Record) -> float:
        return 1.0

    def aggregate(self, states: list[float]) -> float:
        return 1.0
"""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("code") / "checks.py"
    path.write_text(CODE, "utf-8")
    return str(path)


def logged(scorers: list[Scorer], folder: Path, **settings: Any) -> EvalLog:
    def answer(text: str) -> ModelOutput:
        output = ModelOutput.from_content("mockllm/model", text)
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    samples = [
        Sample("The capital?", target="Paris", id="a", metadata={"context": ["Paris"]}),
        Sample("The capital?", target="Rome", id="b", metadata={"context": ["Rome"]}),
        Sample("The capital?", id="c"),
    ]
    model = get_model("mockllm/model", custom_outputs=[answer("Paris") for _ in samples], memoize=False)
    task = Task(dataset=samples, scorer=scorers)
    (log,) = eval(task, model=model, log_dir=str(folder), display="none", **settings)
    return log


def values(log: EvalLog, name: str) -> dict[Any, Any]:
    return {sample.id: sample.scores[name].value for sample in log.samples or [] if sample.scores}


def test_numbers_passes_and_labels_are_scores_and_what_is_skipped_is_unscored(code: str, tmp_path: Path) -> None:
    names = {name: f"{code}:{name}" for name in ("length", "right", "several", "grounded")}
    log = logged(
        [
            evalsi_scorer(names["length"], params={"factor": 2.0}),
            evalsi_scorer(names["right"]),
            evalsi_scorer(names["several"]),
            evalsi_scorer(names["grounded"]),
        ],
        tmp_path,
    )
    assert log.status == "success"
    assert values(log, names["length"]) == {"a": 10.0, "b": 10.0, "c": 10.0}
    right, grounded = values(log, names["right"]), values(log, names["grounded"])
    assert (right["a"], right["b"], grounded["a"], grounded["b"]) == (1.0, 0.0, 1.0, 0.0)
    assert math.isnan(right["c"])
    assert math.isnan(grounded["c"])
    assert log.samples is not None
    scores = log.samples[0].scores
    assert scores is not None
    assert scores[names["several"]].explanation == "half"
    assert scores[names["several"]].metadata == {"scores": {"calm": 1.0, "tone": "flat"}}
    assert log.results is not None
    means = {score.name: score.metrics["mean"].value for score in log.results.scores}
    # The one that was skipped is in no mean.
    assert (means[names["right"]], means[names["length"]]) == (0.5, 10.0)


def test_a_failure_is_an_error_of_the_sample_or_unscored_and_never_a_number(code: str, tmp_path: Path) -> None:
    log = logged([evalsi_scorer(f"{code}:fails")], tmp_path)
    assert log.status == "error"
    assert log.error is not None
    assert "out of order" in log.error.message
    log = logged([evalsi_scorer(f"{code}:fails", on_error="unscored")], tmp_path)
    assert log.status == "success"
    assert all(math.isnan(value) for value in values(log, f"{code}:fails").values())
    assert log.samples is not None
    scores = log.samples[0].scores
    assert scores is not None
    assert "pack.evaluator_raised" in str(scores[f"{code}:fails"].explanation)


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("nowhere/nothing", "nowhere"),
        ("{code}:Whole", "one outcome a sample"),
        ("{code}", "one outcome a sample"),
        ("{code}:several", "no score 'x'"),
    ],
)
def test_an_evaluator_that_cannot_score_samples_says_so(code: str, ref: str, message: str, tmp_path: Path) -> None:
    log = logged([evalsi_scorer(ref.format(code=code), score="x")], tmp_path)
    assert log.error is not None
    assert message in log.error.message


def test_what_to_do_on_an_error_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="raise or unscored"):
        evalsi_scorer("exact-match", on_error="zero")  # type: ignore[arg-type]


def test_a_sample_that_is_no_record_takes_no_other_with_it(code: str) -> None:
    settings = Settings(f"{code}:length", {}, None, None, True, None)
    rows: list[Row] = [{"output": "x" * number} for number in range(1, 6)]
    rows[3] = {"output": "half of a pair: \ud800"}
    found = evaluate_rows(settings, rows)
    values = [one["scores"][0]["value"] if isinstance(one, dict) else None for one in found]
    assert values == [1.0, 2.0, 3.0, None, 5.0]
    assert "surrogate" in str(found[3])


# -- batches --------------------------------------------------------------------------------------------------------


def gathered(batches: Batches, count: int) -> list[Any]:
    """What became of so many rows that are asked for at once."""
    found: list[Any] = [None] * count

    async def ask(number: int) -> None:
        try:
            found[number] = await batches.outcome({"number": number})
        except EvaluatorFailed as error:
            found[number] = error

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for number in range(count):
                group.start_soon(ask, number)

    anyio.run(all_at_once)
    return found


def test_what_waits_is_evaluated_together_and_each_gets_his_own() -> None:
    sizes: list[int] = []

    def evaluate(rows: Sequence[Row]) -> list[Found]:
        sizes.append(len(rows))
        return [{"seen": row["number"]} for row in rows]

    batches = Batches(evaluate)
    assert gathered(batches, 500) == [{"seen": number} for number in range(500)]
    assert sum(sizes) == 500
    assert len(sizes) <= 3
    # A scorer lives longer than one event loop.
    assert gathered(batches, 2) == [{"seen": 0}, {"seen": 1}]


def test_what_keeps_a_batch_from_running_is_told_to_all_that_wait() -> None:
    error = EvaluatorFailed("no judge is named")
    assert gathered(Batches(lambda rows: [error] * len(rows)), 20) == [error] * 20


def test_a_sample_that_is_cancelled_takes_nothing_from_the_others() -> None:
    released = threading.Event()

    async def scenario() -> list[Any]:
        def evaluate(rows: Sequence[Row]) -> list[Found]:
            assert released.wait(30)
            return [{"seen": row["number"]} for row in rows]

        batches = Batches(evaluate)
        found: list[Any] = []

        async def ask(number: int) -> None:
            found.append(await batches.outcome({"number": number}))

        async with anyio.create_task_group() as others, anyio.create_task_group() as leader:
            leader.start_soon(ask, 0)
            await anyio.wait_all_tasks_blocked()
            for number in (1, 2):
                others.start_soon(ask, number)
            await anyio.wait_all_tasks_blocked()
            leader.cancel_scope.cancel()
            released.set()
        return found

    assert sorted(one["seen"] for one in anyio.run(scenario))[-2:] == [1, 2]
