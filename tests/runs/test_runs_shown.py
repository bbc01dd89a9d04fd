"""`evalsi runs show`: a run that is over says again what it printed; of any other there is how it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import evalsi
from tests.comparison.replayed import CAPITALS, replayed_spec
from tests.providers import MODEL, Provider, fixed
from tests.runs.running import model_of, records, run, write_spec


def shown(folder: Path, *words: str, run_id: str = "run-1") -> tuple[int, str, str]:
    done = evalsi("runs", "show", run_id, *words, cwd=folder)
    return done.code, done.out, done.err


@pytest.mark.parametrize("least", [0.4, 0.9])
def test_a_run_that_is_over_is_told_as_it_told_itself(tmp_path: Path, least: float) -> None:
    gates = [
        {"metric": "exact-match", "min": least},
        {"metric": "exact-match", "min": 0.1, "slice": "tier"},
        {"metric": "exact-match.pass^2", "min": 0.9, "when": "project == 'other'"},
    ]
    rows = [{**row, "tier": "gold"} for row in records(4)]
    evaluators = [{"ref": "exact-match"}, {"ref": "length"}]
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor), rows, trials=2, gates=gates, evaluators=evaluators)
        printed = run(tmp_path, "--quiet").out
    assert "where tier = gold" in printed
    assert "n/a" in printed

    code, out, _ = shown(tmp_path)

    assert (code, out.partition("\n\n")[2]) == (0, printed)
    assert out.split()[:2] == ["id", "run-1"]


def test_labels_and_what_a_judge_took_are_told_again_too(tmp_path: Path) -> None:
    (tmp_path / "tone.py").write_text(
        "from evalsi import evaluator\n"
        "@evaluator(version=1, asks=['judge'])\n"
        "async def tone(record, ctx) -> str:\n"
        "    return (await ctx.judge([{'role': 'user', 'content': record.output_text}])).text\n"
    )
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor), records(2), evaluators=[{"ref": "tone.py:tone"}])
        judge = ["--judge-model", MODEL, "--judge-base-url", vendor.base_url, "--judge-api-key-env", "TARGET_KEY"]
        printed = run(tmp_path, "--quiet", *judge).out
    assert "tone: Lisbon 2" in printed
    assert "calls" in printed

    assert shown(tmp_path)[1].partition("\n\n")[2] == printed


def test_as_json_its_gates_and_summaries_are_those_of_its_results(tmp_path: Path) -> None:
    replayed_spec(tmp_path, CAPITALS, least=0.5, trials=1)
    assert run(tmp_path).code == 0

    told = json.loads(shown(tmp_path, "--format", "json", run_id="capitals-1")[1])

    results = json.loads((tmp_path / told["results"]).read_text())
    assert [told[key] for key in ("verdict", "gates", "summaries")] == [
        results[key] for key in ("verdict", "gates", "summaries")
    ]


@pytest.mark.parametrize("form", ["table", "json"])
def test_a_run_that_goes_on_or_has_no_results_says_how_it_stands(tmp_path: Path, form: str) -> None:
    replayed_spec(tmp_path, CAPITALS, least=0.5, trials=1)
    run(tmp_path)
    folder = tmp_path / ".evalsi" / "runs" / "capitals-1"
    changed(folder, state="running")
    code, out, _ = shown(tmp_path, "--format", form, run_id="capitals-1")
    assert (code, "interrupted" in out, "exact-match" in out) == (0, True, False)

    changed(folder, state="succeeded")
    (folder / "results.json").unlink()
    code, out, _ = shown(tmp_path, "--format", form, run_id="capitals-1")
    assert (code, "succeeded" in out, "exact-match" in out) == (0, True, False)


def changed(folder: Path, **about: Any) -> None:
    summary = folder / "run.json"
    summary.write_text(json.dumps(json.loads(summary.read_text()) | about))


@pytest.mark.parametrize(
    "text", ["", "{}", '{"schema_version":1,\n"manifest":3,\n"results":[\n]}', '{"schema_version":1,\n"manifest":{']
)
def test_results_that_are_damaged_are_told_with_what_to_do_after_how_it_stands(tmp_path: Path, text: str) -> None:
    replayed_spec(tmp_path, CAPITALS, least=0.5, trials=1)
    run(tmp_path)
    (tmp_path / ".evalsi" / "runs" / "capitals-1" / "results.json").write_text(text)

    code, out, err = shown(tmp_path, run_id="capitals-1")

    assert (code, "succeeded" in out) == (1, True)
    assert "capitals-1/results.json is damaged: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        '"text"',
        "[" * 100_000,
        "{}",
        '{"state": 3}',
        '{"state": "succeeded", "labels": "a=b", "started_at": 5, "items": [1]}',
        '{"state": "succeeded", "id": {"a": 1}, "verdict": ["pass"]}',
        '{"state": "succeeded", "name": "\\ud800"}',
        "\xff",
    ],
)
def test_s6_a_damaged_summary_breaks_no_list_and_no_run(tmp_path: Path, text: str) -> None:
    with Provider(fixed("Lisbon")) as vendor:
        write_spec(tmp_path, model_of(vendor))
        assert run(tmp_path, "--quiet").code == 0
        assert run(tmp_path, "--quiet").code == 0
        damaged = tmp_path / ".evalsi" / "runs" / "run-1" / "run.json"
        damaged.write_text(text, "latin-1")
        for words in ([], ["--format", "json"], ["--label", "a=b"]):
            done = evalsi("runs", "list", *words, cwd=tmp_path)
            assert (done.code, "Traceback" in done.err) == (0, False)
        listed = json.loads(evalsi("runs", "list", "--format", "json", cwd=tmp_path).out)
        assert [one["id"] for one in listed] == ["run-1", "run-2"]
        assert listed[1]["state"] == "succeeded"
        assert shown(tmp_path)[0] == 0
        # The log decides how a run goes on.
        damaged.with_name("run.json").rename(tmp_path / ".evalsi" / "runs" / "run-2" / "run.json")
        assert run(tmp_path, "--quiet").code == 0
