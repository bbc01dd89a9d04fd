"""The report as text and Markdown: what is undefined is called so, and nothing of the data can break a line."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_calibration.agreement import agreement_of
from evalsi_calibration.pairs import Pair
from evalsi_calibration.record import Calibrated, record_of
from evalsi_calibration.scale import Scale
from evalsi_calibration.text_report import MAX_DISAGREEMENTS, markdown_report, text_report
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.results.grid import Grid, markdown_grid, text_grid
from tests.calibration.asking import LABEL, NUMBER, PASS, instance, paired

MANIFEST = {"evalsi_version": "0", "finished_at": "2026-01-02T03:04:05.678+00:00", "status": "complete", "judge": None}


def calibrated(one: Instance, written: list[Any], scores: list[Any], **settings: Any) -> Calibrated:
    """A calibration of these labels and scores."""
    comparison, found = paired(one, written, scores, **settings)
    return Calibrated(
        manifest=MANIFEST,
        instance=one,
        comparison=comparison,
        label="human",
        data="labelled.jsonl",
        sha256=None,
        records=len(written) + 2,
        labelled=len(written),
        paired=found,
        agreement=agreement_of(found.pairs, comparison, 0.9),
        level=0.9,
    )


def cells(report: str) -> list[str]:
    return [" ".join(line.split()) for line in report.splitlines()]


def test_the_report_of_steps_has_both_kappas_the_matrix_and_the_bias_of_each_score() -> None:
    found = cells(
        text_report(calibrated(instance(NUMBER), [1, 1, 3, 3, 2], [0, 0.5, 1, 1, 0.5], label_scale=Scale(1, 3)))
    )
    assert found[0] == "grader against human · 7 records: 5 compared, 2 without a label"
    assert found[2] == "figure value 90% CI records meaning"
    assert [line.partition(" 0.")[0] for line in found[3:7]] == [
        "agreement",
        "kappa",
        "quadratic kappa",
        "rank correlation",
    ]
    assert "people \\ grader 1 2 3" in found
    assert "people say records grader - people, 0 to 1 90% CI" in found
    assert "1 2 +0.250 [-1.000, 1.000]" in found
    assert "2 1 +0.000 -" in found
    assert found[-1] == "1 1 2" or found[-1].startswith("2 1 2")


def test_what_is_undefined_is_called_so() -> None:
    found = cells(text_report(calibrated(instance(PASS), [True, False], [True])))
    assert "kappa undefined - - agreement beyond chance" in found
    assert "false positives undefined - 0 of 0 it passes, of what people fail" in found
    assert "Kappa is undefined: people and the evaluator say nothing but pass." in found


def test_only_the_worst_disagreements_are_shown_and_all_are_in_the_record() -> None:
    many = calibrated(instance(PASS), [True, False] * 12, [False] * 24)
    lines = text_report(many).splitlines()
    assert "12 disagreements; the worst 10:" in lines
    assert len(lines) - lines.index("12 disagreements; the worst 10:") - 3 == MAX_DISAGREEMENTS
    assert len(record_of(many)["disagreements"]) == 12


def test_a_matrix_of_many_labels_is_in_the_record_only() -> None:
    labels = [f"label{number}" for number in range(14)]
    many = calibrated(instance(LABEL), list(labels), list(labels))
    assert "label7" not in text_report(many)
    assert len(record_of(many)["confusion"]["categories"]) == 14


def test_full_agreement_lists_nothing() -> None:
    assert "disagreement" not in text_report(calibrated(instance(PASS), [True, False], [True, False]))


@pytest.mark.parametrize("make", [text_report, markdown_report])
def test_what_data_and_judges_write_breaks_no_line(make: Any) -> None:
    one = calibrated(instance(PASS), [True, False], [True, True])
    said = one.agreement.disagreements[0]
    hostile = Pair("r\x1b[31m|", said.human, said.judge, "first\nsecond | *bold* " + "x" * 500)
    lines = make(one._replace(agreement=one.agreement._replace(disagreements=(hostile,)))).splitlines()
    assert "\x1b" not in "".join(lines)
    assert "first second" in lines[-1]
    assert "…" in lines[-1]
    assert len(lines[-1]) < 200
    if make is markdown_report:
        assert "\\| \\*bold\\*" in lines[-1]


def test_a_partial_run_is_called_partial() -> None:
    one = calibrated(instance(PASS), [True, False], [True, True])
    assert text_report(one._replace(manifest={**MANIFEST, "status": "partial"})).splitlines()[0].endswith(" · partial")


def test_columns_stand_under_one_another_also_with_wide_characters() -> None:
    grid = Grid(("名", "n"), [("a", "1"), ("東京", "10")], right=(1,))
    assert text_grid(grid).splitlines() == ["名     n", "a      1", "東京  10"]
    assert markdown_grid(grid).splitlines() == ["| 名 | n |", "| --- | ---: |", "| a | 1 |", "| 東京 | 10 |"]
