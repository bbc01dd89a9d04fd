"""A record that lacks what a metric needs is skipped, a failure is an error, a bad param is refused."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi import ParamError, Record
from evalsi.testing import Outcome, run_pack
from evalsi_lm_eval.filters import FILTERS, pipeline
from evalsi_lm_eval.metrics import METRICS, MetricRow
from evalsi_lm_eval.texts import ExactMatch

ROWS = [row for row in METRICS if row.of]
CHOICES = {"choices": ["a", "b"], "loglikelihoods": [-1.0, -2.0]}


def outcome(name: str, record: Record, **params: Any) -> Outcome:
    return run_pack("evalsi_lm_eval", name, [record], params).outcomes[0]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.evaluator)
def test_an_empty_record_is_skipped_by_every_metric(row: MetricRow) -> None:
    run = run_pack("evalsi_lm_eval", row.evaluator, [Record(input="?")], {})
    assert run.outcomes[0].kind == "skipped"
    assert run.whole is None or run.whole.kind == "skipped"


LIKELIHOODS = [row for row in ROWS if row.of in ("choice", "continuation", "document")]
BAD: list[Any] = ["-1", [], ["-1.0"], [[1]], [[-1.0, "True"]], [True, False], {"a": 1}, [None]]


@pytest.mark.parametrize("bad", BAD, ids=range(len(BAD)))
@pytest.mark.parametrize("row", LIKELIHOODS, ids=lambda row: row.evaluator)
def test_what_is_no_log_likelihood_is_never_scored(row: MetricRow, bad: Any) -> None:
    record = Record(output="a", reference="a", metadata={"choices": ["a", "b"], "loglikelihoods": bad})
    assert outcome(row.evaluator, record).kind == "skipped"


@pytest.mark.parametrize("name", [row.evaluator for row in ROWS if row.of == "choice"])
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"metadata": CHOICES}, "record has no reference"),
        ({"metadata": CHOICES, "reference": "c"}, "is none of the 2 choices"),
        ({"metadata": CHOICES | {"gold": 2}}, "no place among 2 choices"),
        ({"metadata": CHOICES | {"gold": -1}}, "no place among 2 choices"),
        ({"metadata": CHOICES | {"gold": True}}, "no place among 2 choices"),
        ({"metadata": {"choices": ["a", "b", "c"], "loglikelihoods": [-1.0, -2.0], "gold": 0}}, "the record has 2"),
        ({"metadata": {"choices": "ab", "loglikelihoods": [-1.0, -2.0]}, "reference": "a"}, "not a list of texts"),
    ],
)
def test_a_choice_that_does_not_add_up_is_skipped_with_the_reason(
    name: str, fields: dict[str, Any], reason: str
) -> None:
    found = outcome(name, Record(**fields))
    assert found.kind == "skipped"
    assert reason in str(found.reason) or name == "f1"


def test_several_right_choices_count_where_the_harness_can_say_so() -> None:
    record = Record(reference=["a", "b"], metadata=CHOICES)
    assert outcome("acc", record).passed is True
    for name in ("brier-score", "f1", "mcc"):
        assert "several right choices" in str(outcome(name, record).reason)


def test_accuracy_of_a_continuation_needs_to_know_of_greedy_decoding() -> None:
    assert outcome("acc", Record(metadata={"loglikelihoods": [[-1.0, True]]})).passed is True
    assert "greedy" in str(outcome("acc", Record(metadata={"loglikelihoods": [-1.0]})).reason)
    assert "no metadata.choices" in str(
        outcome("acc", Record(metadata={"loglikelihoods": [[-1.0, True], [-1.0, True]]})).reason
    )


def test_a_filter_that_needs_choices_is_an_error_without_them() -> None:
    filters = [{"function": "multi_choice_regex"}]
    assert outcome("exact-match", Record(output="a", reference="a"), filters=filters).kind == "error"


def test_what_no_filter_made_a_text_of_is_an_error_of_a_metric_of_texts() -> None:
    filters = [{"function": "map", "mapping_dict": {"a": 1}}]
    for name in ("bleu", "chrf", "chrf-plus-plus", "ter"):
        assert outcome(name, Record(output="a", reference="a"), filters=filters).kind == "error"
    assert outcome("exact-match", Record(output="b", reference="a"), filters=filters).kind == "error"


def test_too_few_answers_for_the_first_k_are_an_error() -> None:
    filters = [{"function": "take_first_k", "k": 3}]
    assert outcome("exact-match", Record(output="a", reference="a"), filters=filters).kind == "error"


@pytest.mark.parametrize(
    ("filters", "why"),
    [
        ([{"function": "regexp"}], "there is no filter 'regexp'"),
        ([{"regex_pattern": "a"}], "there is no filter None"),
        ([{"function": "regex", "regex_pattern": "("}], "regex refuses its params"),
        ([{"function": "regex", "pattern": "a"}], "regex refuses its params"),
        ([{"function": "take_first_k"}], "take_first_k refuses its params"),
        ([{"function": "map", "mapping_dict": "a"}], "map refuses its params"),
        ([{"function": "take_first"}, {"function": "lowercase"}], "put it last"),
        *[([{"function": row.name}], row.why_not.split(":")[0]) for row in FILTERS if row.why_not],
    ],
)
def test_filters_are_tried_out_when_the_evaluator_is_opened(filters: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(ParamError, match=why):
        pipeline(filters)


def test_a_pattern_to_ignore_that_is_none_is_refused() -> None:
    with pytest.raises(ParamError, match="no regular expression"):
        ExactMatch(regexes_to_ignore=["("])
