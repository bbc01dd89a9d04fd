"""conformance.toml: params, the judge's answers, and waivers that give a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evalsi_conformance.findings import as_json, as_text
from tests.conformance.packs import checked, faults, first_fault, write_pack


def test_a_waived_fault_stands_in_the_report_with_its_reason_and_does_not_fail_the_pack(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", "return 2.0")
    waiver = '[[waivers]]\ncheck = "range"\nevaluator = "polite"\nreason = "The scale is open at the top."\n'
    (pack / "conformance.toml").write_text(waiver, "utf-8")
    report = checked(pack)
    assert report.conforms
    assert report.reached == ("loads", "behaves", "trustworthy")
    assert "(waived: The scale is open at the top.)" in as_text(report)


def test_a_waiver_that_nothing_needs_is_told(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    (pack / "conformance.toml").write_text('[[waivers]]\ncheck = "range"\nreason = "Who knows."\n', "utf-8")
    assert checked(pack).notes == ("the waiver of range was not needed; take it away.",)


def test_every_problem_of_the_file_is_told_at_once(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    (pack / "conformance.toml").write_text(
        """
        extra = 1
        params = { polite = 3 }
        [[answers]]
        value = 1
        [[waivers]]
        check = "range"
        reason = " "
        [[waivers]]
        check = "hello"
        reason = "It is shy."
        [[waivers]]
        check = "none"
        reason = "x"
        evaluator = 3
        """,
        "utf-8",
    )
    said = [one.message for one in checked(pack).failed]
    assert [line.partition(". ")[0] for line in said][:4] == [
        "conformance.toml: extra is not known",
        "conformance.toml: params is no table of tables",
        "conformance.toml: answers[0] has no contains, or no value",
        "conformance.toml: waivers[0] has no reason",
    ]
    assert "waivers[1] waives hello, without which nothing can be checked" in said[4]
    assert "waivers[2].check is 'none'" in said[5]
    assert "waivers[2].evaluator is no text" in said[6]


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    (pack / "conformance.toml").write_text("waivers = [", "utf-8")
    assert first_fault(checked(pack), "manifest").message.startswith("conformance.toml cannot be read: ")


def test_evaluators_are_opened_with_the_params_of_the_author(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    (pack / "conformance.toml").write_text('[params.polite]\nstrict = "{folder}"\n', "utf-8")
    fault = first_fault(checked(pack, level="loads"), "open")
    assert f"open with {{'strict': '{pack}'}} was answered with config.param"[:100] in fault.message


def test_the_judge_says_what_the_author_scripted(tmp_path: Path) -> None:
    answers = "return 0.5 if ask().get('text') == 'HALF' else ['error', {'code': 'acme.reply', 'message': 'What?'}]"
    pack = write_pack(tmp_path / "pack", answers, asks='["judge"]')
    assert "scores" in faults(checked(pack, level="behaves"))
    (pack / "conformance.toml").write_text('[[answers]]\ncontains = "Paris"\nvalue = "HALF"\n', "utf-8")
    assert checked(pack, level="behaves").conforms


def test_a_report_is_json_for_programs(tmp_path: Path) -> None:
    table = json.loads(as_json(checked(write_pack(tmp_path / "pack", "return 2.0"))))
    assert (table["pack"], table["conforms"], table["reached"]) == ("acme/tone", False, ["loads", "behaves"])
    (failed,) = {(one["check"], one["evaluator"]) for one in table["findings"] if one["status"] == "failed"}
    assert failed == ("range", "polite")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("{}\n[1]\n", "samples.jsonl, line 2: it is no object."),
        ('{"output": ', "samples.jsonl, line 1: it is no JSON"),
        ('{"id": 1}\n{"id": "1"}\n', "samples.jsonl has no record, or two of one id."),
        ("\n", "samples.jsonl has no record, or two of one id."),
    ],
)
def test_samples_that_cannot_be_read_are_told_by_their_line(lines: str, said: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack")
    (pack / "samples.jsonl").write_text(lines, "utf-8")
    assert said in first_fault(checked(pack), "manifest").message


def test_samples_of_the_pack_are_what_it_is_tried_with(tmp_path: Path) -> None:
    answers = "return 1.0 if record['output'] == {'messages': [{'role': 'user', 'content': 'hi'}]} else 7.0"
    pack = write_pack(tmp_path / "pack", answers)
    row = {"id": "mine", "output": [{"role": "user", "content": "hi"}], "reference": None}
    (pack / "samples.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    assert checked(pack).conforms


@pytest.mark.parametrize(
    "outcome",
    ['["skipped", 3]', '["skipped", {"reason": 3}]', '["scored", [3]]', '["scored", {"value": 1}]', '["error", None]',
     '["scored", [{"value": None}]]', '["scored", [{"name": [], "value": "x"}]]', '["state", {}]', "[{}, {}]"],
)  # fmt: skip
def test_outcomes_of_any_form_end_in_a_report_also_where_their_faults_are_waived(outcome: str, tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", f"return {outcome}")
    checks = ("answers", "scores", "skips", "odd-records", "cancel", "ping")
    waivers = [f'[[waivers]]\ncheck = "{check}"\nreason = "It is odd."\n' for check in checks]
    (pack / "conformance.toml").write_text("".join(waivers), "utf-8")
    report = checked(pack)
    assert report.reached[:2] == ("loads", "behaves"), report.failed
    assert {one.status for one in report.findings if one.check == "answers"} == {"waived"}
