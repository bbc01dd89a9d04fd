"""Owns the pairs: what people and the evaluator say of one and the same record, brought into one form.

What was not scored becomes no pair: it is counted with its reason, and never as agreement. It must not know statistics.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError

from .comparison import Comparison
from .labels import FAIL, PASS, Label, as_number, as_pass, as_text
from .scale import Scale
from .two_outputs import POINTS

_KEYS = {"pass": "passed", "number": "value", "label": "label"}
_SAME = 1e-9


class Said(NamedTuple):
    """What one of the two says of a record.

    Args:
        category: the category that it belongs to; "" where numbers have none.
        place: where it stands from 0 to 1; None where it stands nowhere.
        shown: as a person reads it, on people's scale.
    """

    category: str
    place: float | None
    shown: str


class Pair(NamedTuple):
    """What both say of a record.

    Args:
        record_id: of the record.
        human: what people say.
        judge: what the evaluator says.
        explanation: why, as the evaluator says.
        metadata: of the evaluator's score.
    """

    record_id: str
    human: Said
    judge: Said
    explanation: str = ""
    metadata: Mapping[str, Any] = MappingProxyType({})

    @property
    def distance(self) -> float:
        """How far apart the two are, from 0 to 1."""
        if self.human.place is not None and self.judge.place is not None:
            return abs(self.human.place - self.judge.place)
        return float(self.human.category != self.judge.category)

    @property
    def agrees(self) -> bool:
        """Whether the two say the same: the same category, or the same number where there are none."""
        if self.human.category or self.judge.category:
            return self.human.category == self.judge.category
        return self.distance < _SAME


class Paired(NamedTuple):
    """The pairs, and what was left out.

    Args:
        pairs: in the order of the data.
        left_out: how many labelled records were skipped, ended in an error, or got no answer, by these words.
        reasons: how often which reason came, by outcome and reason, the commonest first.
        error: the first error, as it came over the wire; None where there was none.
        prompts: the hashes of the prompts that scores name, sorted.
    """

    pairs: tuple[Pair, ...]
    left_out: Mapping[str, int]
    reasons: Mapping[tuple[str, str], int]
    prompts: tuple[str, ...]
    error: Mapping[str, Any] | None = None


def pair_up(results: Iterable[Mapping[str, Any]], labels: Sequence[Label], comparison: Comparison) -> Paired:
    """Bring labels and results together.

    Args:
        results: of one evaluator, one a record, as results.json has them.
        labels: of the same records; a label without a result counts as cancelled.
        comparison: how the two are compared.

    Raises:
        ConfigError: the evaluator gives something else than it declares, or than people do.
    """
    by_id = {label.record_id: label for label in labels}
    pairs: list[Pair] = []
    left_out = Counter({"skipped": 0, "error": 0, "cancelled": len(by_id)})
    reasons: Counter[tuple[str, str]] = Counter()
    prompts: set[str] = set()
    error: Mapping[str, Any] | None = None
    for result in results:
        label = by_id[result["record_id"]]
        left_out["cancelled"] -= 1
        scores = {score["name"]: score for score in result.get("scores", ())}
        prompts.update(filter(None, map(_prompt, scores.values())))
        outcome, reason = result["outcome"], str(result.get("reason", ""))
        failed = {one["name"]: one for one in result.get("score_errors", ())}.get(comparison.metric)
        if failed is not None:
            outcome, reason = "error", str(failed["message"])
            error = error or failed
        elif outcome == "scored" and comparison.metric not in scores:
            outcome, reason = "skipped", f"it gave no {comparison.metric}"
        if outcome == "scored":
            pairs.append(_pair(label, scores, comparison))
        else:
            left_out[outcome] += 1
            reasons[outcome, reason] += 1
            error = error or result.get("error")
    return Paired(tuple(pairs), dict(left_out), dict(reasons.most_common()), tuple(sorted(prompts)), error)


def _pair(label: Label, scores: Mapping[str, Mapping[str, Any]], comparison: Comparison) -> Pair:
    score = scores[comparison.metric]
    beside = scores.get(comparison.number_metric or "", {})
    # The reason stands with the first score; a pass or fail that rests on it repeats the number only.
    first = next(iter(scores.values()))
    explanation = str(first.get("explanation") or score.get("explanation") or "")
    human = human_said(label, comparison)
    return Pair(label.record_id, human, judge_said(score, comparison, beside), explanation, score.get("metadata", {}))


def human_said(label: Label, comparison: Comparison) -> Said:
    """A label in the form in which it is compared."""
    if comparison.kind == "pass":
        passed = bool(as_pass(label.written))
        return Said(_word(passed), float(passed), _word(passed))
    if comparison.kind == "labels":
        text = as_text(label.written) or ""
        return Said(text, POINTS.get(text), text)
    assert comparison.label_scale is not None
    value = as_number(label.written) or 0.0
    place = comparison.label_scale.place(value)
    category = ""
    if comparison.kind == "steps":
        category = str(int(value))
    elif comparison.threshold is not None and comparison.judge_scale is not None:
        category = _word(_passes(comparison.judge_scale.value(place), comparison))
    return Said(category, place, f"{value:g}")


def judge_said(score: Mapping[str, Any], comparison: Comparison, beside: Mapping[str, Any] | None = None) -> Said:
    """A score in the form in which it is compared; `beside` is the number that goes with a pass or fail.

    Raises:
        ConfigError: the score is of another kind than was expected, or outside of people's scale.
    """
    verdict = score.get(_KEYS[comparison.output.kind])
    if verdict is None:
        gives = next((kind for kind, key in _KEYS.items() if score.get(key) is not None), "nothing")
        raise ConfigError(
            f"{comparison.metric} gives a {gives}, and the labels ask for a {comparison.output.kind}.",
            "Give --threshold for a number, or declare what the evaluator gives: outputs=[Output(…)].",
        )
    if comparison.output.kind == "pass":
        return Said(_word(verdict), _place((beside or {}).get("value"), comparison.judge_scale), _word(verdict))
    if comparison.output.kind == "label":
        return Said(verdict.strip(), POINTS.get(verdict.strip()), verdict.strip())
    return _number_said(float(verdict), comparison)


def _number_said(value: float, comparison: Comparison) -> Said:
    place = _place(value, comparison.judge_scale)
    if place is not None and not -_SAME <= place <= 1 + _SAME:
        raise ConfigError(
            f"{comparison.metric} gave {value:g}, and declares no range; the labels go from {comparison.label_scale}.",
            "Declare the range of what it gives: outputs=[Output(minimum=…, maximum=…)].",
        )
    scale = comparison.label_scale
    shown = f"{value:g}" if scale is None or place is None else f"{round(scale.value(place), 6):g}"
    category = ""
    if comparison.kind == "steps" and scale is not None and place is not None:
        category = str(scale.nearest_step(place))
    elif comparison.threshold is not None:
        category = _word(_passes(value, comparison))
        if comparison.kind == "pass":
            shown = f"{category} ({value:g})"
    return Said(category, place, shown)


def _passes(value: float, comparison: Comparison) -> bool:
    threshold = comparison.threshold
    assert threshold is not None
    # What two scales say of one and the same number differs in its last digit only.
    value = round(value, 12)
    return value <= threshold if comparison.output.higher_is_better is False else value >= threshold


def _place(value: float | None, scale: Scale | None) -> float | None:
    return None if value is None or scale is None else scale.place(value)


def _word(passed: bool) -> str:
    return PASS if passed else FAIL


def _prompt(score: Mapping[str, Any]) -> str | None:
    metadata = score.get("metadata")
    named = metadata.get("prompt_sha256") if isinstance(metadata, Mapping) else None
    return named if isinstance(named, str) else None
