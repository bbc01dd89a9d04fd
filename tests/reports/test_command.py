"""`evalsi report`: the forms and where they go, and each bad input told in a sentence before anything is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from evalsi_reports.html_page import html_page
from evalsi_reports.json_digest import json_digest
from evalsi_reports.junit import junit
from evalsi_reports.markdown_page import markdown_page
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import ReportData, read_report
from tests.cli.running import QA, Done, evalsi, write_jsonl
from tests.comparison.replayed import CAPITALS, replayed_spec
from tests.reports.results_files import evaluation, run, write

SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "report.schema.json"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results file of a run."""
    return write(tmp_path_factory.mktemp("command") / "results.json", run(30))


def report(*words: str | Path) -> Done:
    return evalsi("report", *words)


def test_a_file_of_evalsi_eval_becomes_every_form_at_once(tmp_path: Path) -> None:
    made = tmp_path / "results.json"
    assert (
        evalsi("eval", "--data", QA, "--evaluators", "exact-match,numeric-match", "--output", made, "--quiet").code == 0
    )
    outputs = [tmp_path / name for name in ("r.html", "r.md", "r.json", "r.junit.xml")]
    done = report(made, *(word for path in outputs for word in ("-o", path)))
    assert (done.code, done.out) == (0, "")
    assert done.err.count("\n") == 4
    html, markdown, digest, xml = (path.read_text("utf-8") for path in outputs)
    assert html.startswith("<!doctype html>")
    assert markdown.startswith("## Scored: qa.jsonl\n")
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(json.loads(digest))
    assert "<testsuites" in xml
    assert {path.name for path in tmp_path.iterdir()} == {"results.json", *(path.name for path in outputs)}


SPEC = """
apiVersion: evals.si/v1alpha1
kind: EvalRun
metadata: {name: capitals}
spec:
  target: {connector: replay, path: recorded.jsonl}
  dataset: {path: data.jsonl}
  evaluators: [{ref: exact-match}]
  trials: 2
  summary: {slice_by: [region]}
  gates: [{metric: exact-match, min: 0.9}, {metric: exact-match, stat: errors, max: 0}]
"""


def test_a_run_that_was_made_here_is_named_by_its_id(tmp_path: Path) -> None:
    for number, city in enumerate(("Nairobi", "Mombasa"), 1):
        spec = replayed_spec(tmp_path, {**CAPITALS, "Kenya": city}, least=0.9, trials=1)
        run_here = evalsi("run", "-f", spec, "--quiet", cwd=tmp_path)
        assert (run_here.code, run_here.out.split(":")[0]) == (3 if number == 2 else 0, f"capitals-{number}")
    done = evalsi("report", "capitals-2", "--baseline", "capitals-1", "-o", "report.md", cwd=tmp_path)
    assert done.code == 0, done.err
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "What changed against" in text
    assert "Mombasa" in text
    missing = evalsi("report", "capitals-3", cwd=tmp_path)
    assert missing.code == 1
    assert "`evalsi runs list`" in missing.err


def test_a_file_of_evalsi_run_shows_gates_trials_and_slices(tmp_path: Path) -> None:
    capitals = {"nepal": "Kathmandu", "peru": "Lima", "kenya": "Nairobi"}
    rows = [{"id": name, "input": name, "reference": city, "region": name[0]} for name, city in capitals.items()]
    write_jsonl(tmp_path / "data.jsonl", rows)
    write_jsonl(tmp_path / "recorded.jsonl", [{"id": row["id"], "output": "Lima"} for row in rows])
    (tmp_path / "run.yaml").write_text(SPEC)
    ran = evalsi("run", "-f", "run.yaml", "--output", "results.json", "--quiet", cwd=tmp_path)
    assert ran.code == 3, ran.err
    done = report(tmp_path / "results.json", "--format", "json")
    found = json.loads(done.out)
    Draft202012Validator(json.loads(SCHEMA.read_text())).validate(found)
    assert (found["title"], found["verdict"]) == ("capitals", "fail")
    assert [(gate["name"], gate["verdict"]) for gate in found["gates"]] == [
        ("exact-match: mean ≥ 0.9", "fail"),
        ("exact-match: errors ≤ 0", "pass"),
    ]
    assert found["counts"] == {
        "records": 3,
        "trials": 2,
        "items": 6,
        "failed": 4,
        "errors": 0,
        "skipped": 0,
        "cancelled": 0,
    }
    assert {one["value"] for one in found["slices"]} == {"n", "p", "k"}
    page = report(tmp_path / "results.json", "--format", "html").out
    assert "exact-match.pass^2" in page
    assert "trial 1 of 2, 2 failed" in page


