"""JSON Lines: what is a line, what is a row, and where a fault stands."""

import json
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_datasets import lines
from evalsi_datasets.file_bytes import FileBytes
from evalsi_datasets.json_document import JsonDocument
from evalsi_datasets.jsonl import JsonLines
from tests.datasets.reading import drain, fault_of, open_source, read


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    return tmp_path / "qa.jsonl"


# Case open-27: str.splitlines() finds five pieces here.
def test_separators_other_than_lf_stay_inside_their_text(qa: Path) -> None:
    text = '{"id":"a1","output":"one\u2028two"}\n{"id":"a2","output":"three\u0085four\u2029five"}\n'
    qa.write_bytes(text.encode())

    rows = read(qa).rows

    assert [row["id"] for row in rows] == ["a1", "a2"]
    assert [row["output"] for row in rows] == ["one\u2028two", "three\u0085four\u2029five"]
    assert "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows) == text


def test_a_byte_order_mark_and_crlf_are_no_part_of_a_row(qa: Path) -> None:
    qa.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n')

    assert read(qa).rows == [{"a": 1}, {"a": 2}]


def test_blank_lines_hold_no_row_and_are_counted(qa: Path) -> None:
    qa.write_bytes(b'\n{"a": 1}\n  \t\r\n\r\n{"a": 2}\n\n')

    assert read(qa).numbered == [(2, {"a": 1}), (5, {"a": 2})]


TWICE = '{"id": "r7", "output": "a", "metadata": {"output": 1}, "output": "b"}'


@pytest.mark.parametrize("before", [0, 99])
@pytest.mark.parametrize("behind", [0, 500])
@pytest.mark.parametrize("name", ["qa.jsonl", "qa.json"])
def test_a_name_that_stands_twice_in_a_record_is_refused_near_the_beginning(
    tmp_path: Path, name: str, before: int, behind: int
) -> None:
    """Which of the two is meant nobody can say; a JSON reader takes the last without a word."""
    rows = [*['{"output": "x"}'] * before, TWICE, *['{"output": "x"}'] * behind]
    path = tmp_path / name
    path.write_text("\n".join(rows) if name == "qa.jsonl" else f"[{', '.join(rows)}]")

    message, hint, came = fault_of(path)

    assert f"{before + 1}" in message
    assert message.endswith(': "output" stands twice in one object.')
    assert hint == "Keep the one that is meant."
    assert len(came) == before


def test_a_name_that_stands_twice_is_refused_inside_of_a_value_too(qa: Path) -> None:
    qa.write_text('{"metadata": {"topic": "a", "topic": "b"}}\n')

    assert fault_of(qa)[0] == 'qa.jsonl, line 1, column 1: "topic" stands twice in one object.'


def test_further_on_speed_goes_before_it(qa: Path) -> None:
    qa.write_text('{"output": "x"}\n' * 500 + TWICE)

    assert read(qa).rows[-1]["output"] == "b"


def test_the_last_line_needs_no_line_end(qa: Path) -> None:
    qa.write_bytes(b'{"a": 1}\n{"a": 2}')

    assert read(qa).rows == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xef\xbb\xbf"], ids=["nothing", "blank lines", "a mark alone"])
def test_a_file_without_rows_gives_none(qa: Path, content: bytes) -> None:
    qa.write_bytes(content)

    assert read(qa).numbered == []


def test_integers_of_any_size_are_exact_and_floats_are_floats(qa: Path) -> None:
    qa.write_text('{"big": 123456789012345678901234567890, "small": -9223372036854775809, "half": 0.5, "e": 1e3}\n')

    (row,) = read(qa).rows

    assert row == {"big": 123456789012345678901234567890, "small": -9223372036854775809, "half": 0.5, "e": 1000.0}
    assert type(row["e"]) is float


