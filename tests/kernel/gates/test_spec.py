"""What a gate may say, under either set of names, and what is said of one that nothing can pass."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from evalsi_kernel.checking.toml_tables import Misfit
from evalsi_kernel.gates.spec import STATS, GateSpec, slice_value


def refusal(**keys: Any) -> tuple[str, str]:
    """What is wrong, and the hint, of a gate with one problem."""
    with pytest.raises(ValidationError) as caught:
        GateSpec.model_validate({"metric": "a", **keys})
    [found] = caught.value.errors(include_url=False)
    misfit = found["ctx"]["error"]
    assert isinstance(misfit, Misfit)
    return misfit.what, misfit.hint


def test_a_gate_holds_a_mean_and_bears_no_error_by_default() -> None:
    gate = GateSpec.model_validate({"metric": "exact-match", "min": 0.9})

    assert (gate.stat, gate.max_error_rate, gate.max_skip_rate, gate.undecided) == ("mean", 0.0, 0.5, None)


@pytest.mark.parametrize(
    ("written", "means"),
    [
        ("GATE_STAT_MEAN", "mean"),
        ("GATE_STAT_CI_LOW", "lower"),
        ("gate_stat_ci_high", "upper"),
        ("GATE_STAT_ERROR_RATE", "error_rate"),
        ("Skip-Rate", "skip_rate"),
        ("ci_low", "lower"),
        *((stat, stat) for stat in STATS),
        *((stat.upper(), stat) for stat in STATS),
    ],
)
def test_a_statistic_has_two_names_in_any_case(written: str, means: str) -> None:
    assert GateSpec.model_validate({"metric": "a", "min": 0, "stat": written}).stat == means


def test_a_misspelt_statistic_is_told_with_the_nearest() -> None:
    what, hint = refusal(min=0, stat="GATE_STAT_MAEN")

    assert "no statistic" in what
    assert 'Did you mean "mean"?' in hint


@pytest.mark.parametrize(
    ("keys", "what"),
    [
        ({}, "has no bound"),
        ({"min": 2, "max": 1}, "min 2 above max 1"),
        ({"max_drop": 0.1}, "no baseline"),
        ({"min": 0, "baseline": "x.json"}, "no max_drop"),
        ({"min": 0, "significant": True}, "without a baseline"),
        ({"stat": "upper", "baseline": "x.json", "max_drop": 0}, "compares upper"),
        ({"slice": "a", "baseline": "x.json", "max_drop": 0, "significant": True}, "has a slice"),
        ({"min": 0, "slice": {"a": 1, "b": 2}}, "names 2 keys"),
        ({"min": 0, "slice": {}}, "names 0 keys"),
        ({"min": 0, "slice": {"a": [1]}}, "must map"),
        ({"min": 0, "slice": ["a"]}, "must be a metadata key"),
        ({"min": 0, "slice": " "}, "must be a metadata key"),
        ({"min": 0, "stat": 3}, "must be one of"),
    ],
)
def test_what_fits_nothing_is_refused_with_a_sentence(keys: dict[str, Any], what: str) -> None:
    assert what in refusal(**keys)[0]


@pytest.mark.parametrize(
    "keys",
    [
        {"min": float("nan")},
        {"min": float("inf")},
        {"min": "0.9"},
        {"min": True},
        {"min": 0, "mim": 1},
        {"min": 0, "max_error_rate": 1.5},
        {"baseline": "x.json", "max_drop": -0.1},
        {"min": 0, "undecided": "maybe"},
        {"min": 0, "metric": ""},
    ],
)
def test_a_value_of_another_kind_is_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        GateSpec.model_validate({"metric": "a", **keys})


def test_the_value_of_a_slice_is_written_as_metadata_has_it() -> None:
    assert GateSpec.model_validate({"metric": "a", "min": 0, "slice": {"tier": 1.0}}).slice == {"tier": "1"}
    assert GateSpec.model_validate({"metric": "a", "min": 0, "slice": {"paid": True}}).slice == {"paid": "true"}
    assert GateSpec.model_validate({"metric": "a", "min": 0, "slice": "tier"}).slice_key == "tier"


@pytest.mark.parametrize(
    ("value", "name"),
    [("x", "x"), (1, "1"), (1.0, "1"), (1.5, "1.5"), (False, "false"), (None, None), ([], None), (2**70, str(2**70))],
)
def test_a_value_of_the_metadata_names_a_slice(value: Any, name: str | None) -> None:
    assert slice_value(value) == name
