"""`evalsi_scorer`: any evaluator of Evals.si as a scorer of Inspect's, for the user's own environment.

The evaluator runs out of process, by the kernel that is installed beside it. It must not know the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

import evalsi
from evalsi_inspect.batches import Batches, Found, Row
from evalsi_inspect.conversation import message_of, steps_of
from evalsi_inspect.plain_json import plain

OnError = Literal["raise", "unscored"]


class EvaluatorFailed(Exception):
    """The evaluator has no score for a sample, because it or its judge failed."""


class Settings(NamedTuple):
    """How every batch is evaluated."""

    evaluator: str
    params: Mapping[str, Any]
    judge: str | Mapping[str, Any] | None
    embed: str | Mapping[str, Any] | None
    cache: bool
    concurrency: int | None


def evalsi_scorer(
    evaluator: str,
    *,
    params: Mapping[str, Any] | None = None,
    score: str | None = None,
    context: str = "context",
    judge: str | Mapping[str, Any] | None = None,
    embed: str | Mapping[str, Any] | None = None,
    cache: bool = True,
    concurrency: int | None = None,
    on_error: OnError = "raise",
) -> Scorer:
    """Score samples of Inspect with an evaluator of Evals.si, out of process. Needs `pip install evalsi`.

    Args:
        evaluator: as in `--evaluators`, such as "ragas/faithfulness"; of record scope.
        params: of the evaluator.
        score: which score is the value, where the evaluator gives several; None takes its own, or else the first.
        context: the key of the sample's metadata that holds the context.
        judge: the model that judges, as for `evalsi.evaluate`; there is no default.
        embed: the model that makes embeddings, likewise.
        cache: take replies of models from the cache, and keep new ones there.
        concurrency: records in flight at once where the evaluator waits for a model.
        on_error: "raise" makes a failure an error of the sample, which Inspect's `fail_on_error` judges; "unscored"
            leaves the sample out of the metrics, as a skipped one is. Neither is ever a number.

    Raises:
        ValueError: `on_error` is neither.
    """
    if on_error not in ("raise", "unscored"):
        raise ValueError(f"on_error is {on_error!r}; it is raise or unscored.")
    settings = Settings(evaluator, dict(params or {}), judge, embed, cache, concurrency)

    @scorer(metrics=[mean(), stderr()], name=evaluator)  # type: ignore[untyped-decorator]
    def made() -> Scorer:
        batches = Batches(lambda rows: evaluate_rows(settings, rows))

        async def run(state: TaskState, target: Target) -> Score:
            try:
                found = await batches.outcome(row_of(state, target, context))
                return _verdict(found, score)
            except Exception as error:
                if on_error == "raise":
                    raise
                return Score.unscored(reason="scoring_failed", explanation=str(error))

        return run

    return made()


def row_of(state: TaskState, target: Target, context: str) -> Row:
    """A sample as a row of data.

    Args:
        state: of the sample once it is answered.
        target: its right answers.
        context: the key of its metadata that holds the context.
    """
    asked = state.input if isinstance(state.input, str) else [message_of(message) for message in state.input]
    steps = steps_of(state.messages)
    row = {
        "input": asked or None,
        # "" where a limit ended the sample before the model answered: Inspect scores it so too.
        "output": state.output.completion,
        "reference": [text for text in target if text] or None,
        "context": plain(state.metadata.get(context)),
        "trajectory": {"steps": steps} if len(steps) > 1 else None,
        "metadata": {**plain(state.metadata), "sample_id": state.sample_id, "epoch": state.epoch},
    }
    return {name: value for name, value in row.items() if value is not None}


def evaluate_rows(settings: Settings, rows: Sequence[Row]) -> list[Found]:
    """What became of each row, in their order.

    What keeps an evaluation from running is told for every row; a row that is no record takes no other with it.

    Args:
        settings: how they are evaluated.
        rows: those that wait.
    """
    try:
        result = evalsi.evaluate(
            rows,
            [{"ref": settings.evaluator, "params": dict(settings.params)}],
            judge=settings.judge,
            embed=settings.embed,
            cache=settings.cache,
            concurrency=settings.concurrency,
        )
    except Exception as error:  # noqa: BLE001 -- told for every sample that waits, and raised there.
        if len(rows) > 1 and str(getattr(error, "code", "")).startswith("dataset."):
            middle = len(rows) // 2
            return [*evaluate_rows(settings, rows[:middle]), *evaluate_rows(settings, rows[middle:])]
        return [error] * len(rows)
    found: list[Found] = [outcome for outcome in result.results if outcome.get("outcome") != "state"]
    if len(found) != len(rows):
        sentence = f"{settings.evaluator} does not give one outcome a sample. Name one evaluator, of record scope."
        return [EvaluatorFailed(sentence)] * len(rows)
    return found


def _verdict(found: Mapping[str, Any], wanted: str | None) -> Score:
    """The outcome as Inspect's score; one that is skipped is unscored.

    Raises:
        EvaluatorFailed: the outcome is an error, or has no score of the wanted name.
    """
    if found["outcome"] == "skipped":
        return Score.unscored(reason="skipped", explanation=found.get("reason"))
    if found["outcome"] != "scored":
        raise EvaluatorFailed(_why(found))
    own = found["evaluator"]
    scores = {str(one.get("name") or own): one for one in found["scores"]}
    name = wanted or (own if own in scores else next(iter(scores)))
    if name not in scores:
        raise EvaluatorFailed(f"The evaluator gives no score {name!r}; it gives {', '.join(scores)}.")
    main = scores.pop(name)
    metadata = dict(main.get("metadata") or {})
    if scores:
        metadata["scores"] = {other: _value(one) for other, one in scores.items()}
    return Score(value=_value(main), explanation=main.get("explanation"), metadata=metadata or None)


def _value(score: Mapping[str, Any]) -> float | str:
    """A number, 1 or 0 for passed or not, or a label."""
    if "passed" in score:
        return 1.0 if score["passed"] else 0.0
    value: float | str = score["value"] if "value" in score else score["label"]
    return value


def _why(found: Mapping[str, Any]) -> str:
    error = found.get("error") or {}
    parts = (error.get("message") or found.get("reason") or found["outcome"], error.get("hint"))
    return f"{error.get('code', found['outcome'])}: {' '.join(part for part in parts if part)}"
