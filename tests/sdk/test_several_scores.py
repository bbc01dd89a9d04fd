"""E8: a NaN among several scores affects only its own metric."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import evalsi
from evalsi import Record, Score, evaluator
from evalsi.testing import score

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/results.schema.json").read_text(encoding="utf-8"))


@evaluator
def several(output: str) -> list[Score]:
    """Two scores, the second of which is NaN for the output "odd"."""
    return [Score(name="a", value=1.0), Score(name="b", value=math.nan if output == "odd" else 0.5)]


@evaluator(name="several-async")
async def several_async(output: str) -> list[Score]:
    """The same, awaited."""
    return several(output)


@evaluator(name="whole", scope="dataset")
class Whole:
    """Two scores of the whole, the second of which is NaN."""

    def observe(self, output: str) -> list[float]:
        return [len(output)]

    def aggregate(self, states: list[Any]) -> list[Score]:
        return [Score(name="c", value=sum(one[0] for one in states) / len(states)), Score(name="d", value=math.inf)]


@pytest.mark.parametrize("target", [several, several_async])
def test_e8_a_finite_score_stands_beside_one_that_is_nan(target: Any) -> None:
    found = score(target, Record(output="odd"))
    assert found.kind == "scored"
    assert found["a"].value == 1.0
    assert found["b"].value is None
    assert "not a finite number" in (found["b"].error or "")


@pytest.mark.parametrize("target", [several, several_async])
def test_e8_through_evaluate_and_the_results_file(target: Any, tmp_path: Path) -> None:
    rows = [{"id": "1", "output": "x"}, {"id": "2", "output": "odd"}, {"id": "3", "output": "y"}]
    path = tmp_path / "results.json"
    result = evalsi.evaluate(rows, [target], output=path, quiet=True)
    a, b = result["a"], result["b"]
    assert (a.n, a.mean, a.errors) == (3, 1.0, 0)
    assert (b.n, b.mean, b.errors) == (2, 0.5, 1)
    written = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(written, SCHEMA)
    odd = written["results"][1]
    assert [one["name"] for one in odd["scores"]] == ["a"]
    (error,) = odd["score_errors"]
    assert (error["name"], error["code"]) == ("b", "pack.bad_score")
    assert any("b failed on 1 of 3 records" in finding for finding in result.findings)
    outcomes = result.to_pandas().set_index(["record_id", "metric"])["outcome"]
    assert outcomes["2", "b"] == "error"
    assert outcomes["2", "a"] == "scored"


def test_e8_a_score_of_the_whole_stands_beside_one_that_is_not_finite() -> None:
    result = evalsi.evaluate([{"output": "x" * length} for length in (1, 3)], [Whole], quiet=True)
    c, d = result["c"], result["d"]
    assert (c.mean, c.errors, c.ci is not None) == (2.0, 0, True)
    assert (d.mean, d.errors) == (None, 2)


def test_e8_where_all_scores_are_nan_the_record_is_an_error() -> None:
    @evaluator(name="all-nan")
    def all_nan(record: Record) -> list[Score]:
        return [Score(name="a", value=math.nan), Score(name="b", value=math.nan)]

    found = score(all_nan, Record(output="x"))
    assert found.error is not None
    assert found.error.code == "pack.bad_score"
