"""Rows that are taken as they stand give the records that reading them field by field gives."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any
from unittest.mock import patch

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.plain_rows import plain_ids
from evalsi_kernel.records.rows_source import RowsSource

PLAIN = {
    "id": "a",
    "input": "q",
    "output": "o",
    "reference": "r",
    "usage": {"latency_ms": 3},
    "metadata": {"topic": "x"},
}

scalars = st.none() | st.booleans() | st.integers(-(2**40), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5)
values = (
    scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.sampled_from(["latency_ms", "topic", "k"]), scalars)
)
fields = st.sampled_from(["id", "input", "output", "reference", "usage", "metadata", "provenance", "context", "other"])
rows = st.lists(st.dictionaries(fields, values, max_size=4) | st.just(PLAIN), min_size=1, max_size=4)


def records(given_rows: list[dict[str, Any]], *, by_field: bool) -> list[Any] | str:
    """The records, or what is wrong with the rows."""
    never = patch.object(Intake, "_plain_chunk", return_value=None) if by_field else nullcontext()
    try:
        with never:
            chunks = [*Intake(RowsSource(given_rows)).chunks()]
    except DatasetError as error:
        return str(error)
    return [(msgpack.unpackb(packed), chunk.ids) for chunk in chunks for packed in chunk.packed]


@given(rows)
def test_both_ways_give_the_same_records_or_the_same_refusal(given_rows: list[dict[str, Any]]) -> None:
    assert records(given_rows, by_field=False) == records(given_rows, by_field=True)


def test_rows_of_text_flat_maps_and_usage_in_numbers_are_plain() -> None:
    assert plain_ids([PLAIN, PLAIN | {"id": "b"}]) == ["a", "b"]


@pytest.mark.parametrize(
    "change",
    [
        {"output": 3},
        {"output": None},
        {"id": ""},
        {"id": 7},
        {"usage": {"latency_ms": "3"}},
        {"usage": {"latency_ms": -1}},
        {"usage": {"latency_ms": True}},
        {"usage": {"latency_ms": 10**400}},
        {"usage": {"latency_ms": float("inf")}},
        {"usage": {"latency": "3s"}},
        {"metadata": {"deep": {"x": 1}}},
        {"metadata": None},
        {"reference": ["r", "s"]},
        {"other": "x"},
    ],
)
def test_whatever_else_is_read_field_by_field(change: dict[str, Any]) -> None:
    assert plain_ids([PLAIN, PLAIN | change]) is None
    assert plain_ids([PLAIN | change]) is None


def test_rows_with_other_fields_than_the_first_are_read_field_by_field() -> None:
    assert plain_ids([PLAIN, {"id": "b", "output": "o"}]) is None
    assert plain_ids([{"id": "b"}]) is None
    assert plain_ids([{"output": "b"}]) is None
