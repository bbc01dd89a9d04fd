"""Usage is read from the spellings that people write, and what is not known stays absent."""

from __future__ import annotations

from typing import Any

import pytest

from evalsi_kernel.records.contents import BadField
from evalsi_kernel.records.usage import read_usage


def test_numbers_stay_what_they_are() -> None:
    usage = {"input_tokens": 14, "output_tokens": 0, "total_tokens": 14, "cost_usd": 0.0021, "latency_ms": 235.5}
    assert read_usage(usage) == usage
    assert [type(value) for value in read_usage(usage).values()] == [int, int, int, float, float]


@pytest.mark.parametrize(
    ("latency", "milliseconds"),
    [
        ("0.29s", 290.0),
        ("0.57s", 570.0),
        ("290ms", 290.0),
        (" 290 ms ", 290.0),
        ("1.5m", 90_000.0),
        ("2min", 120_000.0),
        ("1h", 3_600_000.0),
        ("120us", 0.12),
        ("120µs", 0.12),
        ("5000ns", 0.005),
        ("9.5e-05s", 0.095),
        ("0s", 0.0),
    ],
)
def test_a_latency_with_its_unit_becomes_milliseconds(latency: str, milliseconds: float) -> None:
    assert read_usage({"latency": latency}) == {"latency_ms": milliseconds}


@pytest.mark.parametrize("latency", ["fast", "0.29", "-1s", "1e999s", "s", "1 s 2", "٣s", 0.3, True, ["1s"]])
def test_a_latency_that_is_no_duration_with_a_unit_is_refused_with_an_example(latency: Any) -> None:
    with pytest.raises(BadField, match=r"usage.latency is .* no duration with its unit") as caught:
        read_usage({"latency": latency})
    assert "0.29s" in caught.value.hint


def test_a_latency_in_milliseconds_stands_beside_any_other_latency() -> None:
    assert read_usage({"latency": "fast", "latency_ms": 3}) == {"latency": "fast", "latency_ms": 3}


@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "total_tokens", "cost_usd", "latency_ms"])
@pytest.mark.parametrize(
    ("value", "what"),
    [
        (True, "not a number"),
        ([3], "not a number"),
        ("many", "not a number of zero or more"),
        ("-3", "not a number of zero or more"),
        ("0x10", "not a number of zero or more"),
        ("nan", "not a number of zero or more"),
        ("1e999", "not finite"),
        (float("nan"), "not finite"),
        (float("inf"), "not finite"),
        (-1, "below zero"),
        (-0.5, "below zero"),
        (-(10**400), "below zero"),
    ],
)
def test_what_is_no_finite_number_of_zero_or_more_is_refused(name: str, value: Any, what: str) -> None:
    with pytest.raises(BadField, match=rf"usage\.{name} is .*{what}"):
        read_usage({name: value})


def test_the_cells_of_a_table_are_text_and_their_numbers_are_read() -> None:
    given = {"input_tokens": "14", "cost_usd": "0.0021", "latency_ms": " 1e3 ", "total_tokens": "99999999999999999999"}
    assert read_usage(given) == {"input_tokens": 14, "cost_usd": 0.0021, "latency_ms": 1000, "total_tokens": 1e20}


def test_what_is_not_known_is_absent_and_never_zero() -> None:
    assert read_usage({"input_tokens": None, "output_tokens": "", "latency": " ", "cost_usd": None}) == {}


def test_names_that_nobody_knows_stay_as_they_are() -> None:
    assert read_usage({"cached_tokens": 3, "region": "eu"}) == {"cached_tokens": 3, "region": "eu"}


@pytest.mark.parametrize("given", ["0.29s", 3, [1]])
def test_usage_that_is_no_object_is_refused(given: Any) -> None:
    with pytest.raises(BadField, match=r"usage is .*not an object"):
        read_usage(given)


@pytest.mark.parametrize("given", [{"latency": "0.29s", "cost_usd": "0.1"}, {"latency": "x", "latency_ms": 3}])
def test_usage_that_was_read_once_is_read_as_it_is(given: dict[str, Any]) -> None:
    once = read_usage(given)
    assert read_usage(once) == once