def test_a_line_of_fifty_megabytes_is_read(qa: Path) -> None:
    with qa.open("wb") as file:
        file.write(b'{"output": "')
        file.writelines([b"x" * 1_000_000] * 50)
        file.write(b'"}\n{"output": "y"}\n')

    rows = read(qa).rows

    assert [len(row["output"]) for row in rows] == [50_000_000, 1]


FAULTS = {
    "NaN": ('{"a": NaN}\n', "line 2, column 7: NaN is no JSON number", "Write null or leave the field out."),
    "infinity": ('{"a": [1, -Infinity]}\n', "column 11: -Infinity is no JSON number", "Write null"),
    "NaN in a text before": ('{"b": "NaN", "a": NaN}\n', "line 2, column 19: NaN", "Write null"),
    "a float out of range": ('{"a": 1e999}\n', "line 2, column 7: 1e999 is too large a number", "as text"),
    "an endless integer": (f'{{"a": {"9" * 5000}}}\n', "999999999999… (5000 characters) is too large", "as text"),
    "a lone surrogate": ('{"a": "x\\ud800"}\n', "column 9: \\ud800 is half of a surrogate pair", "whole character"),
    "a low surrogate": ('{"a": "\\udc00"}\n', "column 8: \\udc00 is half of a surrogate pair", "whole character"),
    "an array": ("[1]\n", "line 2: an array stands where an object should", '{"input": '),
    "a text": ('"a"\n', "line 2: text stands where", "object"),
    "a number": ("12\n", "line 2: a number stands where", "object"),
    "null": ("null\n", "line 2: null stands where", "object"),
    "true": ("true\n", "line 2: true stands where", "object"),
    "single quotes": ("{'a': 1}\n", "line 2, column 2: a name in double quotes is missing", "double quotes"),
    "a missing comma": ('{"a": 1 "b": 2}\n', "line 2, column 9: a comma or a closing bracket is missing", "Add it"),
    "a missing colon": ('{"a" 1}\n', "line 2, column 6: a colon is missing", "Add it"),
    "a bare word": ('{"a": nil}\n', "line 2, column 7: a value is missing", "null"),
    "a raw tab": ('{"a": "x\ty"}\n', "line 2, column 9: a control character stands raw", "\\t"),
    "an unknown escape": ('{"a": "\\q"}\n', "line 2, column 8: no such escape", "\\\\"),
    "two objects": ('{"a": 1} {"a": 2}\n', "line 2, column 10: something follows the end", "one object a line"),
    "an object over several lines": ('{"a":\n1}\n', "line 2, column 6: the line ends in the middle", "name it .json"),
    "NUL bytes": ("\0\0\0\n", "line 2, column 1: a value is missing", "null"),
}


