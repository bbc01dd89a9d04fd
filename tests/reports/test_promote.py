"""`evalsi promote`: what a run got wrong becomes a dataset, each record once, and nothing that was there is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Done, evalsi
from tests.comparison.replayed import CAPITALS, replayed_spec
from tests.comparison.results_files import SKIPPED, verdicts, write_results

FAILED = 'scores["exact-match"] < 1'


def promote(folder: Path, run: str, when: str, *words: str, dataset: str = "regressions") -> Done:
    return evalsi("promote", run, "--dataset", dataset, "--when", when, *words, cwd=folder)


def rows(folder: Path, name: str = "regressions.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]


def ran(folder: Path, **answers: str) -> None:
    """A run of `capitals` whose target gives these answers, and the right ones else."""
    spec = replayed_spec(folder, {**CAPITALS, **answers}, least=0, trials=1)
    done = evalsi("run", "-f", spec, "--quiet", cwd=folder)
    assert done.code == 0, done.err


def test_every_record_that_a_run_failed_is_added_to_a_dataset_that_a_run_can_use(tmp_path: Path) -> None:
    ran(tmp_path, Kenya="Mombasa", Peru="Cuzco")
    done = promote(tmp_path, "capitals-1", FAILED)
    assert (done.code, done.err) == (0, "")
    assert done.out == "regressions.jsonl: 2 records of capitals-1 added, 0 there before.\n"
    assert rows(tmp_path) == [
        {
            "id": land,
            "input": f"What is the capital of {land}?",
            "reference": CAPITALS[land],
            "provenance": {"promoted": {"run": "capitals-1", "trial": 1}},
        }
        for land in ("Kenya", "Peru")
    ]
    spec = replayed_spec(tmp_path, CAPITALS, least=1, trials=1)
    spec.write_text(spec.read_text().replace("questions.jsonl", "regressions.jsonl").replace("capitals", "again"))
    assert "again-1: succeeded, all gates pass; 2 done" in evalsi("run", "-f", spec, "--quiet", cwd=tmp_path).out


def test_a_record_is_added_once_however_often_and_from_whichever_run(tmp_path: Path) -> None:
    ran(tmp_path, Kenya="Mombasa")
    ran(tmp_path, Kenya="Mombasa", Oman="Salalah")
    promote(tmp_path, "capitals-1", FAILED)
    before = (tmp_path / "regressions.jsonl").read_bytes()
    assert "0 records of capitals-1 added, 1 there before" in promote(tmp_path, "capitals-1", FAILED).out
    assert (tmp_path / "regressions.jsonl").read_bytes() == before
    assert "1 record of capitals-2 added, 1 there before" in promote(tmp_path, "capitals-2", FAILED).out
    assert (tmp_path / "regressions.jsonl").read_bytes().startswith(before)
    assert [row["id"] for row in rows(tmp_path)] == ["Kenya", "Oman"]


def test_two_records_of_one_id_both_stay_and_a_line_without_an_end_gets_one(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text('{"id": "Kenya", "input": "Where is Kenya?", "note": "by hand"}')
    ran(tmp_path, Kenya="Mombasa")
    for added in (1, 0):
        done = promote(tmp_path, "capitals-1", FAILED, dataset="mine.jsonl")
        assert f"mine.jsonl: {added} record" in done.out
    assert [(row["id"], row["input"]) for row in rows(tmp_path, "mine.jsonl")] == [
        ("Kenya", "Where is Kenya?"),
        ("Kenya@capitals-1", "What is the capital of Kenya?"),
    ]
    assert rows(tmp_path, "mine.jsonl")[0]["note"] == "by hand"


def test_what_was_not_scored_is_no_low_score_and_errors_can_be_asked_for(tmp_path: Path) -> None:
    results = write_results(
        tmp_path / "results.json", {"f1": {"r1": 0.2, "r2": None, "r3": SKIPPED, "r4": 0.9}, "exact": {"r2": True}}
    )
    done = promote(tmp_path, results.name, 'scores["f1"] < 0.5')
    assert [row["id"] for row in rows(tmp_path)] == ["r1"]
    assert done.err.startswith("note: the condition says nothing of 2 of 4 answers, which are left out: ")
    assert promote(tmp_path, results.name, 'scores["f1"] < 0.5', "--quiet").err == ""
    promote(tmp_path, results.name, "errored", dataset="errors")
    assert [row["id"] for row in rows(tmp_path, "errors.jsonl")] == ["r2"]


def test_one_trial_of_several_is_enough_and_the_first_one_is_kept(tmp_path: Path) -> None:
    results = write_results(
        tmp_path / "results.json",
        {"exact-match": verdicts(r1="ppf", r2="ppp", r3="fff")},
        metadata={"r1": {"topic": "geo"}, "r3": {"topic": "math"}},
    )
    assert promote(tmp_path, results.name, FAILED, "--include-outputs").code == 0
    found = [(row["id"], row["provenance"]["promoted"]["trial"], row["output"]) for row in rows(tmp_path)]
    assert found == [("r1", 3, "Answer r1."), ("r3", 1, "Answer r3.")]
    promote(tmp_path, results.name, 'record.metadata.topic == "geo" && trial == 2', dataset="geo")
    assert [row["id"] for row in rows(tmp_path, "geo.jsonl")] == ["r1"]


@pytest.mark.parametrize(
    ("run", "when", "code", "said"),
    [
        ("capitals-1", 'scores["exact"] < 1', 1, "capitals-1/results.json are: exact-match."),
        ("capitals-1", 'score["exact-match"] < 1', 1, 'Did you mean "scores"?'),
        ("capitals-1", "trial", 1, "neither true nor false"),
        ("capitals-7", FAILED, 1, "capitals-7 cannot be read"),
    ],
)
def test_what_cannot_be_chosen_by_is_an_error_and_nothing_is_written(
    tmp_path: Path, run: str, when: str, code: int, said: str
) -> None:
    ran(tmp_path, Kenya="Mombasa")
    done = promote(tmp_path, run, when)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert not (tmp_path / "regressions.jsonl").exists()


@pytest.mark.parametrize(
    ("content", "why"), [(b"{}\n[1]\n", "line 2 holds no object"), (b"{", "Expecting"), (b"\xff", "utf-8")]
)
def test_a_dataset_that_cannot_be_read_is_left_as_it_is(tmp_path: Path, content: bytes, why: str) -> None:
    ran(tmp_path, Kenya="Mombasa")
    (tmp_path / "regressions.jsonl").write_bytes(content)
    done = promote(tmp_path, "capitals-1", FAILED)
    assert (done.code, done.out) == (1, "")
    assert "regressions.jsonl is no dataset that can be added to" in done.err
    assert why in done.err
    assert (tmp_path / "regressions.jsonl").read_bytes() == content


def test_a_dataset_has_a_name_and_a_place(tmp_path: Path) -> None:
    results = write_results(tmp_path / "results.json", {"exact-match": {"r1": False}}).name
    unnamed = promote(tmp_path, results, FAILED, dataset="")
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "--dataset is ''" in unnamed.err
    assert "No such folder" in promote(tmp_path, results, FAILED, dataset="absent/regressions").err


def test_a_dataset_with_other_columns_is_told_before_anything_is_written(tmp_path: Path) -> None:
    """A spec maps its columns, and would find no input in what was added."""
    ran(tmp_path, Kenya="Mombasa")
    there = '{"id": "z", "question": "What is the capital of Peru?", "answer": "Lima"}\n'
    (tmp_path / "regressions.jsonl").write_text(there)
    done = promote(tmp_path, "capitals-1", FAILED)
    assert (done.code, done.out) == (1, "")
    assert "regressions.jsonl holds question and answer in place of input" in done.err
    assert (tmp_path / "regressions.jsonl").read_text() == there


@pytest.mark.parametrize(
    ("there", "is_told"),
    [
        ({"input": "?", "answer": "Lima"}, True),
        ({"input": "?", "reference": "Lima", "topic": "towns"}, False),
        ({"input": "?"}, False),
        ({"reference": "Lima"}, False),
    ],
)
def test_a_dataset_whose_references_may_have_another_name_gets_a_note(
    there: dict[str, str], is_told: bool, tmp_path: Path
) -> None:
    ran(tmp_path, Kenya="Mombasa")
    (tmp_path / "regressions.jsonl").write_text(json.dumps({"id": "z", **there}) + "\n")
    done = promote(tmp_path, "capitals-1", FAILED)
    assert done.code == 0
    assert ("note: nothing in regressions.jsonl had a reference before, but answer: " in done.err) is is_told
    assert len(rows(tmp_path)) == 2
    assert done.err == "" or is_told
