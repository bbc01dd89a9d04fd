"""Two JSON values are equal as JSON sees it, and what differs is told field by field."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi import ContentLimitError, ParamError, Record
from evalsi_pack_core.json_checks import JsonEqual
from evalsi_pack_core.json_difference import differences


def compared(output: object, reference: object, **params: Any) -> tuple[bool, float, str | None]:
    """Whether it passed, the share of equal fields, and the explanation."""
    verdict, share = JsonEqual(**params).score(Record(output=output, reference=reference))
    assert verdict.passed is not None
    assert share.name == "json-equal.fields"
    assert share.value is not None
    assert verdict.passed is (share.value == 1.0)
    return verdict.passed, share.value, verdict.explanation


@pytest.mark.parametrize(
    ("output", "reference", "equal"),
    [
        ("{}", "{}", True),
        ('{"hits":[],"notes":{}}', '{"notes":{},"hits":[]}', True),
        ("null", '{"rows":3}', False),
        ("true", "[1]", False),
        ("[]", "{}", False),
        ('{"n":1}', '{"n":1.0}', True),
        ('{"n":1}', '{"n":true}', False),
        ("[0]", "[false]", False),
        ("[null]", "[]", False),
        ('""', "null", False),
        ("[1,2]", "[2,1]", False),
        ('"é"', '"\\u00e9"', True),
        ("1e2", "100", True),
        ("9007199254740993", "9007199254740992", False),
        ("1" * 400, "1.0", False),
    ],
)
def test_equality_is_that_of_json(output: str, reference: str, equal: bool) -> None:
    passed, share, explanation = compared(output, {"json": json.loads(reference)})
    assert passed is equal
    assert (share == 1.0) is equal
    assert (explanation is None) is equal


def test_the_difference_names_each_field() -> None:
    passed, share, explanation = compared(
        '{"name": "Ada", "tags": ["a", "c"], "extra": {"x": [1]}}',
        '{"name": "Ada", "tags": ["a", "b"], "age": null}',
    )
    assert not passed
    assert share == pytest.approx(2 / 5)
    assert explanation == 'tags[1] is "c", not "b"; age is missing; extra is not in the reference'


def test_the_difference_travels_as_data_too() -> None:
    verdict, _ = JsonEqual().score(Record(output='{"a": [1], "c": true}', reference='{"a": [2], "b": null}'))
    assert verdict.metadata == {
        "different": 3,
        "differences": [
            {"path": "a[0]", "output": "1", "reference": "2"},
            {"path": "b", "reference": "null"},
            {"path": "c", "output": "true"},
        ],
    }


def test_of_many_differences_the_first_are_told_and_all_are_counted() -> None:
    verdict, share = JsonEqual().score(Record(output={"json": [0] * 1000}, reference={"json": [1] * 1000}))
    assert verdict.explanation is not None
    assert verdict.explanation.endswith("; and 995 more")
    assert verdict.metadata is not None
    assert len(verdict.metadata["differences"]) == 100
    assert verdict.metadata["different"] == 1000
    assert share.value == 0.0


def test_scalars_are_compared_as_a_whole() -> None:
    assert compared("1", "2") == (False, 0.0, "the value is 1, not 2")


def test_an_output_that_is_no_json_fails_with_no_equal_field() -> None:
    passed, share, explanation = compared("Ada", '{"name": "Ada"}')
    assert (passed, share) == (False, 0.0)
    assert str(explanation).startswith("The output is not JSON")


def test_a_reference_that_is_no_json_is_an_error_unless_another_is() -> None:
    with pytest.raises(ValueError, match=r"the reference is not JSON: .*; correct the reference of this record"):
        compared("{}", "Lisbon")
    assert compared("{}", ["Lisbon", "{}"]) == (True, 1.0, None)


def test_the_reference_with_the_largest_share_counts() -> None:
    passed, share, explanation = compared('{"a": 1, "b": 2}', ["3", '{"a": 1, "b": 3}'])
    assert (passed, share, explanation) == (False, 0.5, "b is 2, not 3")


@pytest.mark.parametrize("ignore", [["id"], ["a.id"], ["$.a.id"]])
def test_ignored_fields_are_not_compared(ignore: list[str]) -> None:
    assert compared('{"a": {"id": 1, "x": 2}}', '{"a": {"id": 9, "x": 2}}', ignore=ignore) == (True, 1.0, None)
    assert compared('{"a": {"x": 2}}', '{"a": {"id": 9, "x": 2}}', ignore=ignore) == (True, 1.0, None)


@pytest.mark.parametrize(
    ("output", "reference"),
    [
        ('{"id": 1}', "{}"),
        ("{}", '{"id": 1}'),
        ('{"a": {"id": 1}}', '{"a": {}}'),
        ('{"a": {}}', '{"a": {"id": 1}}'),
        ('[{"id": 1}]', "[{}]"),
    ],
)
def test_a_side_that_has_nothing_but_ignored_fields_equals_an_empty_one(output: str, reference: str) -> None:
    assert compared(output, reference, ignore=["id"]) == (True, 1.0, None)
    assert compared(output, reference)[:2] == (False, 0.0)


def test_what_is_ignored_may_be_the_items_of_a_list() -> None:
    assert compared("[]", "[1, 2]", ignore=["[]"]) == (True, 1.0, None)
    assert compared('{"a": [], "b": 1}', '{"a": [1], "b": 1}', ignore=["a[0]"]) == (True, 1.0, None)
    assert compared('{"a": []}', '{"a": [1, 2]}', ignore=["a[0]"])[2] == "a is [], not [… 2 items]"


def test_an_ignored_field_is_no_excuse_for_another_that_is_missing() -> None:
    assert compared("{}", '{"id": 1, "x": 2}', ignore=["id"])[:2] == (False, 0.0)
    assert compared('{"x": 1}', '{"x": 1, "a": {"id": 1}}', ignore=["id"])[:2] == (False, 0.5)


def test_a_key_with_dots_or_brackets_is_a_name_as_a_whole() -> None:
    output, reference = '{"user.id": 1, "tags[]": 1}', '{"user.id": 2, "tags[]": 2}'
    assert compared(output, reference, ignore=["id", "tags"])[1] == 0.0
    assert compared(output, reference, tolerance={"id": 5, "tags": 5})[1] == 0.0
    assert compared(output, reference, ignore=["user.id", "tags[]"])[0]


@pytest.mark.parametrize("ignore", [["rows[].id"], ["rows[*].id"], ["id"], ["rows[0].id", "rows[1].id"]])
def test_ignored_paths_reach_into_lists(ignore: list[str]) -> None:
    output, reference = '{"rows": [{"id": 1}, {"id": 2}]}', '{"rows": [{"id": 3}, {"id": 4}]}'
    assert compared(output, reference, ignore=ignore)[0]
    assert compared(output, reference, ignore=["rows[0].id"])[1] == 0.0


def test_a_path_from_the_root_is_that_field_and_no_other_of_its_name() -> None:
    output, reference = '{"id": 1, "a": {"id": 1}}', '{"id": 2, "a": {"id": 2}}'
    assert compared(output, reference, ignore=["$.id"])[2] == "a.id is 1, not 2"
    assert compared(output, reference, tolerance={"$.id": 1})[2] == "a.id is 1, not 2"
    assert compared('[{"id": 1}, 2]', '[{"id": 1}, 3]', ignore=["$[1]"])[0]
    assert compared('[{"id": 1}, 2]', '[{"id": 2}, 2]', ignore=["$[].id"])[0]
    assert not compared('{"a": [[1]]}', '{"a": [[2]]}', ignore=["$[0]"])[0]


def test_a_field_s_own_name_may_begin_with_a_dollar() -> None:
    assert compared('{"$id": 1, "id": 2}', '{"$id": 9, "id": 3}', ignore=["$id"])[2] == "id is 2, not 3"


@pytest.mark.parametrize("value", ["1e999", '{"n": -1e999}', "1" * 5000, "[" * 2000 + "]" * 2000])
def test_what_is_beyond_a_number_s_range_or_nested_too_deep_is_an_error_and_equals_nothing(value: str) -> None:
    with pytest.raises(ContentLimitError):
        compared(value, "1")
    with pytest.raises(ValueError, match="correct the reference of this record"):
        compared("1", value)


def test_a_path_names_only_its_own_field() -> None:
    assert not compared('{"a": {"id": 1}, "b": {"id": 1}}', '{"a": {"id": 2}, "b": {"id": 2}}', ignore=["a.id"])[0]


def test_tolerance_is_absolute_and_per_field() -> None:
    output, reference = '{"a": 1.05, "b": [1.05]}', '{"a": 1, "b": [1]}'
    assert compared(output, reference, tolerance={"a": 0.1, "b": 0.1})[0]
    assert compared(output, reference, tolerance={"$.a": 0.1, "b[*]": 0.1})[0]
    assert compared(output, reference, tolerance={"a": 0.1, "b": 0.01})[2] == "b[0] is 1.05, not 1"
    assert not compared(output, reference, tolerance={"c": 1})[0]


def test_a_number_at_the_very_tolerance_is_within_it() -> None:
    assert compared('{"a": 1.1}', '{"a": 1}', tolerance={"a": 0.1})[0]
    assert not compared('{"a": 1.1001}', '{"a": 1}', tolerance={"a": 0.1})[0]


def test_tolerance_is_for_numbers_only_and_never_fails_on_large_ones() -> None:
    assert not compared('{"a": true}', '{"a": 1}', tolerance={"a": 5})[0]
    assert not compared('{"a": ' + "1" * 400 + "}", '{"a": 1.5}', tolerance={"a": 5})[0]


def test_a_negative_tolerance_is_refused_before_any_record() -> None:
    with pytest.raises(ParamError, match="tolerance: that of 'a' is -1, which is below zero"):
        JsonEqual(tolerance={"a": -1})


def test_what_no_utf8_can_hold_is_told_escaped() -> None:
    verdict, _ = JsonEqual().score(Record(output='{"\\ud800": "\\ud800"}', reference='{"\\ud800": 1}'))
    assert verdict.explanation == '\\ud800 is "\\ud800", not 1'
    assert verdict.metadata is not None
    json.dumps(verdict.metadata, ensure_ascii=False).encode()


def test_nesting_and_length_are_no_hurdle() -> None:
    deep: Any = 1
    for _ in range(50_000):
        deep = [deep]
    assert differences(deep, deep).share == 1.0
    long = list(range(200_000))
    assert differences(long, [*long[:-1], -1]).compared == 200_000


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_every_value_equals_itself_through_text_and_back(value: Any) -> None:
    assert compared(json.dumps(value), {"json": value}) == (True, 1.0, None)


@given(json_values, json_values)
def test_what_differs_one_way_differs_the_other(left: Any, right: Any) -> None:
    forth, back = differences(left, right), differences(right, left)
    assert 0.0 <= forth.share <= 1.0
    assert forth.share == back.share
    assert {field.path for field in forth.fields} == {field.path for field in back.fields}


@pytest.mark.parametrize("value", [[1, 2, 3], [{"a": 1}, {"a": 2}], [[1], [2]], ["a", "b"], [1, "a", True]])
def test_e6_an_output_equals_the_same_list(value: list[Any]) -> None:
    for output in (value, json.dumps(value)):
        scores = JsonEqual().score(Record(output=output, reference=value))
        assert [scores[0].passed, scores[1].value] == [True, 1.0]
        assert "read as one list" in (scores[0].explanation or "")


def test_e6_a_list_of_references_still_means_any_of_them() -> None:
    passed = JsonEqual().score(Record(output=[1, 2], reference=[[1, 2], [3]]))[0]
    assert (passed.passed, passed.explanation) == (True, None)
    assert JsonEqual().score(Record(output={"a": 1}, reference=[{"a": 2}, {"a": 1}]))[0].passed


def test_e6_a_list_that_equals_neither_reading_fails_with_a_note() -> None:
    scores = JsonEqual().score(Record(output=[1, 2, 4], reference=[1, 2, 3]))
    assert not scores[0].passed
    assert "read as one list and as any of its items" in (scores[0].explanation or "")
    assert scores[1].value == pytest.approx(2 / 3)
