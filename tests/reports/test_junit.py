"""JUnit XML: gates are tests, records only where they are asked for, and the rules of Jenkins and GitLab hold."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from evalsi_reports.junit import junit
from evalsi_reports.redaction import Redaction
from evalsi_reports.report import read_report
from tests.reports.results_files import evaluation, run, write

OUTCOMES = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def read(folder: Path, whole: dict[str, Any], *, with_records: bool = False) -> ElementTree.Element:
    report = read_report(write(folder / "results.json", whole), redaction=Redaction())
    return ElementTree.fromstring(junit(report, with_records=with_records).encode())


def cases(suite: ElementTree.Element) -> dict[str, str]:
    """Each test's name with its outcome."""
    return {case.get("name", ""): case[0].tag if len(case) else "" for case in suite.iter("testcase")}


def check_rules(root: ElementTree.Element) -> None:
    """What the schemas of Jenkins' JUnit plugin and of GitLab ask of elements, attributes and counts."""
    assert root.tag == "testsuites"
    assert {suite.tag for suite in root} <= {"testsuite"}
    for suite in root:
        assert suite.get("name")
        assert set(suite.keys()) <= {"name", "tests", "failures", "errors", "skipped", "time", "timestamp"}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.get("timestamp", "2026-01-01T00:00:00"))
        assert {case.tag for case in suite} <= {"testcase"}
        assert int(suite.get("tests", -1)) == len(suite)
        for outcome, count in OUTCOMES.items():
            assert int(suite.get(count, -1)) == sum(case.find(outcome) is not None for case in suite)
        names = [case.get("name") for case in suite]
        assert len(names) == len(set(names))
        for case in suite:
            assert case.get("classname")
            assert float(case.get("time", "nan")) == 0
            assert len(case) <= 1
            for told in case:
                assert told.get("message") is not None
                assert told.tag in OUTCOMES
                assert set(told.keys()) <= ({"message"} if told.tag == "skipped" else {"message", "type"})
    for count in ("tests", "failures", "errors"):
        assert int(root.get(count, -1)) == sum(int(suite.get(count, 0)) for suite in root)


@pytest.mark.parametrize("with_records", [False, True])
@pytest.mark.parametrize("whole", [run(20), evaluation(20), evaluation(0)])
def test_it_keeps_the_rules(tmp_path: Path, whole: dict[str, Any], with_records: bool) -> None:
    check_rules(read(tmp_path, whole, with_records=with_records))


def test_each_gate_is_a_test(tmp_path: Path) -> None:
    root = read(tmp_path, run(20))
    assert [suite.get("name") for suite in root] == ["gates"]
    assert cases(root) == {
        "exact-match: mean ≥ 0.9": "failure",
        "llm-judge: mean ≥ 0.6": "error",
        "token-f1: mean ≥ 0.3": "",
        "exact-match: mean ≥ 0.5 where topic = prices": "",
    }


def test_undecided_gates_of_a_run_that_passed_all_the_same_are_skipped(tmp_path: Path) -> None:
    whole = run(20)
    whole["gates"] = [gate for gate in whole["gates"] if gate["verdict"] != "fail"]
    whole["verdict"] = "pass"
    assert cases(read(tmp_path, whole))["llm-judge: mean ≥ 0.6"] == "skipped"


def test_without_gates_nothing_fails_but_a_metric_without_a_score_is_an_error(tmp_path: Path) -> None:
    whole = evaluation(20)
    whole["summaries"][0] |= {"n": 0, "mean": None, "ci": None, "errors": 20}
    found = cases(read(tmp_path, whole))
    assert found["exact-match"] == "error"
    assert list(found.values()) == ["error", "", ""]


def test_records_are_tests_where_they_are_asked_for(tmp_path: Path) -> None:
    root = read(tmp_path, evaluation(20), with_records=True)
    found = cases(root[1])
    assert root[1].get("name") == "exact-match"
    assert (found["ferry-0001"], found["ferry-0005"], found["ferry-0003"]) == ("", "failure", "skipped")
    failed = next(case for case in root[1] if case.get("name") == "ferry-0005")
    assert "input: " in (failed[0].text or "")
    assert "ferry-0001 (trial 2)" in cases(read(tmp_path, run(5), with_records=True)[1])
