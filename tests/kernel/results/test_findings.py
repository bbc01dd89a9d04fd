"""What a person is told besides the numbers, as sentences with a hint."""

from __future__ import annotations

from typing import Any

from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_kernel.results.findings import Finding, findings
from evalsi_kernel.scores.tally import Tally
from tests.kernel.data_path import PASS, Lines, failed, instance, read, scored, skipped

GOOD = scored({"passed": True})
ROWS = [{"question": "2+2?", "answer": "4", "topic": "sums"}] * 3


def intake_of(*words: str, rows: list[dict[str, Any]] | None = None) -> Intake:
    return read(Intake(Lines(ROWS if rows is None else rows), parse_mapping(words)))


def tally_of(*outcomes: Outcome | None, name: str = "exact-match") -> Tally:
    made = Tally(instance(name, PASS), 0.95, keep_values=False, clustered=False)
    made.add(list(outcomes), None)
    return made


def found(*outcomes: Outcome | None, words: tuple[str, ...] = ()) -> list[Finding]:
    return findings([tally_of(*outcomes)], intake_of(*words), len(outcomes))


def test_when_all_is_well_there_is_nothing_to_say() -> None:
    assert found(GOOD, GOOD, skipped()) == []


def test_every_record_skipped_for_a_missing_column_is_a_problem_that_names_the_columns_and_the_flag() -> None:
    assert found(skipped(), skipped(), skipped()) == [
        Finding(
            "problem",
            "exact-match skipped every record: record has no reference.",
            "The columns are: question, answer, topic. Use --map reference=COLUMN if one of them holds it.",
        )
    ]


def test_a_nested_field_is_mapped_by_its_whole_name() -> None:
    (finding,) = found(skipped("record has no usage.latency_ms"))
    assert "Use --map usage.latency_ms=COLUMN" in finding.hint


def test_every_record_skipped_for_another_reason_says_the_reason_alone() -> None:
    assert found(skipped("the answer is empty."), skipped("the answer is empty.")) == [
        Finding("problem", "exact-match skipped every record: the answer is empty.")
    ]


def test_what_a_condition_left_out_of_every_record_is_as_it_was_meant() -> None:
    left_out = skipped("when is false: record.id == 'a'")
    assert found(left_out, left_out) == [
        Finding("notice", "exact-match skipped every record: when is false: record.id == 'a'.")
    ]
    assert [one.severity for one in found(left_out, skipped("the answer is empty."))] == ["problem"]


def test_a_mapped_column_that_is_missing_in_every_record_says_so_instead_and_suggests_the_nearest() -> None:
    assert found(skipped(), skipped(), skipped(), words=("reference=anwser",)) == [
        Finding(
            "problem",
            "The column 'anwser', mapped to reference, is missing in every record.",
            'Did you mean "answer"? The columns are: question, answer, topic.',
        ),
        Finding("problem", "exact-match skipped every record: record has no reference."),
    ]


def test_a_mapped_column_that_is_missing_in_some_records_is_a_notice_with_their_number() -> None:
    rows = [{"a": "x", "b": "y"}, {"b": "y"}, {"b": "y"}]
    assert findings([tally_of(GOOD, GOOD, GOOD)], intake_of("output=a", rows=rows), 3) == [
        Finding("notice", "The column 'a', mapped to output, is missing in 2 of 3 records.")
    ]


def test_every_record_failed_is_a_problem_with_the_reason() -> None:
    assert found(failed("no luck"), failed("no luck")) == [
        Finding("problem", "exact-match failed on every record: no luck.")
    ]


def test_of_several_reasons_the_commonest_is_told_with_its_number() -> None:
    (finding,) = found(failed("a"), failed("b."), failed("b."))
    assert finding.message == "exact-match failed on every record: 2 times, b."
    (finding,) = found(failed("a"), failed("b"))
    assert finding.message == "exact-match failed on every record: for instance, a."


def test_some_records_failed_is_a_notice_with_their_number() -> None:
    assert found(GOOD, failed("no luck!"), failed("no luck!")) == [
        Finding("notice", "exact-match failed on 2 of 3 records: no luck!")
    ]


def test_a_failure_without_a_message_still_is_told() -> None:
    assert found(GOOD, failed("")) == [Finding("notice", "exact-match failed on 1 of 2 records.")]


def test_some_skipped_and_the_others_failed_is_a_problem_with_both_numbers() -> None:
    assert found(skipped(), failed("no luck"), failed("no luck")) == [
        Finding("problem", "exact-match scored no record: 1 was skipped, 2 failed: no luck.")
    ]


def test_an_evaluator_that_answered_nothing_at_all_is_a_problem() -> None:
    tally = Tally(instance("bleu", PASS, scope="dataset"), 0.95, keep_values=False, clustered=False)
    tally.add([("state", {"state": 1})], None)
    assert findings([tally], intake_of(), 1) == [Finding("problem", "bleu gave no score.", "Correct the evaluator.")]


def test_a_run_that_was_stopped_is_not_the_evaluators_fault() -> None:
    assert found(skipped(), None) == []
    assert findings([tally_of()], intake_of(rows=[]), 0) == []


def test_columns_that_differ_from_the_metadata_of_their_record_are_a_notice() -> None:
    rows = [{"topic": "a", "metadata": {"topic": "b"}}, {"topic": "b", "metadata": {"topic": "b"}}]
    assert findings([tally_of(GOOD, GOOD)], intake_of(rows=rows), 2) == [
        Finding(
            "notice",
            "The column 'topic' differs from metadata.topic in 1 of 2 records; the latter is kept.",
            "To take the column's, add --map metadata.topic=topic.",
        )
    ]


def test_problems_come_first_and_otherwise_the_order_is_that_of_the_evaluators() -> None:
    tallies = [
        tally_of(GOOD, failed(), name="a"),
        tally_of(failed(), failed(), name="b"),
        tally_of(GOOD, failed(), name="c"),
        tally_of(skipped(), skipped(), name="d"),
    ]
    told = [finding.message.split()[0] for finding in findings(tallies, intake_of(), 2)]
    assert told == ["b", "d", "a", "c"]


def test_a_finding_reads_as_one_text() -> None:
    assert str(Finding("notice", "It is so.", "Change it.")) == "It is so. Change it."
    assert str(Finding("notice", "It is so.")) == "It is so."
