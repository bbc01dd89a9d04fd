"""The manifest says what ran, in the published form, and holds neither secrets nor places of this machine."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import evalsi
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.evaluation.manifest import run_manifest
from evalsi_kernel.packs.instances import Instance
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo
from evalsi_kernel.planning.plan import Plan
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_kernel.request import Request
from evalsi_kernel.status import Ending, Status
from tests.kernel.data_path import Lines, read
from tests.untimed import untimed

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reference/results.schema.json").read_text(encoding="utf-8"))
STARTED_AT = datetime(2026, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)


def manifest_of(ending: Ending, *packs: PackInfo, **settings: Any) -> dict[str, Any]:
    source = Lines([{"q": "2+2?"}, {"q": "1+1?"}])
    instance = Instance(1, "mine", EvaluatorInfo("rouge", "text", "3"), {"stem": True})
    intake = read(Intake(source, settings.get("mapping"), settings.get("limit")))
    request = Request(source, [], **settings)
    manifest = run_manifest(request, Plan((instance,), (), packs), ending, intake, started_at=STARTED_AT)
    form = {"$ref": "#/$defs/manifest", "$defs": SCHEMA["$defs"]}
    assert [error.message for error in Draft202012Validator(form).iter_errors(manifest)] == []
    return manifest


def test_it_says_what_was_evaluated_with_which_settings() -> None:
    mapping = parse_mapping(["input=q", "usage.latency_ms=t.ms"])
    manifest = manifest_of(
        Ending(Status.COMPLETE), mapping=mapping, limit=1, cluster_by="topic", confidence=0.9, ci="t"
    )
    assert manifest["status"] == "complete"
    assert manifest["error"] is None
    assert manifest["dataset"] == {"source": "qa.jsonl", "records": 1, "sha256": None}
    assert manifest["evaluators"] == [
        {
            "name": "mine",
            "ref": "text/rouge@3",
            "params": {"stem": True},
            "scope": "record",
            "asks": [],
            "prompts": [],
        }
    ]
    assert manifest["mapping"] == {"input": "q", "usage.latency_ms": "t.ms"}
    assert manifest["limit"] == 1
    assert manifest["summary"] == {"confidence_level": 0.9, "cluster_by": "topic", "ci_method": "t", "seed": 0}
    assert manifest["started_at"] == "2026-01-02T03:04:05.678+00:00"


def test_a_pack_is_told_with_the_hash_of_the_lock_that_made_its_environment(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_bytes(b"version = 1\n")
    locked = PackInfo("text", "0.4.0", "", 1, tmp_path, "m")
    without = PackInfo("acme/own", "1", "", 1, tmp_path / "gone", "m")
    assert manifest_of(Ending(Status.COMPLETE), locked, without)["packs"] == [
        {"name": "text", "version": "0.4.0", "lock_sha256": sha256(b"version = 1\n").hexdigest()},
        {"name": "acme/own", "version": "1", "lock_sha256": None},
    ]


def test_a_run_that_broke_says_why() -> None:
    error = DatasetError("qa.jsonl, line 3: it is broken.", "Correct it.")
    manifest = manifest_of(Ending(Status.FAILED, error))
    assert manifest["status"] == "failed"
    assert manifest["error"] == {
        "code": "dataset.invalid",
        "message": "qa.jsonl, line 3: it is broken.",
        "hint": "Correct it.",
        "source": "record",
        "retry": "no",
    }


def test_it_names_no_folder_and_no_variable_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret")
    text = json.dumps(manifest_of(Ending(Status.PARTIAL), PackInfo("text", "0.4.0", "", 1, tmp_path, "m")))
    for private in (str(tmp_path), str(Path.home()), str(Path.cwd()), "very-secret"):
        assert private not in text


@evalsi.evaluator(name="length", version=2)
def length(record: evalsi.Record) -> float:
    """How long the output is; a record that says so fails."""
    text = record.output.as_text()
    if text == "fail":
        raise RuntimeError("as it was told")
    return len(text)


def test_the_file_of_a_whole_run_is_in_the_published_form(tmp_path: Path) -> None:
    rows = [
        {"output": "four", "topic": "a"},
        {"output": "fail", "topic": "b"},
        {"topic": "c"},
        {"output": "", "topic": "a"},
    ]
    evaluation = evalsi.evaluate(rows, [length], cluster_by="topic", quiet=True)
    evaluation.save(tmp_path / "results.json")
    whole = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(SCHEMA).iter_errors(whole)] == []
    assert [one["outcome"] for one in whole["results"]] == ["scored", "error", "skipped", "scored"]
    (summary,) = whole["summaries"]
    assert (summary["n"], summary["mean"], summary["errors"], summary["skipped"]) == (2, 2.0, 1, 1)
    assert whole["manifest"]["evaluators"][0]["ref"].endswith("/length@2")
    assert re.fullmatch("[0-9a-f]{64}", whole["manifest"]["dataset"]["sha256"])


def test_the_records_of_a_file_score_to_the_same_numbers_again(tmp_path: Path) -> None:
    rows = [{"output": "x" * number, "topic": f"t{number % 3}"} for number in range(20)]
    first = evalsi.evaluate(rows, [length], cluster_by="topic", quiet=True)
    first.save(tmp_path / "results.json")
    whole = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    again = evalsi.evaluate(whole["records"], [length], cluster_by="topic", quiet=True)
    assert first.results == whole["results"]
    assert untimed(again.results) == untimed(first.results)
    assert [summary.to_dict() for summary in again.summaries] == whole["summaries"]
