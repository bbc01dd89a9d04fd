"""JSON documents: an array or an object with one list, read an element at a time, faults located."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_datasets.file_bytes import FileBytes
from evalsi_datasets.json_document import JsonDocument
from tests.datasets.reading import drain, fault_of, read
from tests.datasets.test_jsonl import OBJECTS


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    return tmp_path / "qa.json"


def test_an_array_of_objects_is_read_and_numbered(qa: Path) -> None:
    qa.write_bytes(b'\xef\xbb\xbf[\r\n {"a": 1},\n{"a": 2}\n]\n')

    reading = read(qa)

    assert reading.numbered == [(1, {"a": 1}), (2, {"a": 2})]
    assert reading.source.unit == "element"


def test_an_object_gives_its_one_list_of_objects_wherever_it_stands(qa: Path) -> None:
    qa.write_text('{"version": 12, "about": {"n": [1]}, "tags": ["x", [{}]], "data": [{"a": 1}], "log": [], "z": null}')

    assert read(qa).numbered == [(1, {"a": 1})]


RESULTS = (
    '{"schema_version": 1, "manifest": {}, "summaries": [{"metric": "m"}], "results": [{"record_id": "q1"}], '
    '"records": %s}'
)


def test_of_a_results_file_the_records_are_read(qa: Path) -> None:
    qa.write_text(RESULTS % '[{"id": "q1", "output": "x"}]')
    assert read(qa).numbered == [(1, {"id": "q1", "output": "x"})]
    qa.write_text(RESULTS % "[]")
    assert read(qa).numbered == []


def test_the_trials_of_a_run_s_records_are_told_apart(qa: Path) -> None:
    records = [{"id": "q1", "provenance": {"run": {"trial": trial}}} for trial in (1, 2, 3)]
    qa.write_text(RESULTS % json.dumps([*records, {"id": "q2", "provenance": {"run": None}}, {"id": "q3"}]))
    assert [row["id"] for row in read(qa).rows] == ["q1", "q1@2", "q1@3", "q2", "q3"]
    qa.write_text(json.dumps(records))
    assert [row["id"] for row in read(qa).rows] == ["q1"] * 3


@pytest.mark.parametrize("text", ["", " \n", "[]", '{"data": []}'])
def test_a_document_without_elements_gives_no_row(qa: Path, text: str) -> None:
    qa.write_text(text)

    assert read(qa).numbered == []


def test_numbers_are_floats_and_exact_integers(qa: Path) -> None:
    qa.write_text('[{"f": 0.1, "e": 1E2, "big": 123456789012345678901234567890}]')

    (row,) = read(qa).rows

    assert row == {"f": 0.1, "e": 100.0, "big": 123456789012345678901234567890}
    assert [type(value) for value in row.values()] == [float, float, int]


FAULTS = {
    "two lists": (
        '{"data": [{"a": 1}],\n "more": [{"b": 1}]}',
        'line 2, column 11: both "data" and "more" are lists of objects',
        "Keep one",
    ),
    "no list": ('{"input": "x", "output": "y"}', "the object holds no list of objects among input, output", "array"),
    "only other lists": ('{"tags": ["x"]}', "the object holds no list of objects among tags", "array"),
    "a number alone": ("12", "line 1, column 1: the document is neither an array nor an object", "array"),
    "JSON Lines": ('{"a": 1}\n{"a": 2}\n', "line 2, column 1: something follows the end of the object", ".jsonl"),
    "two arrays": ('[{"a": 1}] []', "line 1, column 12: something follows the end of the array", "one array"),
    "a missing comma": ('[{"a": 1}\n {"a": 2}]', 'line 2, column 2: a comma or "]" is missing', "Add it"),
    "a last comma": ('[{"a": 1},\n]', 'line 2, column 1: nothing stands between the comma and "]"', "away"),
    "a last comma in an object": ('{"data": [{"a": 1}],}', 'between the comma and "}"', "away"),
    "a missing colon": ('{"data" [{"a": 1}]}', 'line 1, column 9: a colon is missing after "data"', "Add it"),
    "a missing name": ("{12: 1}", "line 1, column 2: a name in double quotes is missing", "Add it"),
    "an element that is a number": ('[{"a": 1}, 3]', "element 2: a number stands where an object should", "array"),
    "NaN": ('[{"a": 1},\n {"a": NaN}]', "element 2 (line 2, column 8): NaN is no JSON number", "Write null or leave"),
    "out of range": ('[{"a": 1},\n {"a": -1e999}]', "element 2 (line 2, column 8): -1e999 is too large", "as text"),
    "a lone surrogate": ('[{"a": "\\udfff"}]', "element 1 (line 1, column 9): \\udfff is half", "whole character"),
    "a bare word": ('[{"a": nil}]', "element 1 (line 1, column 8): a value is missing", "null"),
    "single quotes": ("[{'a': 1}]", "element 1 (line 1, column 3): a name in double quotes is missing", "quotes"),
    "nested too deep": ('[{"a": ' + "[" * 100_000, "element 1 (line 1, column 107): arrays and objects are", "Flatten"),
    "deep and closed": ('[{"a": ' + "[" * 100 + "]" * 100 + "}]", "element 1 (line 1, column 107)", "Flatten"),
    "a fault in another member": ('{"meta": {"a": NaN}, "data": [{}]}', '"meta" (line 1, column 16): NaN', "null"),
}


@pytest.mark.parametrize(("text", "message", "hint"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_element_line_and_column(qa: Path, text: str, message: str, hint: str) -> None:
    qa.write_text(text)

    told, remedy, _ = fault_of(qa)

    assert told.startswith("qa.json")
    assert message in told
    assert hint in remedy


def test_the_elements_before_a_fault_come_first(qa: Path) -> None:
    qa.write_text('[{"a": 1}, {"a": 2}, {"a": NaN}, {"a": 4}]')

    assert fault_of(qa)[2] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("number", ["-12", "1.5", "1e5", "-0.5E+10", "true", "null", '"1."'])
@pytest.mark.parametrize("form", ['{"n": %s, "data": [{"a": 1}]}', '{"data": [{"a": 1}], "side": [7, %s]}'])
def test_a_value_outside_the_records_may_end_a_block_anywhere(qa: Path, form: str, number: str) -> None:
    qa.write_text(form % number)

    for block_bytes in range(1, len(form)):
        assert drain(JsonDocument(FileBytes(str(qa), "qa.json", block_bytes=block_bytes))).rows == [{"a": 1}]


@pytest.mark.parametrize("number", ["1.", "1e", "-1.5e+"])
def test_a_document_that_is_cut_off_inside_a_number_is_said_to_be(qa: Path, number: str) -> None:
    qa.write_text('{"data": [{"a": 1}], "n": ' + number)

    told, _, rows = fault_of(qa)

    assert told.startswith('qa.json, "n" (line 1, column ')
    assert "the file is cut off here" in told
    assert rows == [{"a": 1}]


WHOLE = '{"n": 0.5e+1, "about": {"n": -12.5e3}, "data": [{"a": "x\\u00e9\\ud83d\\ude00"}, {"b": [true, null]}]}'


@pytest.mark.parametrize("length", range(1, len(WHOLE)))
def test_a_document_that_is_cut_off_anywhere_is_said_to_be(qa: Path, length: int) -> None:
    qa.write_text(WHOLE[:length])

    told, remedy, _ = fault_of(qa)

    assert "the file is cut off here" in told
    assert "line 1, column " in told
    assert remedy == "Write it again, or fetch it whole."


def test_bytes_that_are_not_utf8_are_located_after_the_elements_before_them(qa: Path) -> None:
    qa.write_bytes('[{"a": "ü"},\n {"a": "caf'.encode() + b'\xe9"}]')

    assert fault_of(qa) == (
        "qa.json, line 2, column 12: 0xE9 is not UTF-8.",
        "Save the file as UTF-8.",
        [{"a": "ü"}],
    )


def test_a_document_that_begins_with_bytes_of_another_encoding_is_located(qa: Path) -> None:
    qa.write_bytes(b"\xe9[]")

    assert fault_of(qa)[0] == "qa.json, line 1, column 1: 0xE9 is not UTF-8."


@pytest.mark.parametrize("kept_bytes", [1, 2, 3])
def test_a_document_that_is_cut_off_inside_a_character_is_said_to_be(qa: Path, kept_bytes: int) -> None:
    qa.write_bytes(b'[{"a": "x"},\n{"a": "y' + "😀".encode()[:kept_bytes])

    assert fault_of(qa) == (
        "qa.json, line 2, column 9: the file is cut off here, in the middle of a character.",
        "Write it again, or fetch it whole; if it is whole, save it as UTF-8.",
        [{"a": "x"}],
    )


@pytest.mark.parametrize("encoding", [f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf16_and_utf32_are_named(qa: Path, mark: str, encoding: str) -> None:
    qa.write_bytes((mark + '[{"a": 1}]').encode(encoding))

    assert encoding[:6].upper() in fault_of(qa)[0]


def test_an_element_larger_than_many_blocks_is_read(qa: Path) -> None:
    qa.write_text(json.dumps([{"a": "é" * 3_000_000}, {"a": ["x"] * 100_000}, {"a": 1}], ensure_ascii=False))

    assert [len(str(row["a"])) for row in read(qa).rows] == [3_000_000, 500_000, 1]


def test_a_chunk_holds_about_sixty_four_kilobytes(qa: Path) -> None:
    qa.write_text(json.dumps([{"output": "x" * 986}] * 1000))

    lengths = read(qa).chunk_lengths

    assert sum(lengths) == 1000
    assert all(60 <= length <= 140 for length in lengths[:-1])


@pytest.fixture(scope="module")
def any_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "any.json"


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None, max_examples=40)
@given(
    objects=OBJECTS,
    numbers=st.lists(NUMBERS, max_size=3),
    block_bytes=st.integers(1, 80),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 1]),
)
@pytest.mark.parametrize("wrapped", [False, True], ids=["an array", "an object"])
def test_any_objects_come_back_whatever_the_blocks_and_the_form(
    any_file: Path,
    wrapped: bool,
    *,
    objects: list[dict[str, Any]],
    numbers: list[float],
    block_bytes: int,
    ascii_only: bool,
    indent: int | None,
) -> None:
    members = {f"n{index}": number for index, number in enumerate(numbers)}
    wrapper = {**members, "meta": {"tags": numbers}, "side": numbers, "data": objects, "end": numbers}
    document: Any = wrapper if wrapped else objects
    any_file.write_text(json.dumps(document, ensure_ascii=ascii_only, indent=indent), encoding="utf-8")

    reading = drain(JsonDocument(FileBytes(str(any_file), "any.json", block_bytes=block_bytes)))

    assert reading.fault is None
    assert reading.numbered == list(enumerate(objects, 1))
