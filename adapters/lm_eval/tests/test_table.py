"""The tables account for every metric and filter of the harness, and the manifest is what they say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from evalsi import manifest
from evalsi_lm_eval import EVALUATORS
from evalsi_lm_eval.filters import FILTERS
from evalsi_lm_eval.harness import harness
from evalsi_lm_eval.metrics import METRICS

FOLDER = Path(__file__).parents[1]
# It has its name in the harness' source and is imported by nothing there.
UNREGISTERED = {"decontaminate"}


def test_every_metric_of_the_harness_has_one_row() -> None:
    rows = [row.metric for row in METRICS]
    assert sorted(rows) == sorted(harness().metrics)


def test_every_filter_of_the_harness_has_one_row() -> None:
    rows = [row.name for row in FILTERS]
    assert sorted(rows) == sorted({*harness().filters, *UNREGISTERED})
    assert all(row.why_not for row in FILTERS if row.name in UNREGISTERED)


def test_directions_are_the_harness_own() -> None:
    for row in METRICS:
        if row.of:
            assert row.higher_is_better == harness().higher_is_better[row.metric], row.metric


def test_what_cannot_be_used_says_why_and_what_can_has_a_line_for_the_catalog() -> None:
    for row in METRICS:
        assert row.summary.endswith(".") == bool(row.of)
    assert len(EVALUATORS) == len([row for row in METRICS if row.of]) + 2


def test_the_manifest_is_what_the_code_says() -> None:
    assert manifest.main(["evalsi_lm_eval", "--check", str(FOLDER / "plugin.toml")]) == 0


def test_the_readme_names_every_metric_and_filter() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for row in METRICS:
        assert f"| `{row.metric}` | {f'`{row.evaluator}`' if row.of else '–'} |" in readme
    for one in FILTERS:
        assert f"| `{one.name}` | {one.takes or one.why_not or '–'} |" in readme


def test_the_harness_is_not_loaded_before_an_evaluator_is_opened() -> None:
    code = "import sys, evalsi_lm_eval; print('lm_eval' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]
