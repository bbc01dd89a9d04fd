"""Baselines read from results files, of any layout and size; what is none is refused with its fault."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from evalsi_comparison.baseline import read_baseline
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.gates.baseline import Mean, mark_of, side
from tests.cli.running import evalsi, write_jsonl
from tests.kernel.gates.gate_parts import numbers
from tests.runs.running import executed, write_spec

MANIFEST = {
    "dataset": {"source": "qa.jsonl", "records": 3, "sha256": "00"},
    "evaluators": [{"name": "a", "ref": "core/a@1", "params": {"x": 1}, "scope": "record"}],
    "judge": {"roles": {"primary": {"model": "m"}}, "calls": 3},
    "summary": {"confidence_level": 0.9},
}
SUMMARY = numbers(0.5, 3, errors=1, skipped=2).to_dict()


def result(record_id: str, trial: int, **score: Any) -> dict[str, Any]:
    scores = [{"name": "a", **score}, {"name": "b", "value": 7.0}]
    return {"record_id": record_id, "evaluator": "a", "outcome": "scored", "trial": trial, "scores": scores}


def whole_of(**members: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "manifest": MANIFEST,
        "summaries": [SUMMARY],
        "slices": [{"by": "tier", "value": "gold", "summaries": [{**SUMMARY, "mean": 0.25}]}],
        "results": [
            result("r1", 1, passed=True),
            result("r1", 2, passed=False),
            result("r2", 1, value=0.25),
            {"record_id": "r3", "evaluator": "a", "outcome": "skipped", "trial": 1, "reason": "no reference"},
        ],
        "records": [{"id": "r1", "output": "]}, {["}],
        **members,
    }


def as_lines(whole: dict[str, Any]) -> str:
    """A line an element, as `evalsi` writes it."""
    members = []
    for name, value in whole.items():
        rows = ",\n".join(map(json.dumps, value)) if name in ("results", "records") else ""
        members.append(f'"{name}":[\n{rows}\n]' if rows else f'"{name}":{json.dumps(value)}')
    return "{" + ",\n".join(members) + "}\n"


def file_of(folder: Path, text: str) -> Path:
    path = folder / "main.json"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        as_lines(whole_of()),
        json.dumps(whole_of()),
        json.dumps(whole_of(), indent=2),
        json.dumps(whole_of(), sort_keys=True),
        "\ufeff" + json.dumps(whole_of(), indent=1),
    ],
)
def test_a_results_file_in_any_layout_reads_the_same(tmp_path: Path, text: str) -> None:
    base = read_baseline(file_of(tmp_path, text), "main.json", ["a"]).side

    assert base.name == "main.json"
    assert base.means == {"a": Mean(0.5, 3, 1, 2, "a")}
    assert base.slices == {("tier", "gold"): {"a": Mean(0.25, 3, 1, 2, "a")}}
    assert base.values == {"a": {"r1": (1.0, 0.0), "r2": (0.25,)}}
    assert base.dataset == ("00", 3)
    assert (base.evaluators["a"]["ref"], base.evaluators["a"]["params"]) == ("core/a@1", {"x": 1})
    assert (base.judge, base.level) == ({"primary": {"model": "m"}}, 0.9)


@pytest.mark.parametrize("paired", [[], ["a"]])
def test_a_file_that_is_cut_off_is_refused_whatever_is_needed_of_it(tmp_path: Path, paired: list[str]) -> None:
    path = file_of(tmp_path, as_lines(whole_of())[:-20])

    with pytest.raises(ConfigError, match=r"^The baseline main\.json is cut off within its records\.") as caught:
        read_baseline(path, "main.json", paired)
    assert caught.value.code == "config.baseline"


def test_results_that_are_not_needed_are_not_looked_at(tmp_path: Path) -> None:
    path = file_of(tmp_path, as_lines(whole_of(results=[{"scores": 3}])))

    assert read_baseline(path, "main.json").side.values == {}
    with pytest.raises(ConfigError, match=r"The baseline main\.json is damaged: one of its results: ") as caught:
        read_baseline(path, "main.json", ["a"])
    assert caught.value.code == "config.baseline"


def test_the_runs_own_side_is_made_of_the_same_manifest(tmp_path: Path) -> None:
    base = read_baseline(file_of(tmp_path, as_lines(whole_of())), "main.json").side
    own = side("this run", MANIFEST, [SUMMARY], [], {}, asked=mark_of("r1", None, None))

    assert own._replace(name="", slices={}) == base._replace(name="", slices={})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is cut off"),
        ("[]", "is no results file"),
        ('{"schema_version":1}', "is no results file"),
        ('{"schema_version":2,"manifest":{}}', "is a results file of version 2; 1 is the newest known here"),
        (json.dumps(whole_of(manifest={})), "is no results file: it has no 'dataset'"),
        (json.dumps(whole_of(summaries=[3])), "is no results file: a part of it is not of the form of one"),
        (json.dumps(whole_of(slices={"a": 1})), "is no results file: a part of it is not of the form of one"),
        (json.dumps(whole_of(results={})), "is no results file"),
        ('{"schema_version":1,"results":[{"record', "is cut off"),
        ('{"schema_version":1,}', "is no results file"),
        ('{"a":' * 100_000, "is no results file"),
        ("id,output\n1,2\n", "is no results file"),
    ],
)
def test_what_is_no_results_file_is_refused_with_its_fault(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_baseline(file_of(tmp_path, text), "main.json", ["a"])

    assert caught.value.code == "config.baseline"
    assert caught.value.message.startswith("The baseline main.json ")
    assert why in caught.value.message


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot be read: No such file"):
        read_baseline(tmp_path / "no.json", "no.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is no results file"):
        read_baseline(tmp_path / "bytes.json", "bytes.json")


def test_a_large_file_is_read_in_memory_that_does_not_grow_with_it(tmp_path: Path) -> None:
    records = [{"id": f"r{number}", "output": "x" * 1000} for number in range(12_000)]
    path = file_of(tmp_path, as_lines(whole_of(records=records)))
    assert path.stat().st_size > 12_000_000
    tracemalloc.start()
    try:
        read_baseline(path, "main.json", ["a"])
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 1_000_000


# -- recorded answers that are a part of the data ----------------------------------------------------------------------


def answered(*outputs: str, question: str = "{}?") -> list[dict[str, Any]]:
    return [
        {"id": f"r{number}", "question": question.format(number), "answer": "Oslo", "output": output}
        for number, output in enumerate(outputs)
    ]


def gated(folder: Path, rows: list[dict[str, Any]], **spec: Any) -> Any:
    """The gate of a run that replays the data's own outputs, against the folder's main.json."""
    gate = {"metric": "exact-match", "baseline": "main.json", "max_drop": 0.1, "significant": True}
    write_spec(folder, {"connector": "replay"}, rows, gates=[gate], **spec)
    (found,) = executed(folder, fresh=True).gates
    return found


@pytest.mark.parametrize("trials", [1, 2])
def test_runs_whose_data_hold_other_answers_to_the_same_questions_are_compared(tmp_path: Path, trials: int) -> None:
    write_spec(tmp_path, {"connector": "replay"}, answered(*["Oslo"] * 8))
    executed(tmp_path).results.rename(tmp_path / "main.json")

    better = gated(tmp_path, answered(*["Oslo"] * 8), trials=trials)
    worse = gated(tmp_path, answered(*["Lima"] * 8), trials=trials)

    told = "The data differ, though not in ids, inputs and references."
    assert (better.verdict, told in better.reason) == ("pass", False)
    assert (worse.verdict, told in worse.reason) == ("fail", True)


def test_answers_that_were_scored_without_a_run_are_a_baseline_too(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "old.jsonl", answered(*["Oslo"] * 8))
    mapping = ["--map", "input=question", "--map", "reference=answer", "--output", str(tmp_path / "main.json")]
    assert evalsi("eval", "--data", str(path), "--evaluators", "exact-match", *mapping).code == 0

    assert gated(tmp_path, answered(*["Lima"] * 8)).verdict == "fail"


def test_other_questions_of_as_many_records_are_other_data_still(tmp_path: Path) -> None:
    write_spec(tmp_path, {"connector": "replay"}, answered(*["Oslo"] * 8))
    executed(tmp_path).results.rename(tmp_path / "main.json")

    found = gated(tmp_path, answered(*["Oslo"] * 8, question="What of {}?"))

    assert found.verdict == "undecided"
    assert "was scored on other data (8 records, and so here, but their texts differ)" in found.reason