def test_the_digest_of_a_run_keeps_its_schema(results: Path) -> None:
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    found = json.loads(report(results, "--format", "json", "--baseline", results).out)
    Draft202012Validator(schema).validate(found)
    assert (found["verdict"], found["report_version"]) == ("fail", 1)
    assert [gate["verdict"] for gate in found["gates"]] == ["fail", "undecided", "pass", "pass"]
    assert found["counts"] == {
        "records": 30,
        "trials": 3,
        "items": 90,
        "failed": 18,
        "errors": 6,
        "skipped": 9,
        "cancelled": 0,
    }
    assert found["failures"][0]["record_id"].startswith("ferry-")


def test_standard_output_is_markdown_unless_another_form_is_named(results: Path) -> None:
    assert report(results).out.startswith("## ✗ Failed: ferry\n")
    assert report(results, "-o", "-", "--title", "Nightly").out.startswith("## ✗ Failed: Nightly\n")
    assert report(results, "--format", "junit").out.startswith("<?xml")
    assert report(results, "-o", "-", "--format", "html").out.startswith("<!doctype html>")


def test_markdown_leads_with_the_verdict_and_what_changed_and_fits_a_summary(results: Path) -> None:
    text = report(results, "--baseline", results, "--worst", "200").out
    places = [
        text.index(words)
        for words in (
            "## ✗ Failed",
            "Since results.json",
            "### What changed",
            "### Gates",
            "### Metrics",
            "### What failed",
        )
    ]
    assert places == sorted(places)
    assert len(text.encode()) < 60_000


def test_a_report_is_written_with_exit_code_0_though_gates_failed(results: Path, tmp_path: Path) -> None:
    assert report(results, "-o", tmp_path / "r.md", "--quiet") == Done(0, "", "")


def test_redact_stands_behind_the_file_or_names_its_parts(results: Path) -> None:
    assert "Withheld" not in report(results, "--format", "html").out
    assert "Withheld by --redact: inputs and outputs" in report(results, "--format", "html", "--redact").out
    assert "Withheld by --redact: outputs," in report("--redact=outputs", results, "--format", "html").out
    done = report("--redact", results)
    assert done.code == 2


BAD: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "no manifest": (lambda whole: whole.pop("manifest"), 'it has no "manifest"'),
    "no version": (lambda whole: whole.pop("schema_version"), 'it has no "schema_version"'),
    "newer": (lambda whole: whole.update(schema_version=2), "of the form 2, and 1 is the newest that is known here."),
    "manifest": (lambda whole: whole.update(manifest=[]), '"manifest" is no object'),
    "results": (lambda whole: whole.update(results={}), '"results" is no list'),
    "element": (lambda whole: whole["records"].append(3), 'an element of "records" is no object'),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_results_file_is_refused(tmp_path: Path, case: str) -> None:
    change, said = BAD[case]
    whole = evaluation(3)
    change(whole)
    output = tmp_path / "r.html"
    done = report(write(tmp_path / "results.json", whole), "-o", output)
    assert (done.code, done.out) == (1, "")
    assert said in done.err
    assert not output.exists()


