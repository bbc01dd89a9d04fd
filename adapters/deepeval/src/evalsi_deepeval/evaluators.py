"""Evaluators from rows: a class each, whose constructor has the row's params as its signature.

Importing it imports no framework, so that `hello`, `describe` and the manifest are quick.
"""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, Signature
from typing import Any

from evalsi import Context, Output, Record, Score, evaluator
from evalsi_deepeval.metrics import Metric
from evalsi_deepeval.params import REQUIRED


def evaluator_of(metric: Metric) -> type:
    """The evaluator of one row."""

    def opened(self: Any, **params: Any) -> None:
        # DeepEval takes about a second to import; whoever only asks what there is does not wait for it.
        from evalsi_deepeval.stand_ins import put_in_place

        put_in_place()
        from evalsi_deepeval.measuring import Measuring

        self._measuring = Measuring(metric, _filled(metric, params))

    async def score(self: Any, record: Record, ctx: Context) -> list[Score]:
        scores: list[Score] = await self._measuring.scores(record, ctx)
        return scores

    opened.__signature__ = _signature(metric)  # type: ignore[attr-defined] # What `inspect` reads.
    name = "".join(part.capitalize() for part in metric.name.split("-"))
    made = type(name, (), {"__init__": opened, "score": score, "__doc__": metric.summary})
    return evaluator(
        name=metric.name,
        version=metric.version,
        needs=metric.needs,
        asks=("judge",) if metric.asks else (),
        outputs=_outputs(metric),
    )(made)


def _signature(metric: Metric) -> Signature:
    own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
    settings = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=one.type) for one in metric.params
    ]
    return Signature([own, *settings])


def _filled(metric: Metric, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params with the defaults; a tuple, which no caller can change, is a list for DeepEval."""
    defaults = {one.name: one.default for one in metric.params if one.default is not REQUIRED}
    filled = {**defaults, **params}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in filled.items()}


def _outputs(metric: Metric) -> list[Output]:
    if metric.shape == "arena":
        return [Output(kind="label", higher_is_better=None)]
    main = Output(kind="pass") if metric.yes_no else Output(minimum=0.0, maximum=1.0)
    return [main, Output(f"{metric.name}-passed", kind="pass")]
