"""Every figure of a calibration, by the kind of its labels, and the notes on those that say nothing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.agreement import Agreement, agreement_of
from evalsi_calibration.kappa import kappa
from evalsi_calibration.scale import Scale
from evalsi_calibration.shares import Share
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.packs.instances import Instance
from tests.calibration.asking import LABEL, NUMBER, PASS, instance, paired
from tests.calibration.test_kappa import HUMAN, JUDGE

PAIRWISE = instance(LABEL, params={"other": "baseline"})


def agreed(one: Instance, written: list[Any], scores: list[Any], **settings: Any) -> Agreement:
    comparison, found = paired(one, written, scores, **settings)
    return agreement_of(found.pairs, comparison, 0.95)


# -- by kind -------------------------------------------------------------------------------------------------------


def test_pass_and_fail_have_agreement_kappa_and_rates_and_no_figure_of_numbers() -> None:
    found = agreed(instance(PASS), [True, True, False, False], [True, False, False, False])
    assert found.matrix is not None
    assert found.matrix.agreement == Share(3, 4)
    assert found.kappa == kappa([[1, 1], [0, 2]])
    assert found.rates is not None
    assert found.rates.false_negatives == Share(1, 2)
    assert (found.quadratic_kappa, found.bias, found.rank_correlation, found.position_bias) == (None,) * 4


def test_steps_of_a_scale_have_both_kappas_the_bias_of_each_score_and_a_rank_correlation() -> None:
    human, judge = [int(grade) for grade in HUMAN], [(int(grade) - 1) / 4 for grade in JUDGE]
    found = agreed(instance(NUMBER), human, judge, label_scale=Scale(1, 5))
    # scikit-learn 1.9.1 and scipy 1.17.1, as in the tests of the single figures.
    assert found.kappa is not None
    assert found.quadratic_kappa is not None
    assert found.kappa.value == pytest.approx(0.423076923076923)
    assert found.quadratic_kappa.value == pytest.approx(0.8538961038961039)
    assert found.rank_correlation == pytest.approx(0.8685427775072578)
    assert list(found.bias_per_score) == ["1", "2", "3", "4", "5"]
    assert found.bias is not None
    assert found.bias.mean == pytest.approx(sum(int(j) - int(h) for h, j in zip(HUMAN, JUDGE, strict=True)) / 4 / 60)
    assert found.rates is None


def test_numbers_without_steps_have_bias_and_rank_correlation_and_a_note_on_the_rest() -> None:
    found = agreed(instance(NUMBER), [0.1, 0.5, 0.9], [0.2, 0.6, 1.0])
    assert (found.matrix, found.kappa, found.bias_per_score) == (None, None, {})
    assert found.bias is not None
    assert found.bias.mean == pytest.approx(0.1)
    assert found.rank_correlation == pytest.approx(1.0)
    assert "neither agreement nor kappa" in found.notes[0]


def test_numbers_with_a_threshold_have_the_figures_of_pass_and_fail_beside_those_of_numbers() -> None:
    found = agreed(instance(NUMBER), [1, 4, 5], [0.0, 0.25, 1.0], label_scale=Scale(1, 5), threshold=0.5)
    assert found.rates is not None
    assert found.rates.recall == Share(1, 2)
    assert found.bias is not None


def test_labels_have_agreement_and_kappa_over_all_labels_of_either() -> None:
    found = agreed(instance(LABEL), ["a", "b", "b"], ["a", "b", "c"])
    assert found.matrix is not None
    assert found.matrix.categories == ("a", "b", "c")
    assert found.matrix.agreement == Share(2, 3)
    assert found.notes == ("Only the evaluator says c.",)


def test_two_outputs_have_position_and_length_bias() -> None:
    comparison, found = paired(PAIRWISE, ["win", "loss"], ["win", "win"])
    orders = [{"first": "output", "verdict": "win"}, {"first": "other", "verdict": "win"}]
    pairs = [pair._replace(metadata={"orders": orders}) for pair in found.pairs]
    figures = agreement_of(pairs, comparison, 0.95, {"1": 10})
    assert figures.position_bias is not None
    assert figures.position_bias.changed == Share(0, 2)
    assert figures.length_bias is not None
    assert figures.length_bias.judge.for_longer == Share(1, 1)


# -- disagreements -------------------------------------------------------------------------------------------------


def test_disagreements_are_those_furthest_apart_first_and_then_in_the_order_of_the_data() -> None:
    found = agreed(instance(NUMBER), [1, 5, 1, 3, 3], [0.25, 0.0, 0.25, 0.5, 0.55], label_scale=Scale(1, 5))
    assert [pair.record_id for pair in found.disagreements] == ["2", "1", "3"]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2))
def test_agreements_and_disagreements_are_all_there_is(said: list[tuple[bool, bool]]) -> None:
    human = [True, False, *(one for one, _ in said)]
    judge = [True, False, *(other for _, other in said)]
    found = agreed(instance(PASS), list(human), list(judge))
    assert found.matrix is not None
    assert found.matrix.agreement.part + len(found.disagreements) == found.n == len(human)


# -- notes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "scores", "note"),
    [
        ([True, False, True], [True], "Kappa is undefined: people and the evaluator say nothing but pass."),
        ([True, False], [], "Kappa is undefined: people and the evaluator say nothing but nothing."),
        ([True, True, False], [True, False], "Of what was compared people say pass throughout, so that kappa tells"),
        ([True, False], [True, True], "The evaluator says pass throughout, so that kappa tells nothing."),
        ([True, False], [True, False], "Full agreement leaves kappa without an interval"),
        ([True, False], [False, True], "These counts leave kappa without an interval"),
    ],
)
def test_a_kappa_that_tells_nothing_is_told(written: list[Any], scores: list[Any], note: str) -> None:
    (found,) = agreed(instance(PASS), written, scores).notes
    assert found.startswith(note)


def test_a_rank_correlation_without_an_order_is_undefined_and_told() -> None:
    found = agreed(instance(NUMBER), [1, 5, 3], [0.5, 0.5, 0.5], label_scale=Scale(1, 5))
    assert found.rank_correlation is None
    assert any(note.startswith("The rank correlation is undefined") for note in found.notes)


def test_labels_that_only_people_use_are_told() -> None:
    assert agreed(instance(LABEL), ["Yes", "No"], ["yes", "No"]).notes == (
        "Only people say Yes.",
        "Only the evaluator says yes.",
    )


def test_an_evaluator_that_writes_a_text_of_its_own_each_time_is_an_error() -> None:
    written = ["a", "b"] * 60
    with pytest.raises(ConfigError, match="gives 120 labels that people do not use"):
        agreed(instance(LABEL), list(written), [f"text {number}" for number in range(120)])
