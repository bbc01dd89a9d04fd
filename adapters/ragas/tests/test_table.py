"""The table accounts for all that RAGAS exports, each row for its metric, the manifest for the table."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

# Before RAGAS itself, whose imports it readies.
from evalsi_ragas.scoring import _ADAPTED, metric_class  # isort: skip
import ragas.metrics
import ragas.metrics.collections

from evalsi.manifest import main
from evalsi_ragas.elsewhere import NO_METRIC, NOT_HERE, SAME_AS
from evalsi_ragas.row import ARGUMENTS, Row
from evalsi_ragas.table import ROWS

FOLDER = Path(__file__).parents[1]
NAMES = {row.name for row in ROWS}


def exported() -> set[str]:
    """The names of classes that RAGAS exports, the older ones with it; not their ready-made instances."""
    older: dict[str, Any] = ragas.metrics._DEPRECATED_METRICS
    names = {name for name, one in older.items() if inspect.isclass(one)}
    return names | set(ragas.metrics.__all__) | set(ragas.metrics.collections.__all__)


def test_everything_that_ragas_exports_is_accounted_for_once() -> None:
    rows = {row.metric.removeprefix(".") for row in ROWS}
    accounted = [*rows, *SAME_AS, *NOT_HERE, *NO_METRIC]
    assert len(accounted) == len(set(accounted))
    assert set(accounted) == exported()


def test_every_other_name_means_an_evaluator_and_everything_left_out_has_a_reason() -> None:
    assert set(SAME_AS.values()) <= NAMES
    assert all(reason.endswith(".") for reason in NOT_HERE.values())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_names_arguments_that_its_metric_has(row: Row) -> None:
    made = metric_class(row)
    constructor = inspect.signature(made).parameters
    assert set(row.fixed) <= set(constructor)
    if row.name not in _ADAPTED:
        assert {setting.name for setting in row.settings} <= set(constructor)
    if row.way == "metric":
        taken = inspect.signature(made.ascore).parameters
        required = {name for name, one in taken.items() if one.default is one.empty} - {"self", "kwargs"}
        assert {ARGUMENTS.get(name, name) for name in row.takes} >= required
        assert {ARGUMENTS.get(name, name) for name in (*row.takes, *row.may_take)} <= set(taken)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_default_is_that_of_ragas(row: Row) -> None:
    constructor = inspect.signature(metric_class(row)).parameters
    for setting in row.settings:
        if row.name not in _ADAPTED and setting.default is not inspect.Parameter.empty:
            default = constructor[setting.name].default
            assert setting.default == (None if default is None else default)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_asks_for_the_models_that_its_metric_has(row: Row) -> None:
    constructor = inspect.signature(metric_class(row)).parameters
    assert ("embed" in row.asks) == ("embeddings" in constructor)
    assert ("judge" in row.asks) == ("llm" in constructor or row.way == "prompt")


def test_the_metrics_that_swallow_failures_try_once_only() -> None:
    swallowing = {
        row.name
        for row in ROWS
        if "max_retries" in inspect.signature(metric_class(row)).parameters and not row.is_older
    }
    assert swallowing == {"answer-accuracy", "context-relevance", "response-groundedness"}
    assert {row.name for row in ROWS if row.fixed.get("max_retries") == 1} == swallowing


def test_less_is_better_for_noise_sensitivity_alone_and_rubrics_go_from_1_to_5() -> None:
    assert [row.name for row in ROWS if row.output.higher_is_better is False] == ["noise-sensitivity"]
    rubrics = [row.output for row in ROWS if "rubrics" in row.name]
    assert len(rubrics) == 3
    assert {(output.minimum, output.maximum) for output in rubrics} == {(1.0, 5.0)}


def test_the_manifest_is_what_the_code_says() -> None:
    assert main(["evalsi_ragas", "--check", str(FOLDER / "plugin.toml")]) == 0


def test_the_readme_tells_of_every_row_what_does_not_run_and_which_names_mean_the_same() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for row in ROWS:
        needs, asks = ", ".join(f"`{need}`" for need in row.needs), ", ".join(row.asks) or "–"
        assert f"| `{row.name}` | `{row.metric.removeprefix('.')}` | {needs} | {asks} | {row.summary} |" in readme
    for name, reason in NOT_HERE.items():
        assert f"| `{name}` | {reason} |" in readme
    for name, meant in SAME_AS.items():
        assert f"| `{name}` | `{meant}` |" in readme
    assert f"{len(ROWS)} evaluators" in readme
