"""Owns how labels and scores are compared: as pass and fail, as steps of a scale, as numbers, or as labels.

It is settled from what the evaluator declares and what people wrote, before anything is scored. It must not know
results.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from evalsi_kernel.errors import ConfigError, DatasetError, EvalsiError, UsageError
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import OutputInfo

from .labels import FAIL, PASS, Label, LabelKind, as_number, as_pass, as_text, as_written, kinds_of
from .scale import MAX_STEPS, Scale
from .two_outputs import VERDICTS, compares_two

Kind = Literal["pass", "steps", "numbers", "labels"]
MAX_CATEGORIES = MAX_STEPS + 1
_WHAT = {"pass": "passes or fails", "number": "gives a number", "label": "gives a label"}


class Comparison(NamedTuple):
    """How the two are compared.

    Args:
        kind: as what.
        metric: the evaluator's metric that is compared.
        output: what it declares of that metric.
        threshold: a number passes from here on, in the evaluator's own units (up to here, where lower is better); None
            where it says itself what passes, and where nothing passes or fails.
        label_scale: the scale of people's numbers; None where they give none.
        judge_scale: the scale of the evaluator's numbers; None where it gives none, or declares none.
        number_metric: the evaluator's number beside a pass or fail, by which disagreements are put in order; None
            where there is none.
        categories: of people and of the evaluator, in order; of labels those that people use; none for numbers.
    """

    kind: Kind
    metric: str
    output: OutputInfo
    threshold: float | None = None
    label_scale: Scale | None = None
    judge_scale: Scale | None = None
    number_metric: str | None = None
    categories: tuple[str, ...] = ()


def comparison_of(
    instance: Instance, labels: Sequence[Label], *, threshold: float | None = None, label_scale: Scale | None = None
) -> Comparison:
    """Settle how an evaluator is compared with labels.

    Args:
        instance: the evaluator as it will run.
        labels: at least one.
        threshold: from which number on it passes.
        label_scale: which scale people's numbers are on.

    Raises:
        ConfigError: the evaluator scores no single record, or what it gives cannot be compared with such labels.
        UsageError: a threshold or a scale is missing, is of no use, or lies outside of the evaluator's range.
        DatasetError: the labels are of mixed kinds, all the same, too many, or outside of their scale.
    """
    name, outputs = instance.name, _given_outputs(instance)
    if instance.info.scope != "record":
        raise ConfigError(f"{name} gives one score for all records.", "Calibrate one that scores each record.")
    kinds = kinds_of(labels)
    if label_scale is not None and "number" not in kinds:
        raise UsageError(f"--label-scale is for numbers, and the labels are {_told(labels)}.", "Leave it out.")
    kind = _kind(kinds, outputs, cuts=threshold is not None, is_scaled=label_scale is not None)
    if kind is None:
        raise _misfit(instance, kinds, labels, outputs)
    _check_differ(labels, kind)
    if kind == "text":
        if threshold is not None:
            raise UsageError(f"--threshold cuts a number, and the labels are {_told(labels)}.", "Leave it out.")
        return _of_labels(instance, labels, _first(outputs, "label"))
    number = _first(outputs, "number")
    judge_scale = _scale_of(number)
    if threshold is not None:
        if outputs and number is None:
            raise UsageError(f"--threshold cuts a number, and {name} declares none.", "Leave it out.")
        _check_threshold(name, threshold, judge_scale)
    if kind == "number":
        return _of_numbers(
            instance, labels, number, threshold=threshold, label_scale=label_scale, judge_scale=judge_scale
        )
    output = number if threshold is not None else _first(outputs, "pass")
    beside = number if number is not None and number is not output and judge_scale is not None else None
    return Comparison(
        "pass",
        _metric(instance, output),
        output or OutputInfo(kind="pass" if threshold is None else "number"),
        threshold=threshold,
        judge_scale=judge_scale,
        number_metric=None if beside is None else instance.metric(beside.name),
        categories=(PASS, FAIL),
    )


def _given_outputs(instance: Instance) -> tuple[OutputInfo, ...]:
    """What the evaluator declares, without the pass or fail that only a param called threshold brings, when unset."""
    outputs = instance.info.outputs
    if not _takes_threshold(instance) or instance.params.get("threshold") is not None:
        return outputs
    return tuple(output for output in outputs if not output.name or output.kind != "pass")


def _takes_threshold(instance: Instance) -> bool:
    return "threshold" in instance.info.params.get("properties", {})


def _kind(
    kinds: Sequence[LabelKind], outputs: Sequence[OutputInfo], *, cuts: bool, is_scaled: bool
) -> LabelKind | None:
    """As what the labels are read; an evaluator that declares nothing is taken to give what people do."""
    gives = {output.kind for output in outputs} or {"pass", "number", "label"}
    if is_scaled:
        return "number" if "number" in gives else None
    if "pass" in kinds and ("pass" in gives or cuts):
        return "pass"
    if "text" in kinds and "label" in gives:
        return "text"
    return "number" if "number" in kinds and "pass" not in kinds and "number" in gives else None


def _of_labels(instance: Instance, labels: Sequence[Label], output: OutputInfo | None) -> Comparison:
    texts = [as_text(label.written) or "" for label in labels]
    categories = tuple(sorted(set(texts)))
    if compares_two(instance):
        strange = next((place for place, text in enumerate(texts) if text not in VERDICTS), None)
        if strange is not None:
            raise DatasetError(
                f"{labels[strange].place}: the label is {texts[strange]!r}, and {instance.name} gives "
                f"{', '.join(VERDICTS)} of the output.",
                f"Label with {', '.join(VERDICTS)}.",
            )
        categories = VERDICTS
    if len(categories) > MAX_CATEGORIES:
        raise DatasetError(
            f"The labels are {len(categories):,} different texts.", "Name the column of the labels with --label."
        )
    return Comparison("labels", _metric(instance, output), output or OutputInfo(kind="label"), categories=categories)


def _of_numbers(
    instance: Instance,
    labels: Sequence[Label],
    output: OutputInfo | None,
    *,
    threshold: float | None,
    label_scale: Scale | None,
    judge_scale: Scale | None,
) -> Comparison:
    scale = label_scale or judge_scale
    if scale is None:
        raise UsageError(
            f"{instance.name} declares no range, and the labels are numbers ({_told(labels)}).",
            "Say which scale they are on, such as --label-scale 1-5.",
        )
    values = [as_number(label.written) or 0.0 for label in labels]
    outside = next((place for place, value in enumerate(values) if not scale.holds(value)), None)
    if outside is not None:
        raise DatasetError(
            f"{labels[outside].place}: the label {values[outside]:g} lies outside of {scale}.",
            "Correct the label, or name its scale with --label-scale."
            if label_scale
            else f"{instance.name} gives {scale}. If people used another scale, name it, such as --label-scale 1-5.",
        )
    steps = scale.steps if all(value.is_integer() for value in values) else None
    categories: tuple[str, ...] = (PASS, FAIL) if threshold is not None else tuple(map(str, steps or ()))
    return Comparison(
        "numbers" if threshold is not None or steps is None else "steps",
        _metric(instance, output),
        output or OutputInfo(kind="number"),
        threshold,
        scale,
        # An evaluator that declares no range is taken to use people's scale; a score beyond it will be refused.
        judge_scale or scale,
        categories=categories,
    )


def _metric(instance: Instance, output: OutputInfo | None) -> str:
    return instance.metric("" if output is None else output.name)


def _first(outputs: Sequence[OutputInfo], kind: str) -> OutputInfo | None:
    return next((output for output in outputs if output.kind == kind), None)


def _scale_of(output: OutputInfo | None) -> Scale | None:
    if output is None or output.minimum is None or output.maximum is None or output.minimum >= output.maximum:
        return None
    return Scale(output.minimum, output.maximum)


def _check_threshold(name: str, threshold: float, scale: Scale | None) -> None:
    if scale is not None and not scale.holds(threshold):
        raise UsageError(f"--threshold is {threshold:g}, and {name} gives {scale}.", "Choose one of that range.")


def _check_differ(labels: Sequence[Label], kind: LabelKind) -> None:
    read = {"pass": as_pass, "number": as_number, "text": as_text}[kind]
    seen = {read(label.written) for label in labels}
    if len(seen) == 1:
        only = seen.pop()
        shown = {True: PASS, False: FAIL}.get(only) if isinstance(only, bool) else only
        raise DatasetError(
            f"All {len(labels):,} labels are {shown}, so that nothing tells agreement from chance.",
            "Label records of another kind too.",
        )


def _misfit(
    instance: Instance, kinds: Sequence[LabelKind], labels: Sequence[Label], outputs: Sequence[OutputInfo]
) -> EvalsiError:
    name, gives = instance.name, {output.kind for output in outputs}
    message = f"{name} {_WHAT[outputs[0].kind]}, and the labels are {_told(labels)}."
    if "pass" in kinds and "number" in gives:
        scale = _scale_of(_first(outputs, "number"))
        middle = 0.5 if scale is None else scale.value(0.5)
        own = f", or --param {name}.threshold={middle:g}" if _takes_threshold(instance) else ""
        numbers = " For labels that are numbers, name their scale: --label-scale 0-1." if "number" in kinds else ""
        return UsageError(message, f"Say from where on it passes: --threshold {middle:g}{own}.{numbers}")
    wanted = {"pass": "pass or fail", "number": "numbers", "label": "texts, one of those that it gives"}
    return ConfigError(message, f"Label with {' or '.join(wanted[output.kind] for output in outputs)}.")


def _told(labels: Sequence[Label]) -> str:
    """The first few different labels."""
    different = list(dict.fromkeys(as_written(label.written) for label in labels))
    return ", ".join(different[:3]) + (", …" if len(different) > 3 else "")
