"""`evalsi analyze slice`: a metric by the values of a metadata key, with the kernel's statistics."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalsi_kernel.scores.intervals import clustered_wilson, wilson
from tests.analytics.asking import analyze, nightly, rows
from tests.cli.running import QA, evalsi
from tests.comparison.results_files import verdicts, write_results


def test_the_guides_slice_has_a_row_a_run_and_value(tmp_path: Path) -> None:
    nightly(tmp_path, 1)
    nightly(tmp_path, 2)
    done = analyze("slice", "exact", "--by", "topic", "--results", "nightly-*.json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    header, *lines = done.out.splitlines()
    assert header.split() == ["run", "topic", "n", "mean", "low", "high", "skipped", "errors"]
    assert [line.split()[:4] for line in lines] == [
        ["capitals-1", "geo", "2", "1"],
        ["capitals-1", "math", "2", "0"],
        ["capitals-2", "geo", "2", "1"],
        ["capitals-2", "math", "2", "0"],
    ]


def test_a_slice_is_of_the_runs_that_a_project_labels_ids_and_the_newest_leave(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        suite = "smoke" if number == 2 else "nightly"
        nightly(tmp_path, number, labels={"suite": suite}, manifest={"project": "other" if number == 3 else "support"})
    words = ("slice", "exact", "--by", "topic", "--results", "nightly-*.json", "--format", "json")
    for flags, runs in (
        (["--project", "support", "--label", "suite=nightly"], {"capitals-1"}),
        (["--project", "support"], {"capitals-1", "capitals-2"}),
        (["--label", "suite=nightly"], {"capitals-1", "capitals-3"}),
        (["--limit", "100"], {"capitals-1", "capitals-2", "capitals-3"}),
        (["--limit", "1"], {"capitals-3"}),
        (["--run", "capitals-1", "--run", "capitals-2"], {"capitals-1", "capitals-2"}),
    ):
        found = rows(analyze(*words, *flags, cwd=tmp_path))
        assert {row["run"] for row in found} == runs, flags
        assert len(found) == 2 * len(runs)


def test_intervals_are_wilsons_for_verdicts_and_errors_and_skips_are_apart(tmp_path: Path) -> None:
    results = ("--results", nightly(tmp_path, 1), "--format", "json")
    geo, _ = rows(analyze("slice", "exact", "--by", "topic", *results, "--level", "0.9"))
    expected = wilson(2, 2, 0.9)
    assert (geo["low"], geo["high"]) == pytest.approx((expected.low, expected.high))
    geo, math = rows(analyze("slice", "f1", "--by", "topic", *results))
    assert geo == {"run": "capitals-1", "topic": "geo", "n": 1, "mean": 0.25, "low": None, "high": None, "skipped": 0,
                   "errors": 1}  # fmt: skip
    assert (math["n"], math["mean"], math["skipped"], math["errors"]) == (1, 0.75, 1, 0)


def test_one_slice_of_everything_has_the_numbers_of_the_run(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    done = evalsi("eval", "--data", QA, "--evaluators", "token-f1", "--output", path, "--format", "json", "--quiet")
    (summary,) = json.loads(done.out)["summaries"]
    text = path.read_text("utf-8").replace('"metadata":{', '"metadata":{"all":1,')
    path.write_text(text, encoding="utf-8")
    (row,) = rows(analyze("slice", "token-f1", "--by", "all", "--results", path, "--format", "json"))
    assert (row["n"], row["mean"]) == (summary["n"], pytest.approx(summary["mean"]))
    # The file does not say how far a metric can go, so the upper end is not cut there.
    assert row["low"] == pytest.approx(summary["ci"]["low"])


def test_trials_of_a_record_are_no_new_records(tmp_path: Path) -> None:
    path = write_results(
        tmp_path / "a.json",
        {"exact": verdicts(r1="ppp", r2="ppp")},
        metadata={"r1": {"topic": "geo"}, "r2": {"topic": "geo"}},
    )
    (row,) = rows(analyze("slice", "exact", "--by", "topic", "--results", path, "--format", "json"))
    expected = clustered_wilson([3, 3], [3, 3], 0.95)
    assert expected is not None
    assert (row["n"], row["low"]) == (6, pytest.approx(expected.low))


# The slices of a run that was clustered itself counted its records one by one.
@pytest.mark.parametrize("key", ["book", "of.book", "of.it/b~k"])
def test_what_a_run_was_clustered_by_clusters_its_slices(tmp_path: Path, key: str) -> None:
    *outer, name = key.split(".")
    books = {f"r{number}": {name: f"b{number % 3}"} for number in range(12)}
    metadata = {record: {"topic": "geo", **({"of": book} if outer else book)} for record, book in books.items()}
    path = write_results(
        tmp_path / "a.json",
        {"exact": {f"r{number}": number % 3 > 0 for number in range(12)}},
        metadata=metadata,
        manifest={"summary": {"confidence_level": 0.95, "cluster_by": key, "ci_method": "auto", "seed": 0}},
    )
    (row,) = rows(analyze("slice", "exact", "--by", "topic", "--results", path, "--format", "json"))
    expected = clustered_wilson([0, 4, 4], [4, 4, 4], 0.95)
    assert expected is not None
    assert (row["n"], row["low"]) == (12, pytest.approx(expected.low))


def test_keys_inside_keys_and_records_without_the_key_have_their_rows(tmp_path: Path) -> None:
    results = ("--results", nightly(tmp_path, 1), "--format", "json")
    inside = rows(analyze("slice", "exact", "--by", "who.age", *results))
    assert [(row["who.age"], row["n"]) for row in inside] == [("(none)", 3), ("3", 1)]
    dotted = rows(analyze("slice", "exact", "--by", "a.b", *results))
    assert [(row["a.b"], row["n"]) for row in dotted] == [("(none)", 3), ("1", 1)]


def test_a_misspelt_metric_or_key_is_told_with_the_nearest(tmp_path: Path) -> None:
    results = ("--results", nightly(tmp_path, 1))
    for words, said in (
        (("exct", "--by", "topic"), 'Did you mean "exact"?'),
        (("exact", "--by", "topik"), 'Did you mean "topic"?'),
        (("exact", "--by", "topic", "--level", "95"), "--level is 95"),
    ):
        done = analyze("slice", *words, *results)
        assert (done.code, done.out) == (2, ""), words
        assert said in done.err


def test_labels_have_no_mean(tmp_path: Path) -> None:
    path = write_results(tmp_path / "a.json", {"form": {"r1": "word"}}, metadata={"r1": {"topic": "geo"}})
    done = analyze("slice", "form", "--by", "topic", "--results", path)
    assert done.code == 2
    assert "gives labels, which have no mean" in done.err


def test_a_key_of_too_many_values_is_refused(tmp_path: Path) -> None:
    names = [f"r{number}" for number in range(10_001)]
    path = write_results(
        tmp_path / "a.json", {"exact": dict.fromkeys(names, True)}, metadata={name: {"id": name} for name in names}
    )
    done = analyze("slice", "exact", "--by", "id", "--results", path)
    assert done.code == 2
    assert "more than 10,000 rows" in done.err
