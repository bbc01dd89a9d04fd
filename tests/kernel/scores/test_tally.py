"""Outcomes are checked at the border and added up: what cannot stand becomes an error and never a number."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.packs.pack_info import OutputInfo
from evalsi_kernel.records.chunks import Outcome
from evalsi_kernel.scores import score_check
from evalsi_kernel.scores.score_check import ScoreCheck
from evalsi_kernel.scores.tally import MAX_REASONS, Tally
from tests.kernel.data_path import PASS, failed, instance, scored, skipped, tally

NUMBER = OutputInfo("", "number", minimum=0, maximum=1)
LABEL = OutputInfo("", "label")
GOOD = scored({"value": 0.5})


def added(to: Tally, *outcomes: Outcome | None) -> list[Any]:
    """The column as it is after the tally took it."""
    column = list(outcomes)
    to.add(column, None)
    return column


def error_of(outcome: Outcome, *outputs: OutputInfo, beside: Outcome | None = None) -> str:
    """What is wrong with an outcome; checks that the outcomes beside it stand."""
    judge = tally(*outputs)
    column = added(judge, *([beside, outcome, beside] if beside else [outcome]))
    kind, error = column[1 if beside else 0]
    assert (kind, error["code"], judge.errors) == ("error", "pack.bad_score", 1)
    assert judge.scored == (2 if beside else 0)
    assert judge.error_reasons == {error["message"]: 1}
    message: str = error["message"]
    return message


# -- E8: one score of several that cannot stand ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bad",
    [
        {"value": math.nan},
        {"value": math.inf},
        {"value": 2},
        {"passed": True},
        {"value": "1"},
        {},
        {"value": 0.5, "confidence": 7},
        {"error": {"code": "pack.bad_score", "message": "x", "hint": "", "source": "pack", "retry": "no"}},
    ],
    ids=str,
)
def test_e8_a_score_that_cannot_stand_costs_its_own_metric_only(bad: dict[str, Any]) -> None:
    judge = tally(OutputInfo("good", "pass"), OutputInfo("bad", "number", minimum=0, maximum=1))
    fine = scored({"name": "good", "passed": True}, {"name": "bad", "value": 0.5})
    column = added(judge, fine, scored({"name": "good", "passed": False}, {"name": "bad", **bad}), fine)
    kind, scores = column[1]
    assert (kind, scores[0]) == ("scored", {"name": "good", "passed": False})
    assert scores[1]["name"] == "bad"
    assert scores[1]["error"]["code"] == "pack.bad_score"
    good, other = judge.summaries(None)
    assert (good.n, good.mean, good.errors) == (3, 2 / 3, 0)
    assert (other.n, other.mean, other.errors) == (2, 0.5, 1)
    assert (judge.scored, judge.errors) == (3, 0)
    # What a run keeps and reads again adds up to the same.
    again = tally(OutputInfo("good", "pass"), OutputInfo("bad", "number", minimum=0, maximum=1))
    assert added(again, *column) == column
    assert again.summaries(None) == judge.summaries(None)


def test_e8_a_metric_that_always_failed_is_told() -> None:
    judge = tally()
    added(judge, scored({"name": "a", "value": 1.0}, {"name": "b", "value": math.nan}))
    a, b = judge.told(judge.summaries(None))
    assert (a.metric, a.n, a.errors, b.metric, b.n, b.mean, b.errors) == ("a", 1, 0, "b", 0, None, 1)


# -- what stands -------------------------------------------------------------------------------------------------------


def test_passes_numbers_and_labels_are_summed_up_by_their_kind() -> None:
    judge = tally(OutputInfo("ok", "pass"), OutputInfo("score", "number", unit="ms"), OutputInfo("class", "label"))
    for passed, value, label in ((True, 1.0, "a"), (False, 2, "b"), (True, 4.5, "a")):
        scores = (
            {"name": "ok", "passed": passed},
            {"name": "score", "value": value},
            {"name": "class", "label": label},
        )
        added(judge, scored(*scores))
    ok, score, label_summary = judge.summaries(None)
    assert (ok.metric, ok.kind, ok.n, ok.mean, ok.ci and ok.ci.method) == ("ok", "pass", 3, 2 / 3, "wilson")
    assert (score.metric, score.kind, score.mean, score.unit, score.ci and score.ci.method) == (
        "score",
        "number",
        2.5,
        "ms",
        "t",
    )
    assert (label_summary.kind, label_summary.labels, label_summary.mean) == ("label", {"a": 2, "b": 1}, None)


def test_a_summary_names_the_instance_and_prefixes_its_metrics_where_it_was_renamed() -> None:
    rouge = Tally(instance("rouge", called="mine"), 0.95, keep_values=False, clustered=False)
    added(rouge, scored({"name": "rouge1", "value": 1}, {"value": 0.5}))
    assert [(one.metric, one.evaluator) for one in rouge.summaries(None)] == [("mine.rouge1", "mine"), ("mine", "mine")]


def test_an_undeclared_metric_has_the_kind_of_its_first_score() -> None:
    judge = tally()
    column = added(judge, scored({"passed": True}), scored({"value": 0.5}), scored({"passed": False}))
    assert column[1][1]["message"] == "core/judge: it returned a number where it began to return a pass."
    (summary,) = judge.summaries(None)
    assert (summary.kind, summary.n, summary.errors) == ("pass", 2, 1)
    column = added(judge, scored({"label": "a"}), scored({"label": "b"}))
    assert [kind for kind, _ in column] == ["error", "error"]


def test_skipped_failed_and_cancelled_records_are_counted_apart_and_enter_no_mean() -> None:
    judge = tally(NUMBER)
    added(judge, GOOD, skipped(), failed(), ("cancelled", {"reason": "stopped"}), None, GOOD)
    (summary,) = judge.summaries(None)
    assert (summary.n, summary.mean, summary.skipped, summary.errors, summary.cancelled) == (2, 0.5, 1, 1, 2)
    assert (judge.scored, judge.skipped, judge.errors, judge.cancelled) == (2, 1, 1, 2)


def test_what_was_not_answered_is_cancelled_in_the_column_too() -> None:
    assert added(tally(NUMBER), None, GOOD)[0] == ("cancelled", {"reason": "it was not answered"})


def test_half_of_the_records_failing_leaves_the_mean_of_the_others_with_the_errors_beside_it() -> None:
    judge = tally(PASS)
    added(judge, *[scored({"passed": True})] * 4, scored({"passed": False}), *[failed()] * 5)
    (summary,) = judge.summaries(None)
    assert (summary.n, summary.mean, summary.errors) == (5, 0.8, 5)
    assert summary.ci is not None
    assert (round(summary.ci.low, 4), round(summary.ci.high, 4)) == (0.3755, 0.9638)


def test_a_score_that_is_not_a_number_and_one_that_was_never_made_leave_the_mean_alone() -> None:
    judge = tally(NUMBER)
    values = (0.9, 0.8, float("nan"), 0.7)
    column = added(judge, *(scored({"value": value}) for value in values), failed("provider 500"))
    (summary,) = judge.summaries(None)
    assert (summary.n, summary.errors) == (3, 2)
    assert summary.mean == pytest.approx(0.8, abs=1e-15)
    assert [kind for kind, _ in column] == ["scored", "scored", "error", "scored", "error"]


def test_an_evaluator_that_never_scored_has_a_summary_without_a_mean() -> None:
    judge = tally()
    added(judge, skipped(), skipped())
    (summary,) = judge.summaries(None)
    assert (summary.metric, summary.n, summary.mean, summary.ci, summary.skipped) == ("judge", 0, None, None, 2)


def test_summaries_can_be_asked_for_again_and_more_added_between() -> None:
    judge = tally()
    added(judge, skipped(), failed(), None)
    assert judge.summaries(None) == judge.summaries(None)
    added(judge, scored({"passed": True}), skipped())
    (summary,) = judge.summaries(None)
    assert (summary.kind, summary.n, summary.skipped, summary.errors, summary.cancelled) == ("pass", 1, 2, 1, 1)


def test_of_very_many_reasons_only_the_first_are_kept_and_all_records_are_counted() -> None:
    judge = tally()
    added(judge, *(skipped(f"reason {number}") for number in range(3 * MAX_REASONS)), skipped("reason 0"))
    assert len(judge.skip_reasons) == MAX_REASONS
    assert (judge.skip_reasons["reason 0"], judge.skipped) == (2, 3 * MAX_REASONS + 1)


def test_clusters_belong_to_the_scored_records_alone() -> None:
    judge = tally(PASS, clustered=True)
    column: list[Outcome | None] = [scored({"passed": True}), skipped(), scored({"passed": False}), failed(), None]
    judge.add(column, ["a", "b", "c", "d", "e"])
    judge.add([scored({"passed": True}), scored({"passed": 1})], ["a", "f"])
    (summary,) = judge.summaries(None)
    assert (summary.n, summary.clusters, summary.ci and summary.ci.method) == (3, 2, "clustered-wilson")


# -- what cannot stand -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), True, "0.5", [0.5]], ids=repr)
def test_a_value_that_is_no_finite_number_is_an_error_that_names_the_evaluator(value: Any) -> None:
    message = error_of(scored({"value": value}), NUMBER, beside=GOOD)
    assert message == f"core/judge: value is {value!r}, which is not a finite number."


@pytest.mark.parametrize("passed", [1, 0, 1.0, "yes", []], ids=repr)
def test_a_verdict_that_is_no_truth_is_an_error(passed: Any) -> None:
    message = error_of(scored({"passed": passed}), PASS, beside=scored({"passed": True}))
    assert message == f"core/judge: passed is {passed!r}, which is not true or false."


@pytest.mark.parametrize("label", [1, True, ["a"]], ids=repr)
def test_a_label_that_is_no_text_is_an_error(label: Any) -> None:
    assert "which is not text" in error_of(scored({"label": label}), LABEL, beside=scored({"label": "a"}))


@pytest.mark.parametrize(
    ("value", "output", "shown"),
    [
        (1.5, NUMBER, "[0, 1]"),
        (-0.001, NUMBER, "[0, 1]"),
        (-1, OutputInfo("", "number", minimum=0), "[0, ∞]"),
        (6, OutputInfo("", "number", maximum=5), "[-∞, 5]"),
    ],
)
def test_a_value_outside_of_its_declared_range_is_an_error_and_is_not_clipped(
    value: float, output: OutputInfo, shown: str
) -> None:
    message = error_of(scored({"value": value}), output, beside=GOOD)
    assert message == f"core/judge: value {value!r} is outside the declared range {shown}."


@pytest.mark.parametrize(
    ("score", "output", "what"),
    [
        ({"value": 0.5}, PASS, "it returned a number where it is declared to return a pass"),
        ({"passed": True}, NUMBER, "it returned a pass where it is declared to return a number"),
        ({"label": "a"}, NUMBER, "it returned a label where it is declared to return a number"),
        ({"name": "other", "value": 0.5}, NUMBER, "the score 'other' is not among the declared outputs"),
        ({"name": 5, "value": 0.5}, NUMBER, "the name of a score is 5, which is not text"),
        ({"name": ["a"], "value": 0.5}, NUMBER, "the name of a score is ['a'], which is not text"),
        ({}, NUMBER, "a score needs exactly one of value, passed and label"),
        ({"value": None}, NUMBER, "a score needs exactly one of value, passed and label"),
        ({"value": 0.5, "passed": True}, NUMBER, "a score needs exactly one of value, passed and label"),
        ("0.5", NUMBER, "a score is '0.5', which is not a map"),
        (None, NUMBER, "a score is None, which is not a map"),
        ({"value": 0.5, "explanation": 5}, NUMBER, "explanation is 5, which no score can have"),
        ({"value": 0.5, "confidence": 1.5}, NUMBER, "confidence is 1.5, which no score can have"),
        ({"value": 0.5, "confidence": float("nan")}, NUMBER, "confidence is nan, which no score can have"),
        ({"value": 0.5, "confidence": True}, NUMBER, "confidence is True, which no score can have"),
        ({"value": 0.5, "metadata": {"a": float("nan")}}, NUMBER, "metadata is {'a': nan}, which no score can have"),
        ({"value": 0.5, "metadata": {"a": b"x"}}, NUMBER, "metadata is {'a': b'x'}, which no score can have"),
        ({"value": 0.5, "cost_usd": float("inf")}, NUMBER, "cost_usd is inf, which no score can have"),
    ],
    ids=repr,
)
def test_a_score_that_breaks_the_form_is_an_error(score: Any, output: OutputInfo, what: str) -> None:
    beside = scored({"passed": True}) if output is PASS else GOOD
    assert error_of(scored(score), output, beside=beside) == f"core/judge: {what}."
    assert error_of(scored(score), output) == f"core/judge: {what}."


@pytest.mark.parametrize("payload", [[], None, {}, {"value": 0.5}, "0.5", 3], ids=repr)
def test_scored_without_a_list_of_scores_is_an_error(payload: Any) -> None:
    assert error_of(("scored", payload), NUMBER, beside=GOOD) == "core/judge: it scored without a score."


@pytest.mark.parametrize("names", [(None, ""), ("a", "a"), (None, None)], ids=repr)
def test_two_scores_of_one_name_are_an_error_and_neither_counts(names: tuple[str | None, str | None]) -> None:
    outcome = scored(*({"name": name, "value": 0.5} for name in names))
    assert error_of(outcome) == "core/judge: it gave two scores of one name."


def test_an_evaluator_that_names_a_metric_for_every_record_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_check, "MAX_NAMES", 5)
    judge = tally()
    column = added(judge, *(scored({"name": f"m{number}", "value": 1}) for number in range(8)))
    assert [kind for kind, _ in column] == ["scored"] * 5 + ["error"] * 3
    assert len(judge.metrics) == 5
    assert added(judge, scored({"name": "m0", "value": 1}))[0][0] == "scored"
    assert added(judge, *[scored({"name": "m9", "value": 1})] * 2)[0][0] == "error"


@pytest.mark.parametrize("kind", ["state", "planned", "shouted"])
def test_an_outcome_that_is_none_of_this_scope_is_an_error_so_that_no_record_is_lost(kind: str) -> None:
    message = error_of((kind, {"state": [1]}), NUMBER, beside=GOOD)
    assert message == f"core/judge: it answered {kind!r}, which an evaluator of record scope cannot."


@pytest.mark.parametrize("payload", [None, [], "text", {"reason": 5}, {}], ids=repr)
def test_a_skip_without_a_readable_reason_still_is_a_skip(payload: Any) -> None:
    judge = tally(NUMBER)
    assert added(judge, ("skipped", payload), GOOD)[0] == ("skipped", {"reason": ""})
    assert judge.skipped == 1


@pytest.mark.parametrize("payload", [None, [], "text", {"message": 5, "code": ["x"], "source": "nobody"}], ids=repr)
def test_an_error_without_a_readable_body_still_is_an_error_with_a_whole_one(payload: Any) -> None:
    judge = tally(NUMBER)
    kind, error = added(judge, ("error", payload), GOOD)[0]
    assert (kind, judge.errors) == ("error", 1)
    assert error == {"code": "pack.failed", "message": "", "hint": "", "source": "pack", "retry": "no"}


# -- dataset scope -----------------------------------------------------------------------------------------------------


def test_states_are_counted_as_nothing_and_skips_beside_them_as_skips() -> None:
    bleu = tally(OutputInfo("", "number"), scope="dataset")
    column = added(bleu, ("state", {"state": [1]}), skipped(), ("state", {"state": None}))
    assert [kind for kind, _ in column] == ["state", "skipped", "state"]
    assert (bleu.scored, bleu.skipped, bleu.errors, bleu.cancelled) == (0, 1, 0, 0)


@pytest.mark.parametrize("outcome", [scored({"value": 0.5}), ("state", {}), ("state", [1]), ("state", None)], ids=repr)
def test_a_dataset_scope_evaluator_gives_states_and_nothing_else(outcome: Outcome) -> None:
    bleu = tally(OutputInfo("", "number"), scope="dataset")
    column = added(bleu, ("state", {"state": [1]}), outcome)
    assert [kind for kind, _ in column] == ["state", "error"]
    assert (bleu.scored, bleu.errors) == (0, 1)


def test_the_score_of_the_whole_counts_for_all_records_that_were_observed() -> None:
    bleu = tally(OutputInfo("", "number"), scope="dataset")
    outcome = scored({"value": 31.5})
    assert bleu.add_whole(outcome, 7) == outcome
    (summary,) = bleu.summaries(None)
    assert (summary.mean, bleu.scored) == (31.5, 7)


@pytest.mark.parametrize(
    ("outcome", "kept"),
    [
        (scored({"value": float("nan")}), "error"),
        (("scored", None), "error"),
        (skipped(), "skipped"),
        (("skipped", None), "skipped"),
        (failed(), "error"),
        (("error", None), "error"),
        (("cancelled", None), "error"),
        (("None", None), "error"),
    ],
    ids=repr,
)
def test_a_whole_without_a_score_leaves_none_and_counts_every_record(outcome: Outcome, kept: str) -> None:
    bleu = tally(OutputInfo("", "number"), scope="dataset")
    kind, payload = bleu.add_whole(outcome, 7)
    assert kind == kept
    assert isinstance(payload["reason" if kept == "skipped" else "message"], str)
    (summary,) = bleu.summaries(None)
    assert (summary.n, summary.mean, summary.skipped + summary.errors) == (0, None, 7)
    assert sum((bleu.skip_reasons + bleu.error_reasons).values()) == 7


# -- the quick way and the slow way ------------------------------------------------------------------------------------

VALUES = st.one_of(
    st.sampled_from([0, 1, 0.5, 1.5, -1, True, False, None, "a", float("nan"), float("inf"), 2**63]),
    st.floats(0, 1),
)
SCORES = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([None, "", "a", "b", 5]),
        "value": VALUES,
        "passed": st.sampled_from([True, False, 1, None]),
        "label": st.sampled_from(["x", "y", 3, None]),
        "explanation": st.sampled_from(["why", None, 4]),
        "confidence": st.sampled_from([0.5, 2, None]),
        "metadata": st.sampled_from([{}, {"a": 1}, {"a": float("nan")}]),
    },
)
# Mostly columns that look alike, which is when the quick way is taken.
ALIKE = st.sampled_from(
    [
        [{"passed": True}],
        [{"passed": False, "explanation": "why"}],
        [{"value": 0.25}],
        [{"value": 1}],
        [{"label": "x"}],
        [{"name": "a", "value": 0.5}, {"name": "b", "value": 0}],
        [{"name": "b", "value": 0.5}, {"name": "a", "value": 0}],
    ]
)
PAYLOADS = st.one_of(ALIKE, st.lists(SCORES, max_size=3), st.sampled_from([None, {}, "text"]))
OUTCOMES = st.one_of(
    st.tuples(st.just("scored"), PAYLOADS),
    st.sampled_from([None, skipped(), failed(), ("cancelled", {"reason": "stopped"}), ("state", {"state": 1})]),
)
COLUMNS = st.lists(
    st.one_of(
        st.lists(OUTCOMES, min_size=1, max_size=6),
        st.tuples(ALIKE, st.integers(1, 6)).map(lambda alike: [("scored", alike[0])] * alike[1]),
    ),
    max_size=4,
)
DECLARED = st.sampled_from(
    [(), (PASS,), (NUMBER,), (LABEL,), (OutputInfo("a", "number", maximum=1), OutputInfo("b", "number"))]
)


@given(columns=COLUMNS, outputs=DECLARED, clustered=st.booleans())
def test_the_quick_way_and_the_slow_way_give_the_same_summaries_and_columns(
    columns: list[list[Outcome | None]], outputs: tuple[OutputInfo, ...], clustered: bool
) -> None:
    quick, slow = tally(*outputs, clustered=clustered), tally(*outputs, clustered=clustered)
    slow_columns = deepcopy(columns)
    for column, slow_column in zip(columns, slow_columns, strict=True):
        clusters = [str(index % 2) for index in range(len(column))] if clustered else None
        quick.add(column, clusters)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScoreCheck, "columns", lambda self, scored: None)
            slow.add(slow_column, clusters)
    assert repr(columns) == repr(slow_columns)
    assert quick.error_reasons == slow.error_reasons
    assert list(quick.metrics) == list(slow.metrics)
    for left, right in zip(quick.summaries(None), slow.summaries(None), strict=True):
        # Squares are added up in another order.
        assert (left.std or 0) == pytest.approx(right.std or 0, rel=1e-9, abs=1e-12)
        assert (left.ci is None) == (right.ci is None)
        assert (left.metric, left.kind, left.n, left.mean, left.labels, left.errors, left.clusters) == (
            right.metric,
            right.kind,
            right.n,
            right.mean,
            right.labels,
            right.errors,
            right.clusters,
        )
    total = sum(map(len, columns))
    assert quick.scored + quick.skipped + quick.errors + quick.cancelled == total


@pytest.mark.parametrize("outcome", [skipped(), failed(), None], ids=["skipped", "error", "cancelled"])
def test_g10_a_metric_that_needs_a_param_has_no_row_where_nothing_was_scored(outcome: Outcome | None) -> None:
    judge = tally(OutputInfo("", "number"), OutputInfo("judge-passed", "pass"))
    added(judge, outcome, outcome)
    assert [one.metric for one in judge.told(judge.summaries(None))] == ["judge"]


def test_g10_an_evaluator_without_a_main_metric_keeps_all_its_rows() -> None:
    judge = tally(OutputInfo("a", "number"), OutputInfo("b", "pass"))
    added(judge, failed())
    assert [(one.metric, one.errors) for one in judge.told(judge.summaries(None))] == [("a", 1), ("b", 1)]
