"""The table accounts for every scorer of Inspect's, and the manifest is what it says."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import inspect_ai.scorer
import pytest
from inspect_ai.scorer import Scorer

from evalsi import ParamError, Record, manifest
from evalsi.definition import definition_of
from evalsi.testing import Bench
from evalsi_inspect import EVALUATORS
from evalsi_inspect.table import NOT_OFFERED, SCORERS, ScorerRow

FOLDER = Path(__file__).parents[1]
# Of Inspect's params those that a JSON value cannot be, or that name the models: the judge is the kernel's.
NO_PARAMS = {"model", "model_role", "reducer", "answer_fn"}


def exported() -> set[str]:
    """What `inspect_ai.scorer` exports that makes a scorer."""
    made = {name: getattr(inspect_ai.scorer, name) for name in inspect_ai.scorer.__all__}
    functions = {name: one for name, one in made.items() if inspect.isfunction(one)}
    return {name for name, one in functions.items() if inspect.signature(one).return_annotation in (Scorer, "Scorer")}


def test_every_scorer_of_inspect_has_a_row_or_a_reason() -> None:
    offered = {row.scorer for row in SCORERS}
    assert offered | NOT_OFFERED.keys() == exported()
    assert not offered & NOT_OFFERED.keys()
    assert all(NOT_OFFERED.values())


@pytest.mark.parametrize("row", SCORERS, ids=lambda row: row.name)
def test_every_param_is_one_of_the_scorer_with_its_default(row: ScorerRow) -> None:
    theirs = inspect.signature(getattr(inspect_ai.scorer, row.scorer)).parameters
    ours = {name: param.default for name, param in row.params.items() if name != "multiple_correct"}
    assert ours == {name: one.default for name, one in theirs.items() if name not in NO_PARAMS}


def test_the_manifest_is_what_the_code_says() -> None:
    assert manifest.main(["evalsi_inspect", "--check", str(FOLDER / "plugin.toml")]) == 0


def test_the_readme_names_every_scorer() -> None:
    readme = (FOLDER / "README.md").read_text("utf-8")
    for name in [*(row.name for row in SCORERS), *NOT_OFFERED]:
        assert f"`{name}`" in readme


def test_inspect_is_not_loaded_before_the_first_record() -> None:
    code = "import sys, evalsi_inspect; print('inspect_ai' in sys.modules, len(evalsi_inspect.EVALUATORS))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", str(len(SCORERS))]


BAD_PARAMS = [
    ("pattern", {"pattern": "("}, "is no regular expression"),
    ("model-graded-qa", {"grade_pattern": "["}, "is no regular expression"),
    ("model-graded-qa", {"grade_pattern": "GRADE: [CI]"}, "has 0 groups"),
    ("model-graded-fact", {"template": "/etc/hosts"}, "no {answer}"),
    ("model-graded-fact", {"template": "https://example.org/prompt.txt"}, "no {answer}"),
]


@pytest.mark.parametrize(("name", "params", "message"), BAD_PARAMS)
def test_a_value_that_no_schema_can_refuse_is_refused_at_the_start(
    name: str, params: dict[str, str], message: str
) -> None:
    (evaluator,) = [one for one in EVALUATORS if one.row.name == name]
    with pytest.raises(ParamError, match=message):
        Bench(judge=[]).score(evaluator, Record(input="?", output="x", reference="x"), **params)


def test_t3_scorers_that_say_right_or_wrong_are_declared_as_pass_or_fail() -> None:
    kinds = {one.row.name: [output.kind for output in definition_of(one).outputs] for one in EVALUATORS}
    yes_no = {"match", "includes", "pattern", "answer", "choice", "exact", "math"}
    assert {name for name, found in kinds.items() if found == ["pass"]} == yes_no
    assert kinds["f1"] == ["number"]
    # Pass or fail by default, a number where partial credit may be given.
    assert kinds["model-graded-qa"] == kinds["model-graded-fact"] == []


@pytest.mark.parametrize("name", ["model-graded-qa", "model-graded-fact"])
def test_t3_a_judge_without_partial_credit_says_pass_or_fail(name: str) -> None:
    (evaluator,) = [one for one in EVALUATORS if one.row.name == name]
    record = Record(input="?", output="x", reference="x")
    assert Bench(judge=["GRADE: C"]).score(evaluator, record).passed is True
    assert Bench(judge=["GRADE: I"]).score(evaluator, record).passed is False
    assert Bench(judge=["GRADE: P"]).score(evaluator, record, partial_credit=True).value == 0.5
    instructions = "Say GRADE: C, GRADE: P or GRADE: I."
    assert Bench(judge=["GRADE: P"]).score(evaluator, record, instructions=instructions).value == 0.5
    assert Bench(judge=["GRADE: P"]).score(evaluator, record).kind == "error"