WRONG: dict[str, tuple[list[str], int, str]] = {
    "absent": (["absent.json"], 1, "absent.json cannot be read: No such file or directory."),
    "folder": (["."], 1, "cannot be read: Is a directory."),
    "form": (["results.json", "-o", "report.pdf"], 2, "report.pdf does not say which form the report has."),
    "itself": (
        ["results.json", "-o", "results.json"],
        2,
        "results.json is an input of this command and would be overwritten.",
    ),
    "its baseline": (
        ["absent.json", "--baseline", "results.json", "-o", "results.json"],
        2,
        "results.json is an input of this command and would be overwritten.",
    ),
    "no folder": (["results.json", "-o", "absent/r.html"], 1, "No such folder"),
    "device": (["results.json", "-o", "/dev/null", "--format", "md"], 1, "/dev/null is not a regular file."),
    "worst": (["results.json", "--worst", "-1"], 2, "--worst is -1."),
    "examples": (["results.json", "--examples", "201"], 2, "--worst is 201."),
    "empty": (["results.json", "-o", ""], 2, "--output is empty."),
    "keeps": (["results.json", "--keep-metadata"], 2, "--keep-metadata is of use only with --redact."),
    "baseline": (["results.json", "--baseline", "absent.json"], 1, "absent.json cannot be read"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_words_are_told_before_any_work(tmp_path: Path, case: str) -> None:
    words, code, said = WRONG[case]
    before = write(tmp_path / "results.json", evaluation(3)).read_bytes()
    done = evalsi("report", *words, cwd=tmp_path)
    assert (done.code, done.out) == (code, "")
    assert said in done.err
    assert (tmp_path / "results.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(results: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        assert "cannot be written" in report(results, "-o", tmp_path / "r.html").err
    finally:
        tmp_path.chmod(0o700)


FORMS: dict[str, Callable[[ReportData], str]] = {
    "html": html_page,
    "md": markdown_page,
    "json": json_digest,
    "junit": lambda found: junit(found, with_records=True),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "change",
    [
        lambda whole: whole.update(results=[], records=[], summaries=[]),
        lambda whole: [
            whole.pop(key) for key in ("summaries", "records", "judge_replies", "gates", "slices", "verdict")
        ],
        lambda whole: whole["manifest"].update(status="partial", error={"code": "x.y", "message": "It was stopped."}),
        lambda whole: whole.update(manifest={}),
        lambda whole: [result.clear() for result in whole["results"]],
        lambda whole: [summary.clear() for summary in whole["summaries"]],
        lambda whole: [gate.clear() for gate in whole["gates"]],
    ],
    ids=["empty", "bare", "partial", "no manifest", "no results", "no summaries", "no gates"],
)
def test_files_that_lack_much_still_become_reports(tmp_path: Path, form: str, change: Callable[[Any], Any]) -> None:
    whole = run(6)
    change(whole)
    found = read_report(write(tmp_path / "results.json", whole), redaction=Redaction())
    assert len(FORMS[form](found)) > 150


def test_a_partial_run_is_called_so(tmp_path: Path) -> None:
    whole = evaluation(6)
    whole["manifest"]["status"] = "partial"
    done = report(write(tmp_path / "results.json", whole))
    assert done.out.startswith("## Not finished: ferry.jsonl\n")
    assert "The run was stopped before its end" in done.out


@pytest.mark.parametrize(
    "manifest",
    [{"status": "partial", "state": "cancelled"}, {"status": "failed", "state": "error"}, {"status": "incomplete"}],
)
def test_g9_an_unfinished_run_is_not_finished_and_what_was_cancelled_is_not_skipped(
    tmp_path: Path, manifest: dict[str, Any]
) -> None:
    whole = evaluation(6)
    whole["manifest"].update(manifest)
    whole["verdict"] = "fail"
    for one in whole["results"]:
        if one["record_id"] != whole["results"][0]["record_id"]:
            one.update(outcome="cancelled", reason="the run ended before it was done")
            for key in ("scores", "error"):
                one.pop(key, None)
    path = write(tmp_path / "results.json", whole)
    found = read_report(path, redaction=Redaction())
    told = json.loads(json_digest(found))
    assert (told["finished"], told["verdict"], told["counts"]["skipped"]) == (False, None, 0)
    assert told["counts"]["cancelled"] == 5
    assert "Not finished" in junit(found)
    assert report(path).out.startswith("## Not finished: ")
