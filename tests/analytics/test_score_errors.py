"""E8: a metric that failed on a record is a row of its own for a question in SQL, as errors of whole records are."""

from __future__ import annotations

from pathlib import Path

import evalsi
from evalsi import Score
from tests.analytics.asking import ask


def several(output: str) -> list[Score]:
    return [Score(name="a", value=1.0), Score(name="b", value=float("nan") if output == "odd" else 0.5)]


def test_e8_a_metric_that_failed_is_an_error_in_the_table_of_scores(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    evalsi.evaluate([{"id": "1", "output": "x"}, {"id": "2", "output": "odd"}], [several], output=path, quiet=True)
    found = ask("SELECT record_id, metric, outcome, value FROM scores ORDER BY ALL", "--results", path)
    assert [tuple(row.values()) for row in found] == [
        ("1", "a", "scored", 1.0),
        ("1", "b", "scored", 0.5),
        ("2", "a", "scored", 1.0),
        ("2", "b", "error", None),
    ]