@pytest.mark.parametrize(("line", "message", "hint"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_line_and_column_after_the_rows_before_it(
    qa: Path, line: str, message: str, hint: str
) -> None:
    qa.write_bytes(b'{"id": "before"}\n' + line.encode() + b'{"id": "after"}\n')

    told, remedy, before = fault_of(qa)

    assert message in told
    assert told.startswith("qa.jsonl, line 2")
    assert hint in remedy
    assert before == [{"id": "before"}]


HALF_WRITTEN = [
    '{"a": "x',
    '{"a": "x\\',
    '{"a": "x\\u12',
    '{"a": [1, ',
    '{"a"',
    '{"a":',
    '{"a": tr',
    '{"a": -',
    "{",
    '{"a": 1',
]


@pytest.mark.parametrize("line", HALF_WRITTEN)
def test_a_half_written_last_line_is_said_to_be_one(qa: Path, line: str) -> None:
    qa.write_text('{"id": "before"}\n' + line)

    told, remedy, before = fault_of(qa)

    assert told.startswith("qa.jsonl, line 2, column ")
    assert "the last line is cut off in the middle of a record" in told
    assert remedy == "Write the record again, or remove the line."
    assert before == [{"id": "before"}]


def test_a_wrong_last_line_without_a_line_end_is_not_said_to_be_half_written(qa: Path) -> None:
    qa.write_text('{"a": 1 "b": 2}')

    assert "cut off" not in fault_of(qa)[0]


def test_a_whole_array_in_a_jsonl_file_is_told_to_be_named_json(qa: Path) -> None:
    qa.write_text('[{"a": 1}]\n')

    assert "name it .json" in fault_of(qa)[1]


def test_surrogate_pairs_and_escaped_backslashes_are_text(qa: Path) -> None:
    qa.write_text('{"a": "\\ud83d\\ude00", "b": "\\\\ud800"}\n')

    assert read(qa).rows == [{"a": "😀", "b": "\\ud800"}]


def test_bytes_that_are_not_utf8_are_located_by_byte(qa: Path) -> None:
    qa.write_bytes('{"a": "ü"}\n{"a": "caf'.encode() + b'\xe9"}\n')

    assert fault_of(qa) == (
        "qa.jsonl, line 2, byte 11: 0xE9 is not UTF-8.",
        "Save the file as UTF-8.",
        [{"a": "ü"}],
    )


@pytest.mark.parametrize("kept_bytes", [1, 2, 3])
def test_a_last_line_that_is_cut_off_inside_a_character_is_said_to_be(qa: Path, kept_bytes: int) -> None:
    qa.write_bytes(b'{"a": "x"}\n{"a": "y' + "😀".encode()[:kept_bytes])

    assert fault_of(qa) == (
        "qa.jsonl, line 2, byte 9: the last line is cut off in the middle of a character.",
        "Write the record again, or remove the line; if the file is whole, save it as UTF-8.",
        [{"a": "x"}],
    )


def test_a_character_that_a_line_end_cuts_off_is_not_utf8(qa: Path) -> None:
    qa.write_bytes(b'{"a": "y' + "😀".encode()[:2] + b'\n{"a": "z"}')

    assert fault_of(qa)[0] == "qa.jsonl, line 1, byte 9: 0xF0 is not UTF-8."


@pytest.mark.parametrize("encoding", [f"utf-{bits}{order}" for bits in (16, 32) for order in ("", "-le", "-be")])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf16_and_utf32_are_named(qa: Path, mark: str, encoding: str) -> None:
    qa.write_bytes((mark + '{"a": 1}\n').encode(encoding))

    told, remedy, _ = fault_of(qa)

    assert told.startswith("qa.jsonl, line 1: ")
    assert encoding[:6].upper() in told
    assert remedy == "Save it as UTF-8."


@pytest.mark.parametrize("opening", ["[", '{"a":'], ids=["arrays", "objects"])
def test_a_hundred_thousand_brackets_are_a_located_fault_and_no_crash(qa: Path, opening: str) -> None:
    qa.write_text('{"a": ' + opening * 100_000 + "\n")

    told, remedy, _ = fault_of(qa)

    assert told.startswith("qa.jsonl, line 1, column ")
    assert "nested deeper than 100 levels" in told
    assert remedy.startswith("Flatten the record")


@pytest.mark.parametrize(("levels", "is_refused"), [(100, False), (101, True), (900, True)])
def test_a_hundred_levels_are_read_and_one_more_is_refused(qa: Path, levels: int, is_refused: bool) -> None:
    inner = levels - 1
    qa.write_text('{"a": ' + "[" * inner + "]" * inner + "}\n")

    reading = drain(open_source(qa))

    assert (reading.fault is not None) == is_refused
    if reading.fault:
        assert "line 1, column 106: arrays and objects are nested deeper" in reading.fault.message


def test_many_brackets_side_by_side_are_not_deep(qa: Path) -> None:
    qa.write_text(json.dumps({"a": [[1]] * 500, "b": "[" * 500}) + "\n")

    assert read(qa).rows == [{"a": [[1]] * 500, "b": "[" * 500}]


CODE_READERS: dict[str, tuple[type[JsonLines | JsonDocument], str]] = {
    ".jsonl": (JsonLines, "\n"),
    ".json": (JsonDocument, ","),
}


@pytest.mark.parametrize("suffix", CODE_READERS)
def test_brackets_in_a_text_cost_no_second_reading(tmp_path: Path, suffix: str) -> None:
    reader, separator = CODE_READERS[suffix]

    def seconds(text: str) -> float:
        path = tmp_path / f"qa{suffix}"
        body = separator.join([json.dumps({"id": "a", "output": text, "context": ["x"] * 3})] * 3_000)
        path.write_text(f"[{body}]" if suffix == ".json" else body)
        taken = []
        for _ in range(5):
            begun = process_time()
            rows = drain(reader(FileBytes(str(path), "qa"))).rows
            taken.append(process_time() - begun)
            assert len(rows) == 3_000
        return min(taken)

    # A second reading by the careful reader took eighteen times as long.
    assert seconds("a[i]{} " * 60) < 5 * seconds("a(i)() " * 60)


def test_long_integers_are_read_beside_many_brackets(qa: Path) -> None:
    row = {"a": [[1]] * 500, "n": 10**400}
    qa.write_text(json.dumps(row) + "\n")

    assert read(qa).rows == [row]


def test_an_unquoted_date_is_a_fault_of_grammar(qa: Path) -> None:
    qa.write_text('{"at": 2024-01-02}\n')

    assert "line 1, column 12: a comma or a closing bracket is missing" in fault_of(qa)[0]


def test_a_chunk_holds_about_sixty_four_kilobytes(qa: Path) -> None:
    qa.write_text(('{"output": "' + "x" * 986 + '"}\n') * 1000)

    lengths = read(qa).chunk_lengths

    assert sum(lengths) == 1000
    # The block in which the hundredth line ends is two chunks.
    assert all(60 <= length <= 68 for length in [lengths[0], *lengths[3:-1]])
    assert 60 <= lengths[1] + lengths[2] <= 68


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=8), VALUES, max_size=3), max_size=6)
LINE_ENDS = st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \r\n"])


