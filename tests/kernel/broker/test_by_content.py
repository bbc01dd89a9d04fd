"""Work is done once for equal plain values, and never for one value in place of another."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from evalsi_kernel.broker.by_content import MOST, MOST_BYTES, once_by_content


class Work:
    """Counts how often it is done, and gives what it was done on."""

    def __init__(self) -> None:
        self.times = 0
        self.remembered = once_by_content(self)

    def __call__(self, value: Any) -> str:
        self.times += 1
        return repr(value)


def test_equal_values_are_worked_on_once() -> None:
    work = Work()
    results = {work.remembered({"type": "object", "required": ["a", str(7)]}) for _ in range(5)}
    assert (len(results), work.times) == (1, 1)


@pytest.mark.parametrize("other", [True, 1.0, "1", [1], {"1": 1}, None])
def test_values_of_other_types_are_not_taken_for_one_another(other: Any) -> None:
    work = Work()
    assert work.remembered({"const": 1}) == repr({"const": 1})
    assert work.remembered({"const": other}) == repr({"const": other})


def test_what_is_raised_is_raised_each_time() -> None:
    seen = []

    @once_by_content
    def refuse(value: str) -> str:
        seen.append(value)
        raise ValueError(value)

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            refuse("no")
    assert seen == ["no", "no"]


def test_what_is_no_plain_value_or_nested_too_deep_is_worked_on_each_time() -> None:
    deep: Any = []
    for _ in range(3000):
        deep = [deep]
    seen = []

    @once_by_content
    def size(value: Any) -> int:
        seen.append(type(value))
        return len(value)

    assert [size(value) for value in (deep, deep, MappingProxyType({"a": 1}), MappingProxyType({"a": 1}))] == [1] * 4
    assert len(seen) == 4


def test_large_values_and_many_of_them_do_not_fill_the_memory() -> None:
    work = Work()
    large = "x" * (MOST_BYTES + 1)
    assert [work.remembered(large) == repr(large) for _ in range(2)] == [True, True]
    assert work.times == 2
    for number in range(MOST + 1):
        work.remembered(number)
    assert work.remembered(MOST) == str(MOST)
    assert work.times == 2 + MOST + 1, "the last one is remembered still"
