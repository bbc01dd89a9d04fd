"""`evalsi_scorer`: an evaluator of Evals.si as a scorer of Inspect.

It runs in the user's environment and calls `evalsi.evaluate`; the evaluator runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

import evalsi
from evalsi_inspect_bridge.batches import Batches, Found, Row
from evalsi_inspect_bridge.messages import message_of, steps_of
from evalsi_inspect_bridge.plain_json import plain

OnError = Literal["raise", "unscored"]


class EvaluatorFailed(Exception):
    """The evaluator or its judge failed on a sample, so the sample has no score."""


class Settings(NamedTuple):
    """The arguments of `evalsi.evaluate`, the same for every batch."""

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
    """Return a scorer of Inspect that runs an evaluator of Evals.si. Evals.si must be installed beside Inspect.

    Args:
        evaluator: name of an evaluator of record scope, as in `--evaluators`: "ragas/faithfulness".
        params: params of the evaluator.
        score: name of the score that becomes the value, for an evaluator with several scores; None takes the score
            that has the evaluator's name, or else the first.
        context: key of the sample's metadata that holds the context.
        judge: model that judges, as for `evalsi.evaluate`; there is no default.
        embed: model that makes embeddings, likewise.
        cache: read the replies of models from the cache and write new ones to it.
        concurrency: number of records in progress for an evaluator that waits for a model.
        on_error: "raise" turns a failure into an error of the sample, which Inspect's `fail_on_error` decides on;
            "unscored" leaves the sample out of the metrics, like a skipped one. A failure is never a number.

    Raises:
        ValueError: `on_error` has another value.
    """
    if on_error not in ("raise", "unscored"):
        raise ValueError(f"on_error is {on_error!r}. Use raise or unscored.")
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
                return _unscored("scoring_failed", str(error))

        return run

    return made()


def row_of(state: TaskState, target: Target, context: str) -> Row:
    """Return the record of an answered sample, without the fields that the sample lacks.

    Args:
        state: state of the sample after its solver.
        target: expected answers.
        context: key of the sample's metadata that holds the context.
    """
    asked = state.input if isinstance(state.input, str) else [message_of(message) for message in state.input]
    steps = steps_of(state.messages)
    expected = [text for text in target if text]
    row = {
        "input": asked or None,
        # "" if a limit ended the sample before the model answered; Inspect's own scorers see the same.
        "output": state.output.completion,
        "reference": expected[0] if len(expected) == 1 else expected or None,
        "context": plain(state.metadata.get(context)),
        "trajectory": {"steps": steps} if len(steps) > 1 else None,
        "metadata": {**plain(state.metadata), "sample_id": state.sample_id, "epoch": state.epoch},
    }
    return {name: value for name, value in row.items() if value is not None}


def evaluate_rows(settings: Settings, rows: Sequence[Row]) -> list[Found]:
    """Evaluate rows together and return an outcome or an error for each, in the same order.

    An error that stops the evaluation is returned for every row. An invalid record does not affect other rows.

    Args:
        settings: arguments of the evaluation.
        rows: records to evaluate.
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
    except Exception as error:  # noqa: BLE001 -- returned for every waiting sample, and raised there.
        if len(rows) > 1 and str(getattr(error, "code", "")).startswith("dataset."):
            middle = len(rows) // 2
            return [*evaluate_rows(settings, rows[:middle]), *evaluate_rows(settings, rows[middle:])]
        return [error] * len(rows)
    found: list[Found] = [outcome for outcome in result.results if outcome.get("outcome") != "state"]
    if len(found) != len(rows):
        sentence = f"{settings.evaluator} does not give one outcome a sample. Name one evaluator of record scope."
        return [EvaluatorFailed(sentence)] * len(rows)
    return found


def _verdict(found: Mapping[str, Any], wanted: str | None) -> Score:
    """Return the outcome as a score of Inspect. A skipped outcome is unscored.

    Raises:
        EvaluatorFailed: the outcome is an error, or has no score with the wanted name.
    """
    if found["outcome"] == "skipped":
        return _unscored("skipped", found.get("reason"))
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


def _unscored(reason: str, explanation: str | None) -> Score:
    """Return a score that no metric counts."""
    # Older versions of Inspect have no field `reason`; the explanation says it there.
    fields = {"reason": reason} if "reason" in Score.model_fields else {}
    score: Score = Score.unscored(explanation=explanation, **fields)
    return score


def _value(score: Mapping[str, Any]) -> float | str:
    """Return the number or the label of a score; passed is 1 and failed is 0."""
    if "passed" in score:
        return 1.0 if score["passed"] else 0.0
    value: float | str = score["value"] if "value" in score else score["label"]
    return value


def _why(found: Mapping[str, Any]) -> str:
    """Return code, message and hint of an outcome that is an error."""
    error = found.get("error") or {}
    parts = (error.get("message") or found.get("reason") or found["outcome"], error.get("hint"))
    return f"{error.get('code', found['outcome'])}: {' '.join(part for part in parts if part)}"
