"""Labels, evaluators and results as plain data, for tests that compare them."""

from __future__ import annotations

from typing import Any

from evalsi_calibration.comparison import Comparison, comparison_of
from evalsi_calibration.labels import Label
from evalsi_calibration.pairs import Paired, pair_up
from evalsi_calibration.scale import Scale
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo, OutputInfo

NUMBER = OutputInfo(kind="number", minimum=0.0, maximum=1.0, higher_is_better=True)
PASS = OutputInfo(kind="pass", higher_is_better=True)
LABEL = OutputInfo(kind="label")
THRESHOLD = {"properties": {"threshold": {"type": ["number", "null"]}}}


def labels(*written: Any) -> list[Label]:
    """Labels of the records "1", "2" and so on."""
    return [Label(str(number), value, f"labelled.jsonl, line {number}") for number, value in enumerate(written, 1)]


def instance(*outputs: OutputInfo, name: str = "grader", params: dict[str, Any] | None = None, **info: Any) -> Instance:
    """An evaluator that declares these outputs."""
    return Instance(1, name, EvaluatorInfo(name, "acme", "1", outputs=outputs, **info), params or {})


def result(number: int, *scores: dict[str, Any], name: str = "grader") -> dict[str, Any]:
    """A scored record, as results.json has it."""
    named = [{"name": name, **score} for score in scores]
    return {"record_id": str(number), "evaluator": name, "outcome": "scored", "trial": 1, "scores": named}


def paired(
    one: Instance,
    written: list[Any],
    scores: list[Any],
    *,
    threshold: float | None = None,
    label_scale: Scale | None = None,
) -> tuple[Comparison, Paired]:
    """Compare labels with numbers, truths or texts that the evaluator gives."""
    comparison = comparison_of(one, labels(*written), threshold=threshold, label_scale=label_scale)
    key = {"pass": "passed", "number": "value", "label": "label"}[comparison.output.kind]
    results = [result(number, {key: score}) for number, score in enumerate(scores, 1)]
    return comparison, pair_up(results, labels(*written), comparison)
