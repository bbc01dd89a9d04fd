"""CSV and TSV: a header, cells that are text, rows that must fit, faults located."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsi_datasets.delimited import Delimited
from evalsi_datasets.file_bytes import FileBytes
from tests.datasets.reading import drain, fault_of, read


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    return tmp_path / "qa.csv"


def test_every_cell_is_text_and_an_empty_one_is_absent(qa: Path) -> None:
    qa.write_text('id,output,score\n1,yes,0.5\n2,,""\n3, ,null\n')

    assert read(qa).rows == [
        {"id": "1", "output": "yes", "score": "0.5"},
        {"id": "2", "output": None, "score": None},
        {"id": "3", "output": " ", "score": "null"},
    ]


def test_a_byte_order_mark_and_crlf_are_no_part_of_a_cell(qa: Path) -> None:
    qa.write_bytes(b"\xef\xbb\xbfid,output\r\n1,yes\r\n")

    assert read(qa).rows == [{"id": "1", "output": "yes"}]


def test_quotes_hold_line_ends_commas_and_quotes_and_rows_are_numbered_by_their_first_line(qa: Path) -> None:
    qa.write_text('id,output\n1,"two\nlines"\n\n2,"a, ""b"""\n3,c\u2028d\x85e\n')

    assert read(qa).numbered == [
        (2, {"id": "1", "output": "two\nlines"}),
        (5, {"id": "2", "output": 'a, "b"'}),
        (6, {"id": "3", "output": "c\u2028d\x85e"}),
    ]


def test_a_crlf_inside_quotes_is_kept(qa: Path) -> None:
    qa.write_bytes(b'id,output\r\n1,"two\r\nlines"\r\n')

    assert read(qa).rows == [{"id": "1", "output": "two\r\nlines"}]


def test_tabs_separate_the_cells_of_a_tsv_file(tmp_path: Path) -> None:
    path = tmp_path / "qa.tsv"
    path.write_text('id\toutput\n1\tyes, no\n2\t"a\tb"\n')

    assert read(path).rows == [{"id": "1", "output": "yes, no"}, {"id": "2", "output": "a\tb"}]


def test_commas_of_a_tsv_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "qa.tsv"
    path.write_text("id,output\n1,2\n")

    told, remedy, _ = fault_of(path)

    assert told == "qa.tsv, line 1: the header is one column, whose name holds commas."
    assert remedy == "Separate the cells by tabs, or name the file .csv."


def test_a_file_of_one_column_is_read(qa: Path) -> None:
    qa.write_text("output\na;b\n")

    assert read(qa).rows == [{"output": "a;b"}]


def test_a_cell_of_a_megabyte_is_read(qa: Path) -> None:
    qa.write_text("id,output\n1," + "x" * 1_000_000 + "\n")

    assert len(read(qa).rows[0]["output"]) == 1_000_000


@pytest.mark.parametrize("text", ["", "\n", "id,output\n"], ids=["nothing", "a blank line", "a header alone"])
def test_a_file_without_rows_gives_none(qa: Path, text: str) -> None:
    qa.write_text(text)

    assert read(qa).numbered == []


FAULTS = {
    "a name twice": ("id,output,id\n", 'line 1: columns 1 and 3 of the header are both named "id"', "of its own"),
    "a name missing": ("id,,output\n", "line 1: column 2 of the header has no name", "Name every column"),
    "a blank name": ("id,  \n", "line 1: column 2 of the header has no name", "Name every column"),
    "semicolons": ("id;output\n1;2\n", "line 1: the header is one column, whose name holds semicolons", "by commas."),
    "tabs": ("id\toutput\n1\t2\n", "whose name holds tabs", "Separate the cells by commas, or name the file .tsv."),
    "too few cells": ("id,output\n\n1\n", "line 3: the cells of this row are 1, and those of the header 2", "as many"),
    "too many cells": ("id,output\n1,2,3\n", "line 2: the cells of this row are 3, and those of the header 2", "Quote"),
    "an open quote": ('id,output\n1,2\n3,"4\n5,6\n', "line 3: a quote that opens in this row is never closed", '""'),
    "text behind a quote": ('id,output\n1,"2"3\n', "line 2: the row cannot be read: ',' expected after", '""'),
    "CR alone": ("id,output\r1,2\r", "line 1: a line ends in CR alone", "LF or CRLF"),
}


@pytest.mark.parametrize(("text", "message", "hint"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_its_line(qa: Path, text: str, message: str, hint: str) -> None:
    qa.write_bytes(text.encode())

    told, remedy, _ = fault_of(qa)

    assert message in told
    assert hint in remedy


def test_the_rows_before_a_fault_come_first(qa: Path) -> None:
    qa.write_text("id,output\n1,2\n3\n")

    assert fault_of(qa)[2] == [{"id": "1", "output": "2"}]


def test_bytes_that_are_not_utf8_are_located_by_line_and_byte(qa: Path) -> None:
    qa.write_bytes(b"id,output\n1,a\n2,caf\xe9\n")

    told, remedy, before = fault_of(qa)

    assert (told, remedy) == ("qa.csv, line 3, byte 6: 0xE9 is not UTF-8.", "Save the file as UTF-8.")
    assert before == [{"id": "1", "output": "a"}]


def test_a_last_row_that_is_cut_off_inside_a_character_is_said_to_be(qa: Path) -> None:
    qa.write_bytes(b"id,output\n1,a\n2,b" + "😀".encode()[:2])

    assert fault_of(qa) == (
        "qa.csv, line 3, byte 4: the last line is cut off in the middle of a character.",
        "Write the record again, or remove the line; if the file is whole, save it as UTF-8.",
        [{"id": "1", "output": "a"}],
    )


def test_a_spreadsheet_named_csv_is_named(qa: Path) -> None:
    qa.write_bytes(b"PK\x03\x04rest")

    told, remedy, _ = fault_of(qa)

    assert "a zip archive or a spreadsheet" in told
    assert "in .xlsx" in remedy


def test_a_chunk_holds_about_sixty_four_kilobytes(qa: Path) -> None:
    qa.write_text("output\n" + ("x" * 999 + "\n") * 1000)

    lengths = read(qa).chunk_lengths

    assert sum(lengths) == 1000
    assert all(60 <= length <= 68 for length in lengths[:-1])


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@pytest.fixture(scope="module")
def any_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("any") / "any.csv"


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(CELLS, CELLS), max_size=8),
    st.sampled_from([",", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 40),
)
def test_any_cells_come_back_whatever_the_line_ends_and_blocks(
    any_file: Path, rows: list[tuple[str, str]], delimiter: str, line_end: str, block: int
) -> None:
    with any_file.open("w", newline="", encoding="utf-8") as file:
        table = [("id", "output"), *rows]
        # Unless it quotes everything, the writer of Python 3.11 leaves a CR in a cell unquoted.
        csv.writer(file, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL).writerows(table)

    reading = drain(Delimited(FileBytes(str(any_file), "any.csv", block_bytes=block), delimiter))

    assert reading.fault is None
    assert reading.rows == [{"id": first or None, "output": second or None} for first, second in rows]
