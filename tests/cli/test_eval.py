"""Test the output and the flags of `evalsi eval`."""

from __future__ import annotations

import json
import math
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, QA, evalsi, write_jsonl
from tests.untimed import untimed

TABLE = """\
6 records · 3 evaluators

metric         n  mean     95% CI              skipped  errors
exact-match    6  0.333    [0.097, 0.700]            0       0
numeric-match  3  0.667    [0.208, 0.939]            3       0
latency        6  517.500  [276.409, 758.591]        0       0
"""


def test_the_first_command_of_the_readme_prints_the_table_of_the_guide() -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "exact-match,numeric-match,latency")
    assert (done.code, done.out) == (0, TABLE)


def test_every_way_to_name_an_evaluator_names_the_same_one() -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "builtin/exact-match,core/numeric-match@3,latency")
    assert (done.code, done.out) == (0, TABLE)


def test_evalsid_is_another_name_for_evalsi() -> None:
    evalsid = Path(EVALSI).with_name("evalsid")
    done = subprocess.run([evalsid, "version"], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == evalsi("version").out


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rows = [
        {"question": "2+2", "deep": {"answer": ["4", "four"]}, "reply": "four", "topic": "sums", "ms": 10},
        {"question": "2+3", "deep": {"answer": ["5", "five"]}, "reply": "FIVE", "topic": "sums", "ms": 20},
        {"question": "Capital of Peru", "deep": {"answer": ["Lima"]}, "reply": "Quito", "topic": "towns", "ms": 30},
        {"question": "Capital of Chile", "deep": {"answer": ["Santiago"]}, "reply": "Santiago", "topic": "towns"},
    ]
    return write_jsonl(tmp_path / "answers.jsonl", rows)


MAPPED = ("--map", "input=question", "--map", "output=reply", "--map", "reference=deep.answer")


def summaries(*words: str | Path) -> dict[str, dict[str, object]]:
    done = evalsi("eval", *words, "--format", "json")
    assert done.code == 0, done.err
    return {summary["metric"]: summary for summary in json.loads(done.out)["summaries"]}


def test_map_reaches_nested_fields_and_a_list_of_references_means_any_of_them(answers: Path) -> None:
    found = summaries("--data", answers, *MAPPED, "--evaluators", "exact-match")
    assert (found["exact-match"]["n"], found["exact-match"]["mean"]) == (4, 0.75)


def test_a_column_that_some_records_lack_is_told_and_those_are_skipped(answers: Path) -> None:
    words = ("--data", answers, *MAPPED, "--map", "usage.latency_ms=ms", "--evaluators", "latency")
    done = evalsi("eval", *words, "--format", "json")
    [latency] = json.loads(done.out)["summaries"]
    assert (latency["n"], latency["skipped"], latency["mean"]) == (3, 1, 20.0)
    assert "The column 'ms', mapped to usage.latency_ms, is missing in 1 of 4 records." in done.err


def test_param_sets_a_param_and_reads_it_as_json_when_it_can(answers: Path) -> None:
    words = ("--data", answers, *MAPPED, "--evaluators", "exact-match")
    assert summaries(*words, "--param", "exact-match.normalize=false")["exact-match"]["mean"] == 0.5


def test_an_evaluator_can_run_twice_under_two_names(answers: Path) -> None:
    found = summaries(
        "--data",
        answers,
        *MAPPED,
        "--evaluators",
        "strict=exact-match,loose=exact-match",
        "--param",
        "strict.normalize=false",
    )
    assert (found["strict"]["mean"], found["loose"]["mean"]) == (0.5, 0.75)


def test_a_param_of_a_name_of_this_run_reaches_only_that_one(answers: Path) -> None:
    words = ("--data", answers, *MAPPED, "--evaluators", "loose=exact-match,exact-match")
    found = summaries(*words, "--param", "exact-match.normalize=false")
    assert (found["exact-match"]["mean"], found["loose"]["mean"]) == (0.5, 0.75)


def test_limit_scores_the_first_records_only(answers: Path) -> None:
    assert summaries("--data", answers, *MAPPED, "--limit", "3", "--evaluators", "exact-match")["exact-match"]["n"] == 3


def test_cluster_by_makes_intervals_of_whole_clusters(answers: Path) -> None:
    words = ("--data", answers, *MAPPED, "--evaluators", "exact-match")
    plain, clustered = summaries(*words), summaries(*words, "--cluster-by", "topic")
    assert clustered["exact-match"]["clusters"] == 2
    assert clustered["exact-match"]["ci"] != plain["exact-match"]["ci"]


def test_confidence_changes_the_level_and_the_width() -> None:
    found = summaries("--data", QA, "--evaluators", "latency", "--confidence", "0.8")["latency"]
    assert found["ci"]["level"] == 0.8  # type: ignore[index]
    assert evalsi("eval", "--data", QA, "--evaluators", "latency", "--confidence", "0.8").out.count("80% CI") == 1


def test_ci_bootstrap_resamples_also_the_metrics_of_the_whole_data() -> None:
    found = summaries(
        "--data", QA, "--evaluators", "latency,corpus-bleu", "--param", "corpus-bleu.max_n=1", "--ci", "bootstrap"
    )
    assert found["latency"]["ci"]["method"] == "bootstrap"  # type: ignore[index]
    assert found["corpus-bleu"]["n"] == 6
    interval = found["corpus-bleu"]["ci"]
    assert isinstance(interval, dict)
    assert interval["low"] < found["corpus-bleu"]["mean"] <= interval["high"]


# Ten records of one cluster were resampled as ten independent ones, so that the interval was as narrow as without it.
def test_a_metric_of_the_whole_data_has_no_interval_where_records_are_clustered() -> None:
    found = summaries(
        "--data", QA, "--evaluators", "corpus-bleu", "--param", "corpus-bleu.max_n=1", "--cluster-by", "topic"
    )
    assert found["corpus-bleu"]["ci"] is None
    assert found["corpus-bleu"]["mean"] is not None


def test_output_holds_manifest_summaries_results_and_records(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert evalsi("eval", "--data", QA, "--evaluators", "exact-match,numeric-match", "--output", path).code == 0
    found = json.loads(path.read_text("utf-8"))
    assert found["manifest"]["status"] == "complete"
    assert found["manifest"]["dataset"]["records"] == 6
    assert [one["metric"] for one in found["summaries"]] == ["exact-match", "numeric-match"]
    assert len(found["results"]) == 12
    assert [record["id"] for record in found["records"]] == [
        json.loads(line)["id"] for line in QA.read_text().splitlines()
    ]
    assert {one["outcome"] for one in found["results"]} == {"scored", "skipped"}


def test_the_records_of_a_results_file_score_again_to_the_same_numbers(tmp_path: Path) -> None:
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    evaluators = ("--evaluators", "exact-match,numeric-match,latency")
    evalsi("eval", "--data", QA, *evaluators, "--output", first)
    old = json.loads(first.read_text("utf-8"))
    data = write_jsonl(tmp_path / "records.jsonl", old["records"])
    assert evalsi("eval", "--data", data, *evaluators, "--output", again).code == 0
    new = json.loads(again.read_text("utf-8"))
    assert (new["summaries"], untimed(new["results"])) == (old["summaries"], untimed(old["results"]))


def test_format_json_is_json_without_nan_and_holds_findings(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "one.jsonl", [{"output": "a"}])
    done = evalsi("eval", "--data", data, "--evaluators", "length", "--format", "json")

    def refuse(name: str) -> float:
        raise AssertionError(name)

    found = json.loads(done.out, parse_constant=refuse)
    assert found["summaries"][0]["ci"] is None
    assert found["findings"] == []


def test_a_results_file_is_data_that_is_scored_again_to_the_same_numbers(tmp_path: Path) -> None:
    words = ["--evaluators", "exact-match,numeric-match,latency,corpus-bleu", "--quiet", "--output"]
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    assert evalsi("eval", "--data", QA, *words, first).code == 0
    assert evalsi("eval", "--data", first, *words, again).code == 0
    one, other = json.loads(first.read_text("utf-8")), json.loads(again.read_text("utf-8"))
    for part in ("summaries", "results", "records"):
        assert one[part] == other[part]


def test_format_markdown_is_a_markdown_table() -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "exact-match", "--format", "markdown")
    assert "| metric | n | mean | 95% CI | skipped | errors |" in done.out
    assert "| exact-match | 6 | 0.333 | [0.097, 0.700] | 0 | 0 |" in done.out


def test_quiet_says_nothing_on_stderr(answers: Path) -> None:
    words = ("--data", answers, *MAPPED, "--map", "usage.latency_ms=ms", "--evaluators", "latency", "--quiet")
    assert evalsi("eval", *words).err == ""


def test_results_stand_on_stdout_alone() -> None:
    done = evalsi("eval", "--data", QA, "--evaluators", "exact-match")
    assert done.out.startswith("6 records")
    assert "exact-match" not in done.err


CUSTOM = '''
from evalsi import Record, Score, evaluator

@evaluator
def polite(record: Record, *, word: str = "please") -> Score:
    """Says please."""
    return Score(passed=word in record.output.as_text().lower())

def words(record):
    print("a print breaks nothing")
    return len(record.output.as_text().split())
'''


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "my_evals.py").write_text(CUSTOM)
    (tmp_path / "acme").mkdir()
    (tmp_path / "acme" / "__init__.py").write_text("")
    (tmp_path / "acme" / "metrics.py").write_text(CUSTOM)
    write_jsonl(tmp_path / "data.jsonl", [{"output": "Please sit"}, {"output": "Sit"}])
    return tmp_path


