"""Logs become rows: all that a sample holds, in both forms alike; and a log that is none is a fault with its place."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from adapters.inspect.tests.cases import evaluator
from adapters.inspect.tests.log_files import LOGS, archive, document, long_archive, long_document
from inspect_ai._util.constants import LOG_SCHEMA_VERSION

from evalsi import Record
from evalsi.testing import Bench
from evalsi_inspect.log_document import BLOCK_CHARS, LogDocument
from evalsi_inspect.log_fault import NEWEST_VERSION, LogFault
from evalsi_inspect.reading import rows

BOTH = pytest.mark.parametrize("end", ["eval", "json"])


def by_id(path: Path) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in rows(path)}


@BOTH
def test_a_sample_comes_with_all_that_the_log_says_of_it(end: str) -> None:
    row = by_id(LOGS / f"agent.{end}")["sum"]
    assert (row["input"], row["output"], row["reference"]) == ("What is 2 + 3?", "The sum is 5", "5")
    assert {name: row["usage"][name] for name in ("input_tokens", "output_tokens", "total_tokens")} == {
        "input_tokens": 20,
        "output_tokens": 4,
        "total_tokens": 24,
    }
    assert row["usage"]["latency_ms"] > 0
    # NaN is no JSON.
    assert (row["metadata"]["level"], row["metadata"]["weight"]) == (1, None)
    foreign = row["metadata"]["inspect"]
    assert foreign["sample_id"] == "sum"
    assert foreign["scores"]["match"] == {"value": "C", "answer": "The sum is 5", "explanation": "The sum is 5"}
    assert (row["provenance"]["source"], row["provenance"]["task"], row["provenance"]["model"]) == (
        "inspect",
        "agent",
        "mockllm/model",
    )


@pytest.mark.parametrize("limit", ["token", "message", "time", "working", "cost", "custom"])
def test_t6_a_sample_that_a_limit_ended_before_an_answer_has_an_empty_output_as_inspect_scores_it(
    limit: str, tmp_path: Path
) -> None:
    log = document()
    sample = {**log["samples"][0], "output": {"model": "mockllm/model", "choices": []}}
    log["samples"] = [{**sample, "limit": {"type": limit, "limit": 10.0}}, {**sample, "id": "cut", "limit": None}]
    path = tmp_path / "limited.json"
    path.write_text(json.dumps(log), "utf-8")
    limited, unanswered = rows(path)
    assert limited["output"] == ""
    assert limited["metadata"]["inspect"]["limit"] == limit
    assert "output" not in unanswered
    record = Record(output=limited["output"], reference=limited["reference"])
    assert Bench().score(evaluator("match"), record).passed is False


def test_t6_a_sample_that_a_limit_and_an_error_ended_has_no_output(tmp_path: Path) -> None:
    log = document()
    failed = next(one for one in log["samples"] if one["id"] == "down")
    log["samples"] = [{**failed, "limit": {"type": "token", "limit": 10.0}}]
    path = tmp_path / "failed.json"
    path.write_text(json.dumps(log), "utf-8")
    (row,) = rows(path)
    assert "output" not in row


@BOTH
def test_calls_of_tools_are_steps(end: str) -> None:
    call, tool, answer = by_id(LOGS / f"agent.{end}")["sum"]["trajectory"]["steps"]
    (message,) = call["output"]["messages"]
    assert (message["role"], message["tool_calls"][0]["name"]) == ("assistant", "add")
    assert json.loads(message["tool_calls"][0]["arguments"]) == {"x": 2, "y": 3}
    assert tool == {"type": "tool", "name": "add", "input": {"x": 2, "y": 3}, "output": "5"}
    assert answer == {"type": "llm", "output": {"messages": [{"role": "assistant", "content": "The sum is 5"}]}}


@BOTH
def test_messages_stay_messages_and_several_targets_a_list(end: str) -> None:
    row = by_id(LOGS / f"agent.{end}")["7"]
    assert [message["role"] for message in row["input"]] == ["system", "user"]
    assert row["reference"] == ["Paris", "paris"]
    assert "trajectory" not in row


@BOTH
def test_a_sample_that_failed_has_no_output_and_says_why(end: str) -> None:
    row = by_id(LOGS / f"agent.{end}")["down"]
    assert "output" not in row
    assert row["metadata"]["inspect"]["error"] == "RuntimeError('the tool server is down')"


@BOTH
def test_of_several_epochs_each_has_its_id_and_choices_are_metadata(end: str) -> None:
    found = by_id(LOGS / f"epochs.{end}")
    assert list(found) == ["fruit#1", "fruit#2"]
    assert [row["output"] for row in found.values()] == ["ANSWER: B", "ANSWER: A"]
    assert found["fruit#2"]["metadata"]["inspect"] | {"scores": {}} == {
        "sample_id": "fruit",
        "epoch": 2,
        "scores": {},
        "stop_reason": "stop",
    }
    assert found["fruit#1"]["metadata"]["choices"] == ["stone", "pear"]


@pytest.mark.parametrize("name", ["agent", "epochs"])
def test_both_forms_of_a_log_give_the_same_rows_and_rows_are_records(name: str) -> None:
    assert by_id(LOGS / f"{name}.eval") == by_id(LOGS / f"{name}.json")
    for row in rows(LOGS / f"{name}.eval"):
        assert Record(**row).id == row["id"]
        json.dumps(row, allow_nan=False)


def test_a_log_that_was_interrupted_gives_the_samples_that_it_has(tmp_path: Path) -> None:
    log = document()
    sample = log["samples"][0]
    members = [("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"], "plan": {}}))]
    members += [(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))]
    assert list(by_id(archive(tmp_path / "x.eval", members))) == [str(sample["id"])]


def test_an_unscored_foreign_score_is_null(tmp_path: Path) -> None:
    log = document()
    log["samples"][0]["scores"]["match"]["value"] = float("nan")
    path = tmp_path / "x.json"
    path.write_text(json.dumps(log), "utf-8")
    assert next(rows(path))["metadata"]["inspect"]["scores"]["match"]["value"] is None


def test_a_log_without_samples_gives_none(tmp_path: Path) -> None:
    log, path = document(), tmp_path / "x.json"
    for samples in ("null", "[]"):
        path.write_text(json.dumps({**log, "samples": json.loads(samples)}), "utf-8")
        assert list(rows(path)) == []
    del log["samples"]
    path.write_text(json.dumps(log), "utf-8")
    assert list(rows(path)) == []


def test_the_version_that_is_read_is_the_one_that_this_inspect_writes() -> None:
    assert NEWEST_VERSION == LOG_SCHEMA_VERSION == document()["version"]


# -- logs that are none ---------------------------------------------------------------------------------------------


def broken(kind: str, folder: Path) -> Path:
    """A log that cannot be read, or not to its end."""
    path = folder / ("x.json" if "json" in kind else "x.eval")
    whole = (LOGS / "agent.eval").read_bytes()
    log = document()
    match kind:
        case "cut off":
            path.write_bytes(whole[:-300])
        case "a damaged sample":
            at = whole.index(b"samples/")
            path.write_bytes(whole[: at + 200] + bytes(40) + whole[at + 240 :])
        case "no header":
            archive(path, [("notes.txt", "x")])
        case "a header that is no object":
            archive(path, [("header.json", "[]")])
        case "a newer version":
            archive(path, [("header.json", json.dumps({"version": 3, "eval": {}}))])
        case "a sample that is none":
            archive(path, [("header.json", json.dumps({"version": 2, "eval": {}})), ("samples/1_epoch_1.json", "{}")])
        case "json of a newer version":
            path.write_text(json.dumps({**log, "version": 3}), "utf-8")
        case "json cut off":
            path.write_text(json.dumps(log)[: len(json.dumps(log)) // 2], "utf-8")
        case "json that is no log":
            path.write_text('{"rows": []}', "utf-8")
        case "json lines":
            path.write_text('["a"]\n', "utf-8")
        case "json that is none":
            path.write_text("nothing", "utf-8")
        case "json that is not UTF-8":
            path.write_bytes(b'{"version": 2, "eval": {"task": "\xff"}}')
        case "an empty json":
            path.write_text("", "utf-8")
        case "json with a sample that is none":
            path.write_text(json.dumps({**log, "samples": [1]}), "utf-8")
        case _:
            path = folder / "nowhere.eval"
    return path


KINDS = {
    "cut off": "is no log of Inspect's, or is cut off",
    "a damaged sample": r"samples/\w+_epoch_1.json: it cannot be read",
    "no header": "without the header",
    "a header that is no object": "no object",
    "a newer version": "version 3, and this adapter reads up to 2",
    "a sample that is none": "the sample None is none that Inspect can read",
    "json of a newer version": "version 3",
    "json cut off": "no whole JSON document",
    "json that is no log": "no log of Inspect's",
    "json lines": "the document is no object",
    "json that is none": "the document is no object",
    "json that is not UTF-8": "not UTF-8",
    "an empty json": "the document is no object",
    "json with a sample that is none": "a sample is no object",
    "nothing there": "cannot be read: No such file",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_log_that_cannot_be_read_is_a_fault_that_says_what_and_how_to_repair_it(kind: str, tmp_path: Path) -> None:
    with pytest.raises(LogFault) as caught:
        list(rows(broken(kind, tmp_path)))
    assert re.search(KINDS[kind], caught.value.message)
    assert caught.value.hint.endswith(".")


def test_what_comes_before_a_fault_is_given(tmp_path: Path) -> None:
    log = document()
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**log, "samples": [*log["samples"], {"id": "bad"}]}), "utf-8")
    given = rows(path)
    assert [next(given)["id"] for _ in log["samples"]] == [str(sample["id"]) for sample in log["samples"]]
    with pytest.raises(LogFault, match="'bad'"):
        next(given)


def test_a_document_is_read_alike_however_its_blocks_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = document()["samples"]
    for size in (1, 7, 1000):
        monkeypatch.setattr("evalsi_inspect.log_document.BLOCK_CHARS", size)
        with (LOGS / "agent.json").open("rb") as file:
            log = LogDocument(file, "agent.json")
            # As text, since NaN is not equal to itself.
            assert json.dumps(list(log.samples())) == json.dumps(whole)
    assert BLOCK_CHARS > 1000


# -- as a process ---------------------------------------------------------------------------------------------------

PEAK = (
    # VmHWM begins anew with a program; ru_maxrss would begin at the peak of the process that started it.
    "import re, sys; from evalsi_inspect import reading; code = reading.main(sys.argv[1:]); "
    "sys.stderr.write(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]); raise SystemExit(code)"
)


def printed(path: Path) -> tuple[int, dict[str, Any], float]:
    """How many lines a reader prints, the last of them, and the most memory that it took, in kB."""
    command = [sys.executable, "-c", PEAK, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        count, last = 0, b""
        for line in process.stdout:
            count, last = count + 1, line
        return count, json.loads(last), float(process.stderr.read().split()[-1])


@pytest.mark.parametrize("make", [long_archive, long_document])
def test_a_long_log_is_read_in_the_memory_of_a_short_one(make: Any, tmp_path: Path) -> None:
    short = printed(make(tmp_path / "short", 200))
    long = printed(make(tmp_path / "long", 20_000))
    assert (short[0], long[0]) == (201, 20_001)
    assert long[1] == {"end": 20_000}
    assert long[2] < short[2] + 20_000


def test_the_last_line_is_the_fault(tmp_path: Path) -> None:
    count, last, _ = printed(broken("cut off", tmp_path))
    assert count == 1
    assert "is cut off" in last["fault"]["message"]
