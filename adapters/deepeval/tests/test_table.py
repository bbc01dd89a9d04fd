"""The rows against DeepEval itself: none of its metrics is forgotten, and each row says of its class what is true."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import deepeval.metrics
import pytest
from adapters.deepeval.tests.material import PARAMS, RECORD, TALK
from adapters.deepeval.tests.scripted import judge

from evalsi import Record
from evalsi.definition import Definition, definition_of
from evalsi.manifest import evaluator_tables, with_tables
from evalsi.testing import Bench
from evalsi_deepeval import EVALUATORS
from evalsi_deepeval.conversation_metrics import LEFT_OUT, METRICS, NO_METRICS
from evalsi_deepeval.judge_model import JudgeModel
from evalsi_deepeval.metrics import Metric

FOLDER = Path(__file__).parents[1]
README = (FOLDER / "README.md").read_text("utf-8")
EACH = pytest.mark.parametrize("metric", METRICS, ids=[metric.name for metric in METRICS])
# What DeepEval calls a part of a test case, and the field of a record that it is made from.
FIELDS = {
    "input": "input",
    "actual_output": "output",
    "expected_output": "reference",
    "context": "context",
    "retrieval_context": "context",
    "tools_called": "trajectory",
    "expected_tools": "metadata.expected_tools",
    "mcp_servers": "metadata.mcp_servers",
    "expected_outcome": "reference",
}
# Arguments of DeepEval's classes that are no params here: the judge's, the run's, and how DeepEval itself behaves.
OURS = {
    "model",
    "name",
    "async_mode",
    "verbose_mode",
    "flaky",
    "evaluation_template",
    "eval_mode",
    "system_one_model",
    "top_logprobs",
    "template_class",
}


def made_by(metric: Metric) -> Definition:
    return definition_of(EVALUATORS[METRICS.index(metric)])


def test_every_metric_that_deepeval_exports_has_a_row_or_a_reason() -> None:
    rows = [metric.framework_class for metric in METRICS]
    assert len({*rows, *LEFT_OUT, *NO_METRICS}) == len(rows) + len(LEFT_OUT) + len(NO_METRICS)
    assert {*rows, *LEFT_OUT, *NO_METRICS} == set(deepeval.metrics.__all__)


def test_the_readme_has_a_row_for_each() -> None:
    rows = [
        f"| `{metric.name}` | `{metric.framework_class}` | {', '.join(f'`{need}`' for need in metric.needs)} "
        f"| {'' if metric.asks else 'no judge; '}{metric.summary} |"
        for metric in METRICS
    ]
    assert "\n".join(rows) in README, "\n".join(rows)


def test_the_readme_counts_them_and_gives_every_reason() -> None:
    assert f"{len(METRICS)} metrics" in README
    for left_out, reason in LEFT_OUT.items():
        assert f"`{left_out}`" in README
        assert reason in README


def test_the_manifest_is_what_the_rows_say() -> None:
    written = (FOLDER / "plugin.toml").read_text("utf-8")
    assert with_tables(written, evaluator_tables(map(definition_of, EVALUATORS))) == written


@EACH
def test_a_row_names_every_argument_of_its_class_or_the_class_has_it_for_itself(metric: Metric) -> None:
    signature = inspect.signature(getattr(deepeval.metrics, metric.framework_class).__init__)
    arguments = {name for name in signature.parameters if not name.startswith("_") and name != "self"}
    params = {setting.name for setting in metric.params}
    assert params - arguments <= {"chatbot_role", "other"}
    missing = arguments - params - OURS
    # Some take it and never look at it, as what they ask for has the reason in it, or as they score 0 or 1 alone.
    assert missing <= {"include_reason", "strict_mode"}


@EACH
def test_a_default_is_deepeval_s_own_but_for_the_threshold_and_the_criteria_of_g_eval(metric: Metric) -> None:
    signature = inspect.signature(getattr(deepeval.metrics, metric.framework_class).__init__)
    for setting in metric.params:
        if setting.name in signature.parameters and setting.name not in ("threshold", "evaluation_params", "role"):
            default = signature.parameters[setting.name].default
            own = metric.name == "g-eval" and setting.name == "criteria"
            assert (setting.default is not None and default is None) if own else setting.default == default, (
                setting.name
            )


@EACH
def test_a_row_needs_what_its_class_requires(metric: Metric) -> None:
    of = getattr(deepeval.metrics, metric.framework_class)
    required = getattr(of, "_required_test_case_params" if metric.shape == "conversation" else "_required_params", [])
    named = {FIELDS[one.value] for one in (required if isinstance(required, list) else []) if one.value in FIELDS}
    if metric.shape == "conversation":
        named -= {"context"}  # A message may have its own.
    if metric.name in ("exact-match", "pattern-match"):
        named -= {"input"}  # Required by DeepEval, and read by nothing.
    assert named <= set(metric.needs)


@EACH
def test_only_a_metric_that_waits_asks_without_awaiting(metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[str] = []
    generate = JudgeModel.generate

    def noted(model: JudgeModel, prompt: str, **more: Any) -> Any:
        waited.append(prompt)
        return generate(model, prompt, **more)

    monkeypatch.setattr(JudgeModel, "generate", noted)
    record = TALK if metric.shape == "conversation" else RECORD
    outcome = Bench(judge=judge).score(made_by(metric).target, record, **PARAMS.get(metric.name, {}))
    assert outcome.kind == "scored"
    assert bool(waited) is metric.waits


@EACH
def test_a_record_without_one_of_the_needs_is_skipped(metric: Metric) -> None:
    whole = TALK if metric.shape == "conversation" else RECORD
    for need in metric.needs:
        field, _, key = need.partition(".")
        wire = {name: value for name, value in whole.wire.items() if name != field}
        if key:
            wire[field] = {name: value for name, value in whole.metadata.items() if name != key}
        record = Record.from_wire(wire)
        outcome = Bench(judge=judge).score(made_by(metric).target, record, **PARAMS.get(metric.name, {}))
        assert outcome.kind == "skipped", need


@EACH
def test_a_metric_that_asks_no_judge_needs_none(metric: Metric) -> None:
    record: Any = TALK if metric.shape == "conversation" else RECORD
    outcome = Bench().score(made_by(metric).target, record, **PARAMS.get(metric.name, {}))
    assert outcome.kind == ("error" if metric.asks else "scored")