def test_an_own_evaluator_runs_from_a_file_and_from_a_module_beside_the_packs(project: Path) -> None:
    words = "length,./my_evals.py:polite,own=acme.metrics:words"
    done = evalsi("eval", "--data", "data.jsonl", "--evaluators", words, "--format", "json", cwd=project)
    found = {one["metric"]: one for one in json.loads(done.out)["summaries"]}
    assert (found["polite"]["kind"], found["polite"]["mean"], found["polite"]["ci"]["method"]) == (
        "pass",
        0.5,
        "wilson",
    )
    assert math.isclose(found["own"]["mean"], 1.5)


def test_an_own_evaluator_takes_params(project: Path) -> None:
    words = ("--evaluators", "./my_evals.py:polite", "--param", "polite.word=sit", "--format", "json")
    [found] = json.loads(evalsi("eval", "--data", "data.jsonl", *words, cwd=project).out)["summaries"]
    assert found["mean"] == 1.0


def test_record_timeout_is_the_time_of_a_record_in_an_evaluator_of_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("def stuck(record):\n    while True:\n        pass\n")
    (tmp_path / "one.jsonl").write_text('{"output": "a"}\n')
    done = evalsi(
        "eval", "--data", "one.jsonl", "--evaluators", "./slow.py:stuck", "--record-timeout", "0.5", cwd=tmp_path
    )
    assert done.code == 1
    assert "No answer for this record within 0.5 s." in done.err
    wrong = evalsi(
        "eval", "--data", "one.jsonl", "--evaluators", "./slow.py:stuck", "--record-timeout", "0", cwd=tmp_path
    )
    assert (wrong.code, "record_timeout_s is 0" in wrong.err) == (2, True)