@pytest.fixture(scope="module")
def any_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "any.jsonl"


@settings(deadline=None, max_examples=40)
@given(objects=OBJECTS, data=st.data(), block_bytes=st.integers(1, 80), ascii_only=st.booleans())
def test_any_objects_come_back_whatever_the_line_ends_and_blocks(
    any_file: Path, *, objects: list[dict[str, Any]], data: st.DataObject, block_bytes: int, ascii_only: bool
) -> None:
    lines = [json.dumps(value, ensure_ascii=ascii_only).encode() for value in objects]
    ends = [data.draw(LINE_ENDS) for _ in objects]
    if ends:
        ends[-1] = data.draw(st.sampled_from([ends[-1], b""]))
    mark = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    any_file.write_bytes(mark + b"".join(line + end for line, end in zip(lines, ends, strict=True)))

    reading = drain(JsonLines(FileBytes(str(any_file), "any.jsonl", block_bytes=block_bytes)))

    assert reading.fault is None
    assert reading.rows == objects
    assert [number for number, _ in reading.numbered] == [
        1 + sum(end.count(b"\n") for end in ends[:index]) for index in range(len(objects))
    ]


def test_a_line_without_end_is_refused_before_it_fills_the_memory(qa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 3 * 2**20)
    qa.write_bytes(b'{"output": "fine"}\n{"output": "' + b"x" * 4 * 2**20 + b'"}\n')
    message, _, rows = fault_of(qa)
    assert message == "qa.jsonl, line 2: it has no end within 3 MiB."
    assert [row["output"] for row in rows] == ["fine"]
    monkeypatch.undo()
    reading = drain(JsonLines(FileBytes("/dev/zero", "/dev/zero")))
    assert "/dev/zero, line 1: it has no end within 256 MiB." in str(reading.fault)
