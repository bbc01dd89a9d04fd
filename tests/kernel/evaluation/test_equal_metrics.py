"""C5, T8: metrics of one name appear under full names, each once, in the table, the results file, gates and compare."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import evalsi
from evalsi import Output, Record, Score, evaluator
from tests.cli.running import evalsi as command
from tests.cli.running import write_jsonl

ROWS = [{"id": f"r{number}", "output": "x" * number, "reference": "x"} for number in range(1, 5)]
STRICT = "from evalsi import Score\ndef same(output: str) -> bool: return output == 'x'\n"
MILD = "def same(output: str) -> bool: return 'x' in output\n"


@evaluator
def strict(record: Record) -> list[Score]:
    return [Score(name="acc", passed=record.output_text == "x"), Score(name="own", value=1.0)]


@evaluator
def mild(record: Record) -> list[Score]:
    return [Score(name="acc", passed=True)]


@evaluator
def late(record: Record) -> list[Score]:
    """Gives the shared name from the second record on."""
    return [Score(name="other" if record.id == "r1" else "acc", passed=True)]


@evaluator(outputs=[Output("acc", "pass")])
def declared(record: Record) -> list[Score]:
    return [Score(name="acc", passed=False)]


@evaluator(outputs=[Output("acc", "pass"), Output("more", "number")])
def declared_too(record: Record) -> list[Score]:
    return [Score(name="acc", passed=True), Score(name="more", value=2.0)]


def names_in(path: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for result in json.loads(path.read_text(encoding="utf-8"))["results"]:
        found.setdefault(result["evaluator"], set()).update(score["name"] for score in result["scores"])
    return found


@pytest.mark.parametrize(
    ("evaluators", "names"),
    [
        ([strict, mild], {"strict": {"strict.acc", "own"}, "mild": {"mild.acc"}}),
        ([declared, declared_too], {"declared": {"declared.acc"}, "declared_too": {"declared_too.acc", "more"}}),
        ([strict, declared], {"strict": {"strict.acc", "own"}, "declared": {"declared.acc"}}),
        ([strict], {"strict": {"acc", "own"}}),
    ],
)
def test_t8_equal_metric_names_are_qualified(evaluators: list[Any], names: dict[str, set[str]], tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    result = evalsi.evaluate(ROWS, evaluators, output=path, quiet=True)
    assert names_in(path) == names
    told = [summary.metric for summary in result.summaries]
    assert sorted(told) == sorted(name for of_one in names.values() for name in of_one)


def test_t8_a_name_that_is_shared_only_later_is_qualified_everywhere(tmp_path: Path) -> None:
    rows = [{"id": f"r{number}", "output": "x" * 30_000} for number in range(1, 40)]
    path = tmp_path / "results.json"
    result = evalsi.evaluate(rows, [strict, late], output=path, quiet=True)
    assert names_in(path) == {"strict": {"strict.acc", "own"}, "late": {"late.acc", "other"}}
    assert (result["strict.acc"].n, result["late.acc"].n) == (39, 38)
    assert {one["scores"][0]["name"] for one in result.results} == {"strict.acc", "late.acc", "other"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "d.jsonl", ROWS)
    (tmp_path / "strict.py").write_text(STRICT, encoding="utf-8")
    (tmp_path / "mild.py").write_text(MILD, encoding="utf-8")
    return tmp_path


def test_c5_two_evaluators_of_one_name_both_appear_under_their_full_names(folder: Path) -> None:
    named = "./strict.py:same,./mild.py:same"
    done = command("eval", "--data", "d.jsonl", "--evaluators", named, "--output", "r.json", cwd=folder)
    assert done.code == 0, done.err
    assert names_in(folder / "r.json") == {name: {name} for name in named.split(",")}
    assert "./strict.py:same  4  0.250" in done.out
    assert "./mild.py:same    4  1.000" in done.out
    (folder / "other.json").write_bytes((folder / "r.json").read_bytes())
    compared = command("compare", "r.json", "other.json", cwd=folder)
    assert "./strict.py:same" in compared.out
    assert "./mild.py:same" in compared.out
    reported = command("report", "r.json", "--output", "r.html", cwd=folder)
    assert reported.code == 0, reported.err
    assert "./mild.py:same" in (folder / "r.html").read_text(encoding="utf-8")


def test_c5_gates_name_them_by_their_full_names(folder: Path) -> None:
    gates = [{"metric": "./strict.py:same", "max": 0.5}, {"metric": "./mild.py:same", "min": 0.9}]
    spec = {
        "metadata": {"name": "t"},
        "spec": {
            "target": {"connector": "replay"},
            "dataset": {"path": "d.jsonl"},
            "evaluators": [{"ref": "./strict.py:same"}, {"ref": "./mild.py:same"}],
            "gates": gates,
        },
    }
    (folder / "run.yaml").write_text(json.dumps(spec), encoding="utf-8")
    done = command("run", "-f", "run.yaml", cwd=folder)
    assert done.code == 0, done.err + done.out


def test_c5_an_evaluator_that_is_named_by_the_user_keeps_that_name(folder: Path) -> None:
    done = command("eval", "--data", "d.jsonl", "--evaluators", "a=./strict.py:same,./mild.py:same", cwd=folder)
    assert done.code == 0, done.err
    assert "a       4  0.250" in done.out
    assert "same    4  1.000" in done.out


def test_c5_the_same_evaluator_twice_needs_a_name(folder: Path) -> None:
    done = command("eval", "--data", "d.jsonl", "--evaluators", "./strict.py:same,./strict.py:same", cwd=folder)
    assert done.code == 2
    assert "name=evaluator" in done.err


def test_c5_functions_of_one_name_of_two_modules_have_their_modules_before_it() -> None:
    first: dict[str, Any] = {"__name__": "pack.first"}
    second: dict[str, Any] = {"__name__": "pack.second"}
    exec(STRICT, first)
    exec(MILD, second)
    result = evalsi.evaluate(ROWS, [first["same"], second["same"]], quiet=True)
    assert (result["first/same"].mean, result["second/same"].mean) == (0.25, 1.0)
