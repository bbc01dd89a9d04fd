"""results.json: whole or not there, in its published form, and good to be scored again."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalsi_kernel.errors import OutputError
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.records.chunks import Chunk, Outcome
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.results.results_file import ResultsSpool
from tests.kernel.data_path import PASS, Lines, chunk, failed, instance, scored, skipped, tally

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reference/results.schema.json").read_text(encoding="utf-8"))
EXACT = instance("exact-match", PASS)
ROUGE = instance("rouge", OutputInfo("rouge1"), OutputInfo("rougeL"), session=1, called="mine")
MESSAGES = [{"role": "user", "content": "2+2?"}]
ODD = 'one\u2028two\u0085three \U0001f600 \x00\x1f "quoted" back\\slash \x7f né'


def row(number: int) -> dict[str, Any]:
    return {"id": f"q{number}", "output": "four"}


def spool_of(chunks: list[Chunk], instances: list[Instance] | None = None, folder: Path | None = None) -> ResultsSpool:
    spool = ResultsSpool(folder)
    for one in chunks:
        spool.add(one, instances or [EXACT])
    return spool


def results_of(*outcomes: Outcome | None) -> list[dict[str, Any]]:
    return list(spool_of([chunk([row(number) for number in range(len(outcomes))], outcomes)]).results())


def written(spool: ResultsSpool, path: Path) -> dict[str, Any]:
    spool.write(path, {}, [])
    whole: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return whole


# -- results -----------------------------------------------------------------------------------------------------------


def test_a_result_names_its_record_its_evaluator_and_what_came_out() -> None:
    shared = {"evaluator": "exact-match", "evaluator_ref": "core/exact-match@1", "trial": 1}
    error = failed("no luck")
    assert results_of(
        scored({"passed": True}),
        skipped(),
        error,
        ("cancelled", {"reason": "the run was stopped"}),
        scored({"passed": False}),
    ) == [
        {"record_id": "q0", "outcome": "scored", "scores": [{"name": "exact-match", "passed": True}], **shared},
        {"record_id": "q1", "outcome": "skipped", "reason": "record has no reference", **shared},
        {"record_id": "q2", "outcome": "error", "reason": "no luck", "error": error[1], **shared},
        {"record_id": "q3", "outcome": "cancelled", "reason": "the run was stopped", **shared},
        {"record_id": "q4", "outcome": "scored", "scores": [{"name": "exact-match", "passed": False}], **shared},
    ]


def test_every_part_of_a_score_is_there_but_for_what_is_none() -> None:
    score = {
        "value": -1.5e-300,
        "explanation": ODD,
        "confidence": 0.25,
        "metadata": {"a": [1, None, {"b": ODD}], "c": True},
        "cost_usd": 3,
        'ke"y': None,
        'other "key"': "x",
    }
    (result,) = results_of(scored({**score, "label": None}))
    del score['ke"y']
    assert result["scores"] == [{"name": "exact-match", **score}]


@pytest.mark.parametrize("value", [0, 1, -3, 2**64 - 1, 0.1, 1e22, 5e-324, 1.7976931348623157e308, -0.0], ids=repr)
def test_a_number_comes_back_to_its_last_digit_and_its_type(value: float) -> None:
    (result,) = results_of(scored({"value": value}))
    back = result["scores"][0]["value"]
    assert (repr(back), type(back)) == (repr(value), type(value))


def test_results_stand_record_by_record_and_within_a_record_in_the_order_of_the_evaluators() -> None:
    rouge = scored({"name": "rouge1", "value": 1.0}, {"name": "rougeL", "value": 0.5})
    made = chunk([row(1), row(2)], [scored({"passed": True}), skipped()], [rouge, rouge])
    results = list(spool_of([made], [EXACT, ROUGE]).results())
    assert [(one["record_id"], one["evaluator"]) for one in results] == [
        ("q1", "exact-match"),
        ("q1", "mine"),
        ("q2", "exact-match"),
        ("q2", "mine"),
    ]
    assert [score["name"] for score in results[1]["scores"]] == ["mine.rouge1", "mine.rougeL"]


def test_a_state_is_no_result_and_the_score_of_the_whole_has_no_record() -> None:
    bleu = instance("bleu", OutputInfo(), scope="dataset")
    spool = spool_of([chunk([row(1), row(2)], [("state", {"state": [1]}), skipped()])], [bleu])
    spool.add_whole(bleu, scored({"value": 31.5}))
    assert [(one["record_id"], one["outcome"]) for one in spool.results()] == [("q2", "skipped"), ("", "scored")]


def test_results_and_records_can_be_read_side_by_side_and_again_while_more_come() -> None:
    spool = spool_of([chunk([row(1), row(2)], [skipped()] * 2)])
    pairs = [(one["record_id"], other["id"]) for one, other in zip(spool.results(), spool.records(), strict=True)]
    assert pairs == [("q1", "q1"), ("q2", "q2")]
    spool.add(chunk([row(3)], [skipped()]), [EXACT])
    assert [one["id"] for one in spool.records()] == ["q1", "q2", "q3"]


def test_results_larger_than_the_blocks_in_which_they_are_read_come_back_whole(tmp_path: Path) -> None:
    rows = [{"id": f"q{number}", "output": f"{number} " * 60_000} for number in range(12)]
    chunks = [chunk([one], [scored({"passed": True, "explanation": one["output"]})]) for one in rows]
    spool = spool_of(chunks)
    assert list(spool.records()) == rows
    whole = written(spool, tmp_path / "results.json")
    assert whole["records"] == rows
    assert [one["scores"][0]["explanation"] for one in whole["results"]] == [one["output"] for one in rows]


# -- the file ----------------------------------------------------------------------------------------------------------


def test_the_file_of_an_evaluation_without_any_result_is_whole_too(tmp_path: Path) -> None:
    assert written(ResultsSpool(), tmp_path / "r.json") == {
        "schema_version": 1,
        "manifest": {},
        "summaries": [],
        "results": [],
        "records": [],
    }


def test_each_result_and_each_record_is_a_line_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    written(spool_of([chunk([row(1), row(2)], [skipped(ODD)] * 2), chunk([row(3)], [skipped()])]), path)
    lines = path.read_bytes().split(b"\n")
    assert [line[:18] for line in lines if line.startswith(b'{"record_id')] == [
        b'{"record_id":"q1",',
        b'{"record_id":"q2",',
        b'{"record_id":"q3",',
    ]
    assert lines[-6:] == [
        b'"records":[',
        b'{"id":"q1","output":"four"},',
        b'{"id":"q2","output":"four"},',
        b'{"id":"q3","output":"four"}',
        b"]}",
        b"",
    ]


ROWS: list[dict[str, Any]] = [
    {
        "id": "text",
        "input": ODD,
        "output": "",
        "reference": ["a", "b"],
        "topic": "sums",
        "metadata": {"deep": [{"a": None}]},
    },
    {
        "id": 7,
        "input": MESSAGES,
        "output": {"answer": [1, 2.0, None, True]},
        "reference": {"json": "x"},
        "context": "page",
    },
    {
        "input": {"text": "2+2?"},
        "output": {"json": {"json": 1}},
        "reference": [MESSAGES, 4, [1]],
        "context": ["a", {"b": 1}],
    },
    {"output": [], "usage": {"latency": "0.29s", "cost_usd": 1e-7, "input_tokens": "3", "other": "x"}},
    {"output": 0.1, "trajectory": [{"type": "tool", "input": {"q": ODD}}], "provenance": {"run": {"trial": 1}}},
    {
        "output": False,
        "check": {"passed": True, "tests": {}},
        "usage": {},
        "metadata": {},
        "context": [],
        "reference": [],
    },
    {"big": 2**64 - 1, "small": -(2**63), "output": -0.0, "name": {"dotted.name": 1e22, "": "empty key"}},
]


def test_a_file_can_be_scored_again_because_its_records_are_the_same_to_the_byte(tmp_path: Path) -> None:
    (first,) = Intake(Lines(ROWS, at_once=99)).chunks()
    first.columns = {0: [skipped()] * len(ROWS)}
    whole = written(spool_of([first]), tmp_path / "results.json")
    (again,) = Intake(Lines(whole["records"], at_once=99)).chunks()
    assert again.packed == first.packed
    assert again.ids == first.ids == ["text", "7", "2", "3", "4", "5", "6"]


def summaries_of(*outcomes: Outcome) -> list[dict[str, Any]]:
    judge = tally(PASS)
    judge.add(list(outcomes), None)
    return [summary.to_dict() for summary in judge.summaries(None)]


def test_every_kind_of_record_and_outcome_is_in_the_published_form(tmp_path: Path) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    full = {"passed": True, "explanation": "why", "confidence": 0.5, "metadata": {"a": 1}, "cost_usd": 0.1}
    outcomes = [
        scored(full),
        scored({"value": 1}),
        scored({"label": "a"}),
        skipped(),
        failed(),
        ("cancelled", {"reason": ""}),
    ]
    made = chunk(ROWS, [*outcomes, scored({"passed": False})])
    path = tmp_path / "results.json"
    spool_of([made]).write(path, {}, summaries_of(scored({"passed": True}), skipped()))
    whole = json.loads(path.read_text(encoding="utf-8"))
    problems = [error.json_path for error in Draft202012Validator(SCHEMA).iter_errors(whole)]
    assert set(problems) == {"$.manifest"}  # Which this file has none of; test_run_manifest looks at a whole one.


@pytest.mark.parametrize(
    "broken",
    [
        {"outcome": "scored", "scores": []},
        {"outcome": "scored", "scores": [{"name": "a"}]},
        {"outcome": "scored", "scores": [{"name": "a", "value": 1, "passed": True}]},
        {"outcome": "scored", "scores": [{"name": "a", "value": None}]},
        {"outcome": "scored", "scores": [{"name": "a", "value": 1}], "reason": "x"},
        {"outcome": "skipped"},
        {"outcome": "error", "reason": "x"},
        {"outcome": "state", "reason": "x"},
    ],
    ids=repr,
)
def test_the_published_form_refuses_results_that_could_be_misread(broken: dict[str, Any]) -> None:
    result = {"record_id": "a", "evaluator": "e", "evaluator_ref": "core/e@1", "trial": 1, **broken}
    form = {"$ref": "#/$defs/result", "$defs": SCHEMA["$defs"]}
    assert list(Draft202012Validator(form).iter_errors(result))


# -- writing it, or not ------------------------------------------------------------------------------------------------


def test_nothing_but_the_file_is_left_in_its_folder_and_nothing_at_all_before_it_is_written(tmp_path: Path) -> None:
    spool = spool_of([chunk([row(1)], [skipped()])], folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
    written(spool, tmp_path / "results.json")
    spool.close()
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_file_replaces_an_older_one_and_follows_a_link_to_it(tmp_path: Path) -> None:
    real, link = tmp_path / "deep" / "real.json", tmp_path / "results.json"
    real.parent.mkdir()
    real.write_text("old")
    link.symlink_to(real)
    assert written(ResultsSpool(), link)["schema_version"] == 1
    assert link.is_symlink()
    assert json.loads(real.read_text())["schema_version"] == 1


def test_who_reads_the_older_file_while_it_is_replaced_reads_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with path.open() as reader:
        written(ResultsSpool(), path)
        assert reader.read() == "old"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_file_has_the_mode_of_any_new_file(tmp_path: Path, mask: int, mode: int) -> None:
    tmp_path.chmod(0o755)  # Results in a private folder are private.
    before = os.umask(mask)
    try:
        written(ResultsSpool(), tmp_path / "results.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "results.json").stat().st_mode) == mode


def test_the_longest_name_that_a_file_can_have_is_fine(tmp_path: Path) -> None:
    written(ResultsSpool(), tmp_path / ("é" * 127))


@pytest.mark.parametrize("place", ["", "gone/results.json"])
def test_a_place_that_is_no_file_or_in_no_folder_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(OutputError, match=r"is a folder|No such folder"):
        ResultsSpool().write(tmp_path / place, {}, [])


@pytest.mark.parametrize("kind", ["device", "pipe", "link to a device"])
def test_a_device_or_a_pipe_is_refused_and_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "results.json"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/null")
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(OutputError, match="is not a regular file"):
        ResultsSpool().write(path, {}, [])
    assert not path.is_file()


def test_a_link_into_a_folder_that_is_gone_is_refused(tmp_path: Path) -> None:
    link = tmp_path / "results.json"
    link.symlink_to(tmp_path / "gone" / "results.json")
    with pytest.raises(OutputError, match=r"No such folder: .*gone"):
        ResultsSpool().write(link, {}, [])


def test_a_value_that_is_no_json_leaves_the_old_file_and_no_rest_of_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(ValueError, match="not JSON compliant"):
        ResultsSpool().write(path, {"seed": float("nan")}, [])
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("results.json", "old")]


# A limit on the size of files stands for a full disk: writing fails in the same places, by the same exception.
FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from evalsi_kernel.errors import OutputError
from evalsi_kernel.results.results_file import ResultsSpool
from tests.kernel.data_path import chunk, instance, skipped

folder, full_from = Path(sys.argv[1]), sys.argv[2]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
spool = ResultsSpool(folder)


def fill():
    for start in range(0, 2000, 50):
        rows = [{"id": str(number), "output": "x" * 1000} for number in range(start, start + 50)]
        spool.add(chunk(rows, [skipped()] * 50), [instance()])
    list(spool.records())


if full_from == "write":
    fill()
sys.dont_write_bytecode = True  # The limit would cut compiled files too, which other tests load.
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    if full_from == "add":
        fill()
    spool.write(folder / "results.json", {}, [])
except OutputError as error:
    print(error)
spool.close()
print(sorted(path.name for path in folder.iterdir()), (folder / "results.json").read_text())
"""


@pytest.mark.parametrize("full_from", ["add", "write"])
def test_a_full_disk_is_an_error_with_a_hint_and_the_old_file_stays(tmp_path: Path, full_from: str) -> None:
    (tmp_path / "results.json").write_text("old")
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path), full_from],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    error, left = ran.stdout.splitlines()
    assert "cannot be written: File too large. Free some space, or write elsewhere." in error
    assert left == "['results.json'] old"
    assert ran.stderr == ""


def test_a_spool_that_cannot_be_made_says_where(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="gone cannot be written: No such file or directory"):
        ResultsSpool(tmp_path / "gone")
