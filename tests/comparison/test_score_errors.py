"""E8: compare counts a metric that failed on a record as an error of that record, and keeps its other metrics."""

from __future__ import annotations

from pathlib import Path

import evalsi
from evalsi import Score
from evalsi_comparison.results_lines import ResultsLines
from evalsi_comparison.side import Items, Side, State


def several(output: str) -> list[Score]:
    return [Score(name="a", value=1.0), Score(name="b", value=float("nan") if output == "odd" else 0.5)]


def test_e8_a_metric_that_failed_is_an_error_of_its_record_alone(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    rows = [{"id": "1", "output": "x"}, {"id": "2", "output": "odd"}, {"id": "3", "output": "y"}]
    evalsi.evaluate(rows, [several], output=path, quiet=True)
    side = Side(ResultsLines(path), Items())
    assert [*side.states_of("a", 3)] == [State.SCORED] * 3
    assert [*side.states_of("b", 3)] == [State.SCORED, State.ERROR, State.SCORED]
