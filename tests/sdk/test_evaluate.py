"""Test `evalsi.evaluate` with names and functions, and its result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import evalsi
from evalsi import Record, Score, evaluator
from evalsi_kernel.errors import EvalsiError

QA = Path(__file__).parents[2] / "examples" / "quickstart" / "qa.jsonl"


@evaluator(name="acme/kind", version=3)
def kind(record: Record, *, word: str = "the") -> Score:
    """Holds a word."""
    return Score(passed=word in record.output.as_text().lower())


def words(record: Record) -> int:
    return len(record.output.as_text().split())


def test_a_name_of_the_catalog_a_decorated_function_and_a_plain_one_are_scored_together() -> None:
    result = evalsi.evaluate(QA, ["exact-match", kind, words], quiet=True)
    assert result.status == "complete"
    assert [one.metric for one in result.summaries] == ["exact-match", "acme/kind", "words"]
    assert result["acme/kind"].mean == pytest.approx(1 / 6)
    assert result["words"].mean == pytest.approx(22 / 6)


def test_a_function_that_returns_passed_is_a_pass_with_wilsons_interval() -> None:
    summary = evalsi.evaluate(QA, [kind], quiet=True)["acme/kind"]
    assert summary.kind == "pass"
    assert summary.ci is not None
    assert summary.ci.method == "wilson"


def test_one_function_can_run_twice_under_two_names_with_other_params() -> None:
    spec = {"ref": kind, "name": "ocean", "params": {"word": "ocean"}}
    result = evalsi.evaluate(QA, [kind, spec], quiet=True)
    assert [one.metric for one in result.summaries] == ["acme/kind", "ocean"]
    passed = [one["record_id"] for one in result.results if one["evaluator"] == "ocean" and one["scores"][0]["passed"]]
    assert passed == ["ocean-between"]


def test_rows_may_be_dicts_or_records_and_are_mapped_as_a_file_is() -> None:
    rows: list[dict[str, Any] | Record] = [
        {"answer": "a b"},
        Record(output="never reached", metadata={"answer": "a b c"}),
    ]
    result = evalsi.evaluate(rows, [words], mapping={"output": "answer"}, quiet=True)
    assert (result["words"].n, result["words"].skipped) == (1, 1)


def test_the_table_is_the_one_that_the_command_prints() -> None:
    lines = evalsi.evaluate(QA, ["exact-match", "numeric-match"], quiet=True).table().splitlines()
    assert lines[0] == "6 records · 2 evaluators"
    assert lines[3] == "exact-match    6  0.333  [0.097, 0.700]        0       0"


def test_results_are_saved_over_results_only(tmp_path: Path) -> None:
    result = evalsi.evaluate(QA, ["exact-match"], quiet=True)
    script = tmp_path / "script.py"
    script.write_text("print('mine')\n")
    with pytest.raises(EvalsiError, match="exists and is not a results file"):
        result.save(script)
    assert script.read_text() == "print('mine')\n"
    for _ in range(2):
        result.save(tmp_path / "results.json")


def test_what_is_saved_is_what_the_result_holds(tmp_path: Path) -> None:
    result = evalsi.evaluate(QA, ["exact-match", kind], quiet=True)
    result.save(tmp_path / "results.json")
    saved = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert saved["results"] == result.results
    assert saved["records"] == result.records
    assert saved["manifest"] == result.manifest
    assert saved["summaries"] == [one.to_dict() for one in result.summaries]
    assert "core/exact-match" in {one["evaluator_ref"].rpartition("@")[0] for one in saved["results"]}


def test_a_metric_that_is_not_there_is_an_error_that_names_those_that_are() -> None:
    with pytest.raises(KeyError, match="words"):
        evalsi.evaluate(QA, [words], quiet=True)["word"]


def test_what_should_be_known_besides_the_numbers_is_a_finding() -> None:
    result = evalsi.evaluate(QA, ["exact-match", "cost"], quiet=True)
    [finding] = result.findings
    assert finding.startswith("cost skipped every record: record has no usage.cost_usd.")


def test_what_is_missing_in_a_table_is_a_field_that_a_record_lacks_and_never_text() -> None:
    table = pd.DataFrame(
        {
            "output": ["yes", None, float("nan"), pd.NA],
            "reference": ["yes", "no", "no", "no"],
            "usage": [{"latency_ms": 5}, None, None, None],
            "grade": [4.5, float("nan"), 2.0, 1.0],
        }
    )
    result = evalsi.evaluate(table, ["exact-match"], quiet=True)
    summary = result["exact-match"]
    assert (summary.n, summary.mean, summary.skipped) == (1, 1.0, 3)
    records = list(result.records)
    assert [record.get("output") for record in records] == ["yes", None, None, None]
    assert [record.get("metadata", {}).get("grade") for record in records] == [4.5, None, 2.0, 1.0]


def test_a_number_of_a_table_beyond_all_others_is_refused_as_everywhere() -> None:
    with pytest.raises(EvalsiError, match=r"row 1: output is inf"):
        evalsi.evaluate(pd.DataFrame({"output": [float("inf")]}), ["length"], quiet=True)


def test_a_function_that_passes_or_fails_is_better_where_it_passes() -> None:
    result = evalsi.evaluate(QA, [kind, words], quiet=True)
    assert [one.higher_is_better for one in result.summaries] == [True, None]


def test_pandas_gets_a_row_a_score_and_an_empty_value_for_what_is_none() -> None:
    table = evalsi.evaluate(QA, ["numeric-match"], quiet=True).to_pandas()
    assert len(table) == 6
    assert table["value"].dropna().tolist() == [1.0, 1.0, 0.0]
    assert set(table["outcome"]) == {"scored", "skipped"}


def test_builtin_is_a_name_for_the_packs_that_come_along() -> None:
    result = evalsi.evaluate(QA, ["builtin/latency", "builtin/json-valid"], quiet=True)
    assert (result["latency"].mean, result["json-valid"].mean) == (517.5, 0.0)
    found = {one["evaluator_ref"].rpartition("@")[0] for one in result.results}
    assert found == {"core/latency", "core/json-valid"}
