"""Which brackets cite, and what."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_pack_rag.markers import markers_of


def numbers(text: str) -> list[tuple[int, ...]]:
    return [marker.numbers for marker in markers_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1]", [(1,)]),
        ("seven[1].", [(1,)]),
        ("[1,2]", [(1, 2)]),
        ("[1, 2 ; 4]", [(1, 2, 4)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–3, 7]", [(1, 2, 3, 7)]),
        ("[1][2]", [(1,), (2,)]),
        ("[ 12 ]", [(12,)]),
        ("[0]", [(0,)]),
        ("[[1]]", [(1,)]),
        ("[3-3]", [(3,)]),
        ("【1】", [(1,)]),
        ("\uff3b\uff11\uff0c\uff12\uff3d", [(1, 2)]),
        ("[1、2]", [(1, 2)]),
        ("[١، ٢]", [(1, 2)]),
        ("[१-३]", [(1, 2, 3)]),
    ],
)
def test_markers(text: str, expected: list[tuple[int, ...]]) -> None:
    assert numbers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[2024]",
        "[1-100]",
        "[3-1]",
        "[-1]",
        "[1.5]",
        "[x]",
        "[n]",
        "[^1]",
        "[]",
        "[ ]",
        "[1,]",
        "[,1]",
        "[1-]",
        "[1 2]",
        "(1)",
        "{1}",
        "[1",
        "1]",
        "[one]",
        "[1a]",
        "[0, 1)",
        "[½]",
        "[²]",
    ],
)
def test_what_is_no_marker(text: str) -> None:
    assert numbers(text) == []


cited = st.lists(st.integers(0, 999), min_size=1, max_size=5)


@given(cited)
def test_a_list_cites_what_its_numbers_cite_alone(listed: list[int]) -> None:
    together = numbers(f"[{', '.join(map(str, listed))}]")
    alone = numbers("".join(f"[{number}]" for number in listed))
    assert [one for marker in together for one in marker] == [one for marker in alone for one in marker] == listed


@given(st.integers(0, 980), st.integers(0, 19))
def test_a_range_is_the_list_of_its_numbers(first: int, more: int) -> None:
    assert numbers(f"[{first}-{first + more}]") == [tuple(range(first, first + more + 1))]


@given(st.text(alphabet="[]【】0123456789,-– a^"))
def test_places_are_those_of_the_text_and_follow_one_another(text: str) -> None:
    end = 0
    for marker in markers_of(text):
        assert end <= marker.start < marker.end
        assert text[marker.start : marker.end] == marker.written
        assert marker.numbers
        end = marker.end
