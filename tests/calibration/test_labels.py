"""What people wrote as labels: their kinds, the scale of numbers, and where a label stands in a record."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_calibration.label_column import label_of, without_label
from evalsi_calibration.labels import Label, as_number, as_pass, is_blank, kinds_of
from evalsi_calibration.scale import Scale, parse_scale
from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.records.mapping import MISSING


def labels(*written: Any) -> list[Label]:
    return [Label(str(number), value, f"labelled.jsonl, line {number}") for number, value in enumerate(written, 1)]


# -- kinds ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ((True, False), ("pass",)),
        ((1, 0, 1.0), ("pass", "number")),
        (("pass", "FAIL", " pass "), ("pass", "text")),
        (("true", "false"), ("pass", "text")),
        (("1", "0"), ("pass", "number", "text")),
        ((True, "fail", 1), ("pass",)),
        ((4, 5.0, 3.5), ("number",)),
        ((0, 4), ("number",)),
        (("4", "5"), ("number", "text")),
        (("4", 5), ("number",)),
        (("win", "tie"), ("text",)),
        (("pass", "unsure"), ("text",)),
        (("4", "unsure"), ("text",)),
    ],
)
def test_the_kinds_of_labels_are_those_that_all_of_them_can_be(
    written: tuple[Any, ...], kinds: tuple[str, ...]
) -> None:
    assert kinds_of(labels(*written)) == kinds
    assert kinds_of(labels(*reversed(written))) == kinds


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ((True, True, 4), "True (labelled.jsonl, line 1) and 4 (labelled.jsonl, line 3)"),
        (("good", "bad", 4), "'good' (labelled.jsonl, line 1) and 4 (labelled.jsonl, line 3)"),
        (("pass", 0.5), "'pass' (labelled.jsonl, line 1) and 0.5 (labelled.jsonl, line 2)"),
        ((1, "0", "good"), "1 (labelled.jsonl, line 1) and 'good' (labelled.jsonl, line 3)"),
        (("1", 3, True), "3 (labelled.jsonl, line 2) and True (labelled.jsonl, line 3)"),
    ],
)
def test_labels_of_mixed_kinds_are_an_error_that_shows_two_of_them(written: tuple[Any, ...], told: str) -> None:
    with pytest.raises(DatasetError, match="mixed kinds") as caught:
        kinds_of(labels(*written))
    assert told in caught.value.message
    assert "all pass or fail, all numbers, or all texts" in caught.value.hint


@pytest.mark.parametrize("written", [[1, 0], {"grade": 4}, float("inf")])
def test_what_is_no_label_is_an_error_that_says_where(written: Any) -> None:
    with pytest.raises(DatasetError, match=r"labelled\.jsonl, line 2: the label is"):
        kinds_of(labels(True, written))


@pytest.mark.parametrize("written", [None, "", "  \n"])
def test_nothing_and_blanks_are_no_label(written: Any) -> None:
    assert is_blank(written)


@pytest.mark.parametrize("written", [0, False, "0"], ids=repr)
def test_0_and_false_are_labels(written: Any) -> None:
    assert not is_blank(written)
    assert as_pass(written) is False


@pytest.mark.parametrize("text", ["nan", "inf", "1_000", "0x10", "1,5", "٣", "-", ""])
def test_a_text_that_only_python_takes_for_a_number_is_none(text: str) -> None:
    assert as_number(text) is None


@given(st.floats(-1e9, 1e9) | st.integers(-(10**9), 10**9))
def test_a_number_is_the_same_in_a_cell_of_a_table(value: float) -> None:
    assert as_number(str(value)) == as_number(value) == value


# -- scale ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        ("1-5", Scale(1, 5)),
        ("0 - 1", Scale(0, 1)),
        ("-2-2", Scale(-2, 2)),
        ("0.5–9.5", Scale(0.5, 9.5)),
        ("1to5", Scale(1, 5)),
    ],
)
def test_a_scale_is_read_from_its_ends(text: str, scale: Scale) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize(
    ("text", "told"), [("5", "no scale"), ("a-b", "no scale"), ("5-1", "ends before"), ("2-2", "ends")]
)
def test_what_is_no_scale_is_an_error_that_shows_one(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        parse_scale(text)
    assert "such as 1-5" in caught.value.hint


def test_steps_are_the_whole_numbers_of_a_scale_that_has_ends_of_them_and_not_too_many() -> None:
    assert Scale(1, 5).steps == (1, 2, 3, 4, 5)
    assert Scale(0, 100).steps == tuple(range(101))
    assert Scale(0, 101).steps is None
    assert Scale(0.5, 4.5).steps is None


@given(st.integers(-50, 50), st.integers(1, 100), st.data())
def test_a_step_keeps_its_place_through_another_scale(low: int, width: int, data: st.DataObject) -> None:
    scale = Scale(low, low + width)
    step = data.draw(st.integers(low, low + width))
    assert scale.nearest_step(scale.place(step)) == step
    other = Scale(1, 1 + width)
    assert scale.nearest_step(other.place(step - low + 1)) == step


def test_of_two_steps_as_near_the_greater_is_taken() -> None:
    assert [Scale(1, 5).nearest_step(place) for place in (0.0, 0.12, 0.125, 0.5, 0.8749, 0.875, 1.0)] == [
        1, 1, 2, 3, 4, 5, 5
    ]  # fmt: skip


# -- column --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("record", "name", "label", "rest"),
    [
        ({"output": "a", "metadata": {"human": 1}}, "human", 1, {"output": "a"}),
        ({"metadata": {"human": 1, "topic": "x"}}, "human", 1, {"metadata": {"topic": "x"}}),
        ({"metadata": {"human": 1}}, "metadata.human", 1, {}),
        ({"metadata": {"review": {"grade": 4, "by": "me"}}}, "review.grade", 4, {"metadata": {"review": {"by": "me"}}}),
        ({"metadata": {"review": {"grade": 4}, "topic": "x"}}, "review.grade", 4, {"metadata": {"topic": "x"}}),
        ({"metadata": {"review.grade": 4}}, "review.grade", 4, {}),
        ({"metadata": {"reviews": [{"grade": 4}, 2]}}, "reviews.0.grade", 4, {}),
        ({"output": "a", "check": {"passed": True}}, "check.passed", True, {"output": "a"}),
        ({"reference": "b", "metadata": {"reference": "c"}}, "reference", "c", {"reference": "b"}),
        ({"metadata": {"human": None}}, "human", None, {}),
    ],
)
def test_a_label_is_found_by_its_name_and_taken_out(
    record: dict[str, Any], name: str, label: Any, rest: dict[str, Any]
) -> None:
    path = tuple(name.split("."))
    before = repr(record)
    assert label_of(record, path) == label
    assert without_label(record, path) == rest
    assert repr(record) == before


def test_without_a_label_there_is_none() -> None:
    assert label_of({"output": "a"}, ("human",)) is MISSING
    assert label_of({"metadata": {"human": 1}}, ("human", "grade")) is MISSING
