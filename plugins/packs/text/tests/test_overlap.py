"""Multiset overlap, against the standard library's own."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_text.overlap import common, f1

elements = st.lists(st.integers(0, 5))


@given(elements, elements)
def test_common_is_the_size_of_the_multisets_intersection(left: list[int], right: list[int]) -> None:
    assert common(left, right) == (Counter(left) & Counter(right)).total()


def test_f1_of_no_overlap_is_0_whatever_the_sizes() -> None:
    assert f1(0, 0, 0) == 0.0
    assert f1(0, 5, 0) == 0.0
    assert f1(3, 4, 5) == 2 * 3 / 9
