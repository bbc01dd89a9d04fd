"""Rows from a script are checked to be JSON, and become JSON where they nearly are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from datetime import date
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any

import numpy
import pytest

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.rows_source import ROWS_IN_A_CHUNK, RowsSource
from evalsi_kernel.records.sources import readable_chunks


class Colour(str, Enum):  # noqa: UP042 - whose text is not its value, unlike that of a StrEnum
    RED = "red"


class Level(IntEnum):
    HIGH = 3


def rows(*given: Any) -> list[dict[str, Any]]:
    return [row for chunk in readable_chunks(RowsSource(given)) for _, row in chunk]


def refusal(*given: Any) -> str:
    with pytest.raises(DatasetError) as caught:
        rows(*given)
    return str(caught.value)


def test_rows_are_numbered_from_1_and_come_some_at_a_time() -> None:
    chunks = list(RowsSource({"n": n} for n in range(ROWS_IN_A_CHUNK + 1)).chunks())
    assert [len(chunk) for chunk in chunks] == [ROWS_IN_A_CHUNK, 1]
    assert chunks[1] == [(ROWS_IN_A_CHUNK + 1, {"n": ROWS_IN_A_CHUNK})]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (("a", 1), ["a", 1]),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (numpy.float64(0.5), 0.5),
        (numpy.float32(0.5), 0.5),
        (numpy.int64(3), 3),
        (numpy.bool_(True), True),
        (numpy.str_("a"), "a"),
        (numpy.array([[1, 2]]), [[1, 2]]),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": (1,)}), {"a": [1]}),
        ({1: "a"}, {"1": "a"}),
        (None, None),
        (False, False),
    ],
    ids=lambda value: f"{type(value).__name__} {value}",
)
def test_what_is_nearly_json_becomes_json(value: Any, plain: Any) -> None:
    (row,) = rows({"v": value})
    assert row == {"v": plain}
    assert type(row["v"]) is type(plain)


def test_any_mapping_is_a_row() -> None:
    assert rows(MappingProxyType({"a": 1})) == [{"a": 1}]


@pytest.mark.parametrize("row", [["a"], "text", None, 3], ids=repr)
def test_a_row_that_is_no_mapping_is_refused_with_its_number(row: Any) -> None:
    assert refusal({}, row).startswith(f"rows, row 2: {type(row).__name__} is not a mapping. Give dicts")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), numpy.float64("nan"), numpy.float32("-inf")], ids=repr)
def test_a_number_that_is_not_finite_is_refused_with_its_place_and_a_way_to_say_missing(value: Any) -> None:
    message = refusal({"a": 1}, {"metadata": {"b": [0.5, value]}})
    assert message.startswith("rows, row 2: metadata: b is ")
    assert "Use None for a value that is missing." in message


@pytest.mark.parametrize("value", [date(2026, 1, 2), {1}, b"x", object, 1j], ids=lambda value: type(value).__name__)
def test_a_type_that_json_does_not_have_is_refused_by_name(value: Any) -> None:
    assert refusal({"v": value}).startswith(f"rows, row 1: v is of type {type(value).__name__}, which JSON does not")


def test_what_contains_itself_is_refused_as_too_deep() -> None:
    endless: dict[str, Any] = {}
    endless["again"] = [endless]
    assert "nested deeper than 100 levels" in refusal(endless)


def test_keys_that_read_alike_as_text_are_refused_rather_than_one_lost() -> None:
    assert refusal({1: "a", "1": "b"}).startswith("rows, row 1 has two keys that read '1' as text.")


@pytest.mark.parametrize("key", [None, 1.5, True, ("a",)], ids=repr)
def test_a_key_that_is_no_text_is_refused(key: Any) -> None:
    assert refusal({"m": {key: 1}}).startswith(f"rows, row 1: m has the key {key!r}, which is not text.")


def hash_of(*given: Mapping[str, Any]) -> str | None:
    source = RowsSource(given)
    list(source.chunks())
    return source.sha256()


def test_rows_that_are_not_read_to_their_end_have_no_hash() -> None:
    source = RowsSource([{"a": index} for index in range(1_000)])
    next(source.chunks())
    assert source.sha256() is None


def test_the_hash_tells_rows_apart_and_not_the_order_of_their_keys() -> None:
    assert hash_of({"a": 1, "b": "é"}) == hash_of({"b": "é", "a": 1})
    assert (
        len({hash_of(*given) for given in ([], [{"a": 1}], [{"a": "1"}], [{"a": 1}, {"a": 1}], [{"a": "\ud800"}])}) == 5
    )


def test_an_integer_of_any_size_comes_through_for_the_intake_to_judge() -> None:
    assert rows({"id": 10**30}) == [{"id": 10**30}]
