"""What a run's notes say of errors: those of the target once, and then those that evaluators made themselves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.running import Done
from tests.providers import Provider, Request, faults
from tests.runs.running import model_of, records, run, write_spec

EVALUATORS = [{"ref": "exact-match"}, {"ref": "contains"}, {"ref": "numeric-match"}]
REFUSED = "the vendor refused"


def told(folder: Path, fails: Callable[[int], bool], rows: list[dict[str, Any]], *words: str, **spec: Any) -> Done:
    """A run whose vendor refuses some questions by their number, and answers the others with Lisbon."""

    def answer(request: Request) -> str | faults.Fault:
        number = int(request.prompt.partition("Question ")[2].partition("?")[0])
        return faults.bad_request(REFUSED) if fails(number) else "Lisbon"

    with Provider(answer) as vendor:
        write_spec(folder, model_of(vendor), rows, **{"evaluators": EVALUATORS, **spec})
        return run(folder, *words)


def notes(done: Done) -> list[str]:
    """The notes and errors of a run that tell of failures."""
    return [line for line in done.err.splitlines() if " failed on " in line or "scored no record" in line]


# Each evaluator repeated the target's error, and one that failed by itself was hidden behind it.
def test_an_error_of_the_target_is_told_once_and_an_evaluators_own_beside_it(tmp_path: Path) -> None:
    rows = records(12)
    for row in rows[8:10]:
        row["answer"] = ""  # Which `contains` cannot look for.
    found = notes(told(tmp_path, lambda number: number < 5, rows))
    assert [line.partition(": ")[2].partition(": ")[0] for line in found] == [
        "The target failed on 5 of 12 records",
        "contains failed on 2 of the 7 records that the target answered",
    ]
    assert [REFUSED in line for line in found] == [True, False]


def test_a_target_that_never_answers_is_one_error(tmp_path: Path) -> None:
    done = told(tmp_path, lambda _: True, records(4))
    (line,) = notes(done)
    assert line.startswith("error: The target failed on every record: ")
    assert done.code == 1


def test_an_evaluator_that_skipped_all_answers_is_a_problem_that_does_not_speak_of_the_target(tmp_path: Path) -> None:
    done = told(tmp_path, lambda number: number < 5, records(12))
    said = "error: numeric-match skipped every record that the target answered: reference has no number."
    assert said in done.err.splitlines()
    assert done.code == 1


def test_an_evaluator_without_any_score_tells_its_own_errors_and_skips(tmp_path: Path) -> None:
    rows = [{**row, "answer": ""} for row in records(6)]
    found = notes(told(tmp_path, lambda number: number < 2, rows, evaluators=[{"ref": "contains"}]))
    assert found[1].startswith("note: The target failed on 2 of 6 records: ")
    assert found[0].startswith("error: contains failed on every record that the target answered: contains raised")


def test_trials_are_told_apart(tmp_path: Path) -> None:
    found = notes(told(tmp_path, lambda number: number < 2, records(4), trials=3, evaluators=EVALUATORS[:1]))
    (line,) = found
    assert line.startswith("note: The target failed on 6 of 12 records: ")


def test_the_json_of_a_run_has_the_same_findings(tmp_path: Path) -> None:
    done = told(tmp_path, lambda number: number == 0, records(4), "--format", "json", evaluators=EVALUATORS[:2])
    (finding,) = json.loads(done.out)["findings"]
    assert finding["severity"] == "notice"
    assert finding["message"].startswith("The target failed on 1 of 4 records: ")


def test_errors_of_evaluators_alone_are_told_as_ever(tmp_path: Path) -> None:
    rows = records(6)
    rows[2]["answer"] = ""
    (line,) = notes(told(tmp_path, lambda _: False, rows, evaluators=EVALUATORS[:2]))
    assert line.startswith("note: contains failed on 1 of 6 records: contains raised ValueError: ")
