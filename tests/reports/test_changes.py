"""What changed since a baseline: over the records that both have, each once, with the records that flipped by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evalsi_reports.changes import Changes
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.reports.comparer import COMPARER
from tests.reports.results_files import changed, evaluation, run, write

Change = Callable[[dict[str, Any]], None]


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., Changes]:
    """Compares a file with a change to it; the change makes the baseline."""

    def compare(whole: dict[str, Any], change: Change) -> Changes:
        now = write(tmp_path / "now.json", whole)
        before = write(tmp_path / "main.json", changed(whole, change))
        found = read_report(now, redaction=Redaction(), baseline=before, compare=COMPARER).changes
        assert found is not None
        return found

    return compare


def passing(ids: set[str], passed: bool) -> Change:
    """Set a check of some records."""

    def change(whole: dict[str, Any]) -> None:
        for result in whole["results"]:
            if result["record_id"] in ids and result["evaluator"] == "exact-match":
                result["scores"][0]["passed"] = passed

    return change


def test_a_file_compared_with_itself_has_not_changed(compare: Callable[..., Changes]) -> None:
    found = compare(run(20), lambda whole: None)
    assert [(one.difference, one.direction, one.lost, one.won) for one in found.metrics] == [(0.0, "same", (), ())] * 3
    assert (found.new, found.gone, found.notes) == ((), (), ())


def test_records_that_flipped_are_named_on_their_side(compare: Callable[..., Changes]) -> None:
    found = compare(evaluation(40), passing({"ferry-0005", "ferry-0010"}, True))
    check = found.metrics[0]
    assert check.lost == ("ferry-0005", "ferry-0010")
    assert check.won == ()
    assert check.paired == 36
    assert check.difference == pytest.approx(-2 / 36)
    assert (check.direction, check.is_clear) == ("worse", False)


def test_many_flips_are_a_clear_change(compare: Callable[..., Changes]) -> None:
    ids = {f"ferry-{number:04d}" for number in range(5, 101, 5) if number % 11 != 3}
    check = compare(evaluation(100), passing(ids, True)).metrics[0]
    assert check.is_clear
    assert check.low is not None
    assert check.high is not None
    assert check.low < check.high < 0


# Student's t takes records of one cluster for independent ones, and called their change clear.
def test_records_in_clusters_change_by_their_clusters(compare: Callable[..., Changes]) -> None:
    ids = {f"ferry-{number:04d}" for number in range(5, 101, 5) if number % 11 != 3}
    whole = evaluation(100)
    whole["manifest"]["summary"]["cluster_by"] = "customer"
    for record in whole["records"]:
        record["metadata"]["customer"] = "one" if record["id"] in ids else "another"
    found = compare(whole, passing(ids, True))
    assert not found.metrics[0].is_clear
    assert len(found.metrics[0].lost) == len(ids)
    assert found.notes == ("Records are clustered by customer, as in both files.",)


def test_where_only_one_file_has_clusters_records_count_one_by_one_which_is_said(
    compare: Callable[..., Changes],
) -> None:
    def clustered(whole: dict[str, Any]) -> None:
        whole["manifest"]["summary"]["cluster_by"] = "customer"

    assert compare(evaluation(20), clustered).notes == (
        "Records count one by one here, and were clustered in the baseline by customer.",
    )


def test_what_cannot_be_judged_is_told_with_its_reason(compare: Callable[..., Changes]) -> None:
    whole = evaluation(20)
    whole["manifest"]["summary"]["cluster_by"] = "customer"
    found = compare(whole, lambda whole: None)
    assert [(one.is_clear, one.paired) for one in found.metrics] == [(False, 0)] * 3
    assert "has no text or number 'customer' in its metadata to cluster by." in found.notes[0]


def test_trials_of_a_record_count_as_one_pair(compare: Callable[..., Changes]) -> None:
    check = compare(run(40), passing({"ferry-0005"}, True)).metrics[0]
    assert check.paired == 36
    assert check.difference == pytest.approx(-1 / 36)


def test_where_lower_is_better_a_rise_is_worse(compare: Callable[..., Changes]) -> None:
    def fewer(whole: dict[str, Any]) -> None:
        for result in whole["results"]:
            for score in result.get("scores", ()):
                if score["name"] == "token-f1":
                    score["value"] -= 0.5

    whole = evaluation(30)
    whole["summaries"][1]["higher_is_better"] = False
    number = compare(whole, fewer).metrics[1]
    assert number.difference == pytest.approx(0.5)
    assert number.direction == "worse"
    assert len(number.lost) == number.paired
    assert number.won == ()


def test_what_makes_numbers_compare_less_than_they_seem_is_told(compare: Callable[..., Changes]) -> None:
    def other(whole: dict[str, Any]) -> None:
        whole["manifest"]["dataset"]["sha256"] = "00" * 32
        whole["records"][3]["reference"] = "another"
        for result in whole["results"]:
            result["evaluator_ref"] = result["evaluator_ref"].replace("token-f1@1", "token-f1@2")

    assert compare(run(20), other).notes == (
        "The data are not the same as the baseline's.",
        "token-f1 is text/token-f1@1 now, and was text/token-f1@2.",
    )


@pytest.mark.parametrize("redaction", [Redaction(), Redaction(inputs=True, outputs=True)])
def test_data_that_differ_in_answers_alone_are_the_same(tmp_path: Path, redaction: Redaction) -> None:
    def answered(whole: dict[str, Any]) -> None:
        whole["manifest"]["dataset"]["sha256"] = "00" * 32
        whole["manifest"]["trials"] = 1
        # The first trial of each record, with another answer, and the metadata that came with it.
        whole["records"] = [
            {**record, "output": "another", "metadata": {"model": "m"}}
            for record in whole["records"]
            if record["provenance"]["run"]["trial"] == 1
        ]

    def asked_otherwise(whole: dict[str, Any]) -> None:
        answered(whole)
        whole["records"][0]["input"] = {"json": [0.5]}

    now = write(tmp_path / "now.json", run(20))
    notes = []
    for change in (answered, asked_otherwise):
        before = write(tmp_path / "main.json", changed(run(20), change))
        found = read_report(now, redaction=redaction, baseline=before, compare=COMPARER).changes
        assert found is not None
        notes.append(found.notes)
    assert notes == [(), ("The data are not the same as the baseline's.",)]


def test_without_a_common_record_the_means_are_compared_without_an_interval(compare: Callable[..., Changes]) -> None:
    def renamed(whole: dict[str, Any]) -> None:
        for result in whole["results"]:
            result["record_id"] += "-old"
        for record in whole["records"]:
            record["id"] += "-old"

    found = compare(evaluation(20), renamed)
    assert "nothing can be paired" in found.notes[0]
    assert [(one.paired, one.low, one.difference) for one in found.metrics] == [(0, None, 0.0)] * 3


def test_metrics_of_one_side_alone_are_named(compare: Callable[..., Changes]) -> None:
    def without_judge(whole: dict[str, Any]) -> None:
        whole["summaries"].pop()
        whole["results"] = [one for one in whole["results"] if one["evaluator"] != "llm-judge"]

    found = compare(evaluation(20), without_judge)
    assert found.new == ("llm-judge",)
    assert len(found.metrics) == 2
