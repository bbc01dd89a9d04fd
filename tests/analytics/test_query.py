"""`evalsi analyze query`: what the tables hold, how they are asked, and that a question reaches nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from evalsi_analytics.database import load, opened
from tests.analytics.asking import analyze, ask, nightly, rows
from tests.cli.running import QA, evalsi
from tests.comparison.replayed import CAPITALS, replayed_spec
from tests.comparison.results_files import verdicts, write_results

THE_GUIDES = "select model, avg(value) from scores join runs using (run_id) group by 1"
BOUND_S = 60.0


def test_the_guides_question_runs_as_it_is_written(tmp_path: Path) -> None:
    nightly(tmp_path, 1)
    nightly(tmp_path, 2, model="large")
    done = analyze("query", THE_GUIDES, "--results", "nightly-*.json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    header, *lines = done.out.splitlines()
    assert header.split() == ["model", 'avg("value")']
    assert sorted(line.split() for line in lines) == [["large", "0.5"], ["small", "0.5"]]


def test_errors_and_skips_are_rows_without_a_value_and_move_no_mean(tmp_path: Path) -> None:
    path = nightly(tmp_path, 1)
    found = ask("select * exclude (run_id, evaluator_ref) from scores where metric = 'f1' order by record_id",
                "--results", path)  # fmt: skip
    assert [(row["record_id"], row["outcome"], row["value"], row["reason"], row["kind"]) for row in found] == [
        ("r1", "scored", 0.25, None, "number"),
        ("r2", "error", None, "boom", "number"),
        ("r3", "skipped", None, "there is no reference", "number"),
        ("r4", "scored", 0.75, None, "number"),
    ]
    assert ask("select avg(value) a, count(value) n from scores where metric = 'f1'", "--results", path) == [
        {"a": 0.5, "n": 2}
    ]


def test_how_long_an_evaluation_took_is_a_column_also_of_a_database_that_had_none(tmp_path: Path) -> None:
    db = tmp_path / "old.duckdb"
    first = nightly(tmp_path, 1)
    ask("select 1", "--results", first, "--db", db)
    with duckdb.connect(str(db)) as connection:
        connection.execute("ALTER TABLE scores DROP COLUMN duration_ms")
    second = nightly(tmp_path, 2)
    whole = json.loads(second.read_text())
    for result, took_ms in zip(whole["results"], (812.5, 3), strict=False):
        result["duration_ms"] = took_ms
    second.write_text(json.dumps(whole))
    asked = (
        "select run_id, count(*) n, count(duration_ms) told, max(duration_ms) slowest from scores group by 1 order by 1"
    )
    assert ask(asked, "--results", second, "--db", db) == [
        {"run_id": "capitals-1", "n": 8, "told": 0, "slowest": None},
        {"run_id": "capitals-2", "n": 8, "told": 2, "slowest": 812.5},
    ]


def test_verdicts_are_one_and_zero_and_labels_have_no_value(tmp_path: Path) -> None:
    path = write_results(
        tmp_path / "a.json", {"exact": {"r1": True, "r2": False}, "form": {"r1": "word", "r2": "line"}}
    )
    found = ask("select metric, kind, value, passed, label from scores order by metric, record_id", "--results", path)
    assert [tuple(row.values()) for row in found] == [
        ("exact", "pass", 1.0, True, None),
        ("exact", "pass", 0.0, False, None),
        ("form", "label", None, None, "word"),
        ("form", "label", None, None, "line"),
    ]


def test_a_run_has_its_name_model_moment_verdict_commit_and_labels(tmp_path: Path) -> None:
    path = nightly(tmp_path, 3, labels={"suite": "nightly"})
    (row,) = ask("select * exclude (manifest, summaries) from runs", "--results", path)
    assert (row["run_id"], row["name"], row["project"], row["model"]) == ("capitals-3", "capitals", "support", "small")
    assert (row["status"], row["verdict"], row["commit"], row["branch"]) == ("complete", "pass", "c3", "main")
    assert row["started_at"].startswith("2026-11-03T02:00:00")
    assert json.loads(row["labels"]) == {"suite": "nightly"}
    assert row["source"] == str(path)


def test_records_hold_texts_as_they_are_and_the_rest_as_json(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "Hi"}]}
    path = nightly(tmp_path, 1, inputs={"r1": chat, "r2": 'A "text"\nof lines'})
    found = ask(
        "select record_id, input, output, metadata ->> 'topic' as topic from records order by 1 limit 2",
        "--results", path,
    )  # fmt: skip
    assert json.loads(found[0].pop("input")) == chat
    assert found == [
        {"record_id": "r1", "output": "Answer r1.", "topic": "geo"},
        {"record_id": "r2", "input": 'A "text"\nof lines', "output": "Answer r2.", "topic": "geo"},
    ]


def test_trials_are_rows_of_their_own_and_meet_their_records(tmp_path: Path) -> None:
    path = write_results(tmp_path / "a.json", {"exact": verdicts(r1="ppf", r2="ff")})
    found = ask("select record_id, trial, value from scores join records using (run_id, record_id, trial) order by all",
                "--results", path)  # fmt: skip
    assert [tuple(row.values()) for row in found] == [
        ("r1", 1, 1.0), ("r1", 2, 1.0), ("r1", 3, 0.0), ("r2", 1, 0.0), ("r2", 2, 0.0)
    ]  # fmt: skip


def test_a_real_file_has_its_own_means_in_the_tables(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    words = ("--data", QA, "--evaluators", "exact-match,numeric-match,token-f1", "--output", path)
    assert evalsi("eval", *words, "--quiet").code == 0
    whole = json.loads(path.read_text("utf-8"))
    (tmp_path / "pretty.json").write_text(json.dumps({**whole, "judge_replies": []}, indent=2), encoding="utf-8")
    for name in ("results.json", "pretty.json"):
        found = ask("select metric, avg(value) mean, count(value) n, count(*) filter (outcome = 'skipped') skipped "
                    "from scores group by 1", "--results", tmp_path / name)  # fmt: skip
        by_metric = {row.pop("metric"): row for row in found}
        for summary in whole["summaries"]:
            expected = {key: summary[key] for key in ("mean", "n", "skipped")}
            assert by_metric[summary["metric"]] == pytest.approx(expected)
        assert ask("select count(*) n from records", "--results", tmp_path / name) == [{"n": 6}]


def test_a_run_of_a_spec_has_its_id_its_name_its_trials_and_its_answers(tmp_path: Path) -> None:
    spec = replayed_spec(tmp_path, {**CAPITALS, "Kenya": "Mombasa"}, least=0.5, trials=2)
    done = evalsi("run", "-f", spec, "--output", "results.json", cwd=tmp_path)
    assert done.code == 0, done.err
    found = ask(
        "select run_id, name, trials, verdict, count(*) n, avg(value) mean, "
        "any_value(output) filter (record_id = 'Kenya') said "
        "from runs join scores using (run_id) join records using (run_id, record_id, trial) group by all",
        "--results", tmp_path / "results.json",
    )  # fmt: skip
    told = {"run_id": "capitals-1", "name": "capitals", "trials": 2, "verdict": "pass"}
    assert found == [{**told, "n": 8, "mean": 0.75, "said": "Mombasa"}]


def test_without_results_files_every_run_here_is_asked(tmp_path: Path) -> None:
    for _ in range(2):
        spec = replayed_spec(tmp_path, CAPITALS, least=0.5, trials=1)
        assert evalsi("run", "-f", spec, "--quiet", cwd=tmp_path).code == 0
    count = ("query", "select count(*) n from runs", "--format", "json")
    assert rows(analyze(*count, cwd=tmp_path)) == [{"n": 2}]
    assert rows(analyze(*count, "--run", "capitals-2", cwd=tmp_path)) == [{"n": 1}]
    (tmp_path / "elsewhere").mkdir()
    db = ("--db", nightly_database(tmp_path / "elsewhere"))
    assert rows(analyze(*count, *db, cwd=tmp_path)) == [{"n": 1}]


def nightly_database(folder: Path) -> Path:
    """A database that keeps one run."""
    ask("select 1", "--results", nightly(folder, 1), "--db", folder / "nightly.duckdb")
    return folder / "nightly.duckdb"


# -- the database that stays ---------------------------------------------------------------------------------------


def test_a_database_keeps_the_tables_and_loads_each_file_once(tmp_path: Path) -> None:
    first, db = nightly(tmp_path, 1), tmp_path / "nightly.duckdb"
    count = "select count(*) n from scores"
    assert ask(count, "--results", first, "--db", db) == [{"n": 8}]
    assert ask(count, "--results", first, nightly(tmp_path, 2), "--db", db) == [{"n": 16}]
    first.unlink()
    assert ask(count, "--db", db) == [{"n": 16}]


def test_a_run_that_went_on_takes_the_place_of_what_was_loaded_of_it(tmp_path: Path) -> None:
    db = tmp_path / "nightly.duckdb"
    partial = nightly(tmp_path, 1, manifest={"status": "partial"})
    ask("select 1", "--results", partial, "--db", db)
    assert ask("select status, count(*) n from runs join scores using (run_id) group by 1",
               "--results", nightly(tmp_path, 1), "--db", db) == [{"status": "complete", "n": 8}]  # fmt: skip


def test_two_machines_runs_of_one_id_both_stay(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = nightly(tmp_path / "other", 1, manifest={"started_at": "2026-11-09T02:00:00.000+00:00"})
    found = ask("select run_id from runs order by started_at", "--results", nightly(tmp_path, 1), other)
    assert found[0] == {"run_id": "capitals-1"}
    assert found[1]["run_id"].startswith("capitals-1@")


def test_a_file_that_cannot_be_loaded_leaves_the_database_as_it_was(tmp_path: Path) -> None:
    db, good, bad = tmp_path / "nightly.duckdb", nightly(tmp_path, 1), tmp_path / "bad.json"
    ask("select 1", "--results", good, "--db", db)
    bad.write_text(nightly(tmp_path, 2).read_text()[:-400])
    done = analyze("query", "select 1", "--results", tmp_path / "nightly-2.json", bad, "--db", db)
    assert (done.code, done.out) == (1, "")
    assert "bad.json is cut off" in done.err
    assert ask("select count(*) n from runs", "--db", db) == [{"n": 1}]


@pytest.mark.parametrize("content", [b"not a database, and long enough to look like one" * 400, b""])
def test_a_file_that_is_no_database_is_refused_and_stays(tmp_path: Path, content: bytes) -> None:
    db = tmp_path / "notes.txt"
    db.write_bytes(content)
    done = analyze("query", "select 1", "--results", nightly(tmp_path, 1), "--db", db)
    assert done.code == 1
    assert "notes.txt cannot be used" in done.err
    assert db.read_bytes() == content


# -- which runs ----------------------------------------------------------------------------------------------------


def test_labels_project_ids_and_the_newest_narrow_all_three_tables(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        suite = "smoke" if number == 2 else "nightly"
        nightly(tmp_path, number, labels={"evals.si/suite": suite}, manifest={"project": f"p{number}"})
    db = ("--db", tmp_path / "all.duckdb")
    ask("select 1", "--results", str(tmp_path / "nightly-*.json"), *db)
    counts = (
        "select (select count(*) from runs) r, (select count(*) from scores) s, (select count(*) from records) c, "
        "(select max(run_id) from runs) last"
    )
    for words, runs, last in (
        (["--label", "evals.si/suite=nightly"], 2, "capitals-3"),
        (["--label", "evals.si/suite=nightly", "--project", "p1"], 1, "capitals-1"),
        (["--limit", "2"], 2, "capitals-3"),
        (["--limit", "1"], 1, "capitals-3"),
        (["--run", "capitals-1", "--run", "capitals-2"], 2, "capitals-2"),
    ):
        assert ask(counts, *db, *words) == [{"r": runs, "s": 8 * runs, "c": 4 * runs, "last": last}], words


def test_a_selection_of_nothing_and_a_misspelt_run_are_wrong_usage(tmp_path: Path) -> None:
    results = ("--results", nightly(tmp_path, 1))
    for words, said in (
        (["--label", "suite=weekly"], "No run is left to ask about"),
        (["--label", "suite"], "--label is 'suite'"),
        (["--run", "capitls-1"], 'Did you mean "capitals-1"?'),
        (["--limit", "0"], "--limit is 0"),
    ):
        done = analyze("query", "select 1", *results, *words)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err


# -- what a question reaches ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('{secret}')",
        "select * from '{secret}'",
        "select * from read_text('{secret}')",
        "select * from glob('{folder}/*')",
        "copy runs to '{folder}/out.csv'",
        "export database '{folder}/out'",
        "attach '{folder}/other.duckdb'",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "drop table runs",
        "delete from scores",
        "select 1; copy runs to '{folder}/out.csv'",
    ],
)
def test_a_question_reads_no_other_file_and_changes_nothing(tmp_path: Path, sql: str) -> None:
    secret, db = tmp_path / "secret.csv", tmp_path / "nightly.duckdb"
    secret.write_text("key\nhunter2\n")
    load(db, [nightly(tmp_path, 1)])
    before = sorted(tmp_path.iterdir())
    with opened(db) as connection:
        with pytest.raises(duckdb.Error) as caught:
            connection.execute(sql.format(secret=secret, folder=tmp_path)).fetchall()
        assert "hunter2" not in str(caught.value)
        assert connection.execute("select count(*) from scores").fetchall() == [(8,)]
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kept", [True, False])
def test_the_command_tells_what_a_question_may_not(tmp_path: Path, kept: bool) -> None:
    db = ("--db", tmp_path / "nightly.duckdb") if kept else ()
    done = analyze("query", f"from read_text('{QA}')", "--results", nightly(tmp_path, 1), *db)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: The SQL cannot be run: Permission Error: Cannot access file ")


def test_sql_that_is_wrong_is_told_in_one_sentence(tmp_path: Path) -> None:
    done = analyze("query", "select modle from runs", "--results", nightly(tmp_path, 1))
    assert done.code == 1
    assert 'Referenced column "modle" not found' in done.err
    assert "Traceback" not in done.err
    assert "LINE 1" not in done.err


# -- forms, and bad words ------------------------------------------------------------------------------------------


def test_rows_are_printed_as_csv_json_and_a_table(tmp_path: Path) -> None:
    values = ["'a,\"b' as t", "1.5::double as f", "null as n", "12::hugeint as h", "[1, null] as l", "true as b"]
    sql = f"select {', '.join(values)}, 2.5 as d, 'x' as t"
    results = ("--results", nightly(tmp_path, 1))
    assert analyze("query", sql, *results, "--format", "csv").out == (
        't,f,n,h,l,b,d,t\n"a,""b",1.5,,12,"[1, None]",True,2.5,x\n'
    )
    assert rows(analyze("query", sql, *results, "--format", "json")) == [
        {"t": 'a,"b', "f": 1.5, "n": None, "h": 12, "l": [1, None], "b": True, "d": 2.5, "t_2": "x"}
    ]
    lines = analyze("query", sql, *results).out.splitlines()
    assert lines[1].split() == ['a,"b', "1.5", "-", "12", "[1,", "None]", "True", "2.5", "x"]


def test_control_characters_do_not_reach_the_terminal(tmp_path: Path) -> None:
    done = analyze("query", "select chr(27) || '[31mred' as x", "--results", nightly(tmp_path, 1))
    assert "\x1b" not in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "needs to know what to do"),
        (("query", "select 1"), "There is nothing to ask about"),
        (("query", "select 1", "--results", "nothing-*.json"), "nothing-*.json matches no file"),
        (("query", "select 1", "--results", "nothing.json"), "nothing.json is not there"),
        (("query", "select 1", "--db", "nothing.duckdb"), "There is nothing to ask about"),
        (("query", "select 1", "--server", "http://localhost"), "--server"),
    ],
)
def test_wrong_words_are_wrong_usage(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = analyze(*words, cwd=tmp_path)
    assert done.code == 2
    assert said in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is cut off"),
        ("[]", "is no results file of Evals.si"),
        ("nonsense", "is no results file"),
        ('{"schema_version": 7}', "is a results file of version 7"),
        ('{"schema_version": 1}', "is no results file of Evals.si"),
    ],
)
def test_what_is_no_results_file_is_an_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "a.json").write_text(text)
    done = analyze("query", "select 1", "--results", tmp_path / "a.json")
    assert (done.code, done.out) == (1, "")
    assert said in done.err


def test_without_duckdb_it_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from evalsi_cli.main import main\n"
        f"sys.exit(main(['analyze', 'query', 'select 1', '--results', {str(nightly(tmp_path, 1))!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=False)
    assert done.returncode == 1
    assert "`evalsi analyze` needs DuckDB, which is not installed." in done.stderr
    assert "pip install 'evalsi[analytics]'" in done.stderr


@pytest.mark.slow
def test_a_hundred_thousand_scores_load_in_seconds(tmp_path: Path) -> None:
    path = write_results(tmp_path / "a.json", {"exact": {f"r{number}": number % 3 > 0 for number in range(100_000)}})
    assert ask("select count(*) n, sum(value) passed from scores", "--results", path) == [
        {"n": 100_000, "passed": 66_666}
    ]
