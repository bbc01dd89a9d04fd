"""C3: Excel workbooks: values, formulas, merged cells, hidden sheets, damaged and large files, the missing extra."""

import datetime as dt
import gzip
import hashlib
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import openpyxl
import pytest

from evalsi_datasets import excel
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.results.findings import findings
from tests.datasets.reading import fault_of, open_source, read


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    return tmp_path / "qa.xlsx"


def save(path: Path, *rows: list[Any]) -> None:
    workbook, sheet = new()
    for row in rows:
        sheet.append(row)
    workbook.save(path)


def new() -> tuple[openpyxl.Workbook, Any]:
    """Return an empty workbook and its sheet."""
    workbook = openpyxl.Workbook()
    return workbook, workbook.active


def change_part(path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Rewrite one part of the archive that a workbook is."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    parts[name] = change(parts.get(name, b""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(part, content)


SHEET = "xl/worksheets/sheet1.xml"


def notes_of(path: Path) -> list[str]:
    reading = read(path)
    return [message.replace(f"{path.parent}/", "") for message, _ in reading.source.notes()]  # type: ignore[attr-defined]


def test_rows_have_the_numbers_of_the_sheet_and_the_hash_is_that_of_the_file(qa: Path) -> None:
    save(qa, ["id", "n", "output"], ["a", 1, "x"], [], ["b", None, ""])

    reading = read(qa)

    assert reading.numbered == [(2, {"id": "a", "n": 1, "output": "x"}), (4, {"id": "b", "n": None, "output": None})]
    assert reading.source.unit == "row"
    assert reading.source.sha256() == hashlib.sha256(qa.read_bytes()).hexdigest()


VALUES: dict[str, tuple[Any, Any]] = {
    "integer": (7, 7),
    "float": (0.25, 0.25),
    "true": (True, True),
    "false": (False, False),
    "text of digits": ("007", "007"),
    "date": (dt.date(2024, 1, 2), "2024-01-02"),
    "midnight": (dt.datetime(2024, 1, 2), "2024-01-02T00:00:00"),
    "time stamp": (dt.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02T03:04:05"),
    "time": (dt.time(3, 4, 5), "03:04:05"),
    "not available": ("#N/A", None),
    "line ends of Windows": ("a_x000D_\nb", "a\r\nb"),
    "spaces": (" a ", " a "),
    "emoji": ("😀 é", "😀 é"),
}


@pytest.mark.parametrize(("value", "expected"), VALUES.values(), ids=VALUES)
def test_a_cell_gives_a_plain_value(qa: Path, value: Any, expected: Any) -> None:
    save(qa, ["k", "x"], ["k", value])

    [row] = read(qa).rows

    assert row["x"] == expected
    assert type(row["x"]) is type(expected)


def test_texts_of_the_shared_table_are_read_with_their_runs(qa: Path) -> None:
    save(qa, ["x"], ["y"])
    change_part(qa, SHEET, lambda xml: xml.replace(b't="inlineStr"><is><t>y</t></is>', b't="s"><v>0</v>'))
    shared = (
        b'<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        b'<si><r><t xml:space="preserve">two </t></r><r><rPr><b/></rPr><t>runs</t></r></si></sst>'
    )
    kind = (
        b'<Override PartName="/xl/sharedStrings.xml" '
        b'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>'
    )
    change_part(qa, "xl/sharedStrings.xml", lambda _: shared)
    change_part(
        qa,
        "[Content_Types].xml",
        lambda xml: xml if b"sharedStrings" in xml else xml.replace(b"</Types>", kind),
    )

    assert read(qa).rows == [{"x": "two runs"}]


def test_lists_in_cells_are_read_as_in_csv(qa: Path) -> None:
    save(qa, ["output", "reference", "context"], ["[1]", '["one", "two"]', '["c"]'])
    intake = Intake(open_source(qa))

    [record] = records(intake)

    assert (record["output"], record["reference"], record["context"]) == ("[1]", ["one", "two"], ["c"])
    assert intake.lists_kept == {"output": 1}


def records(intake: Intake) -> list[dict[str, Any]]:
    return [msgpack.unpackb(packed) for chunk in intake.chunks() for packed in chunk.packed]


REFUSED: dict[str, tuple[list[list[Any]], str]] = {
    "error value": ([["x"], ["#DIV/0!"]], "cell A2: it holds the error #DIV/0!"),
    "duration": ([["x"], [dt.timedelta(hours=30)]], "cell A2: it holds a duration"),
    "column without a name": ([["x"], ["a", "b"]], "cell B2: its column has no name in the header, which is row 1"),
    "title above the header": ([["Cases"], ["input", "output"]], "cell B2: its column has no name"),
    "same name twice": ([["x", "y", "x"]], 'cells A1 and C1 of the header are both "x"'),
    "blank name": ([["x", " "]], "cell B1: a name in the header is blank"),
}


@pytest.mark.parametrize(("rows", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_record_is_an_error_that_names_the_cell(qa: Path, rows: list[list[Any]], message: str) -> None:
    save(qa, *rows)

    assert message in fault_of(qa)[0]


def test_the_rows_before_a_fault_are_given(qa: Path) -> None:
    save(qa, ["x"], ["a"], ["#REF!"])

    assert fault_of(qa)[2] == [{"x": "a"}]


def test_the_header_may_begin_anywhere_and_be_a_number(qa: Path) -> None:
    save(qa, [], [None, "id", 2024], [None, "a", "x"])

    assert read(qa).numbered == [(3, {"id": "a", "2024": "x"})]


@pytest.mark.parametrize("rows", [[], [["x"]]], ids=["nothing", "a header alone"])
def test_a_sheet_without_rows_gives_none(qa: Path, rows: list[list[Any]]) -> None:
    save(qa, *rows)

    assert read(qa).rows == []


def test_formulas_give_their_stored_results_and_a_note_where_there_is_none(qa: Path) -> None:
    save(qa, ["id", "x", "y"], ["a", "=1+1", "=2+2"], ["b", None, "=3+3"])
    change_part(qa, SHEET, lambda xml: xml.replace(b"<f>1+1</f><v />", b"<f>1+1</f><v>2</v>").replace(
        b"<f>1+1</f><v></v>", b"<f>1+1</f><v>2</v>"
    ))  # fmt: skip

    assert read(qa).rows == [{"id": "a", "x": 2, "y": None}, {"id": "b", "x": None, "y": None}]
    assert notes_of(qa) == ["qa.xlsx: 2 formulas without a stored result, read as empty: C2, C3."]


def test_merged_cells_hold_their_value_once_with_a_note(qa: Path) -> None:
    workbook, sheet = new()
    for row in (["id", "context"], ["a", "shared"], ["b", None]):
        sheet.append(row)
    sheet.merge_cells("B2:B3")
    workbook.save(qa)

    assert [row["context"] for row in read(qa).rows] == ["shared", None]
    assert "B2:B3" in notes_of(qa)[0]


def test_the_first_visible_sheet_is_read_and_the_others_are_named(qa: Path) -> None:
    workbook, hidden = new()
    hidden.title = "Hidden"
    hidden.append(["secret"])
    hidden.sheet_state = "hidden"
    for title in ("Cases", "Old"):
        sheet = workbook.create_sheet(title)
        sheet.append(["id"])
        sheet.append([title])
    workbook.active = 1
    workbook.save(qa)

    assert read(qa).rows == [{"id": "Cases"}]
    assert notes_of(qa) == ['qa.xlsx: only the first visible sheet, "Cases", is read; not read: Hidden, Old.']


def test_notes_become_notices_of_the_evaluation(qa: Path) -> None:
    save(qa, ["id", "x"], ["a", "=1+1"])
    intake = Intake(open_source(qa))
    records(intake)

    [notice] = findings([], intake, 1)

    assert notice.severity == "notice"
    assert notice.message.endswith("B2.")
    assert notice.hint


def test_a_size_that_the_file_states_wrongly_cuts_nothing_off(qa: Path) -> None:
    save(qa, ["id", "x"], ["a", 1], ["b", 2])
    change_part(qa, SHEET, lambda xml: xml.replace(b'ref="A1:B3"', b'ref="A1"'))

    assert read(qa).rows == [{"id": "a", "x": 1}, {"id": "b", "x": 2}]


def test_many_rows_come_in_chunks(qa: Path) -> None:
    save(qa, ["x"], *(["y" * 1000] for _ in range(300)))

    reading = read(qa)

    assert len(reading.rows) == 300
    assert max(reading.chunk_lengths) <= 70
    assert reading.source.expected(1) == 300  # type: ignore[attr-defined]


@pytest.mark.parametrize("keep", [0, 100, 1000, -20], ids=["nothing", "the beginning", "more", "all but the end"])
def test_a_file_that_is_cut_off_is_an_error(qa: Path, keep: int) -> None:
    save(qa, ["x"], ["y" * 500])
    qa.write_bytes(qa.read_bytes()[:keep])

    told, _, _ = fault_of(qa)

    assert told.startswith("qa.xlsx, before row 1: this is no Excel workbook, or a damaged one")


DAMAGED: dict[str, Callable[[bytes], bytes]] = {
    "XML that ends early": lambda xml: xml[: xml.index(b'r="A3"')],
    "a number that is none": lambda xml: xml.replace(b'<c r="B3" t="n"><v>2', b'<c r="B3" t="n"><v>two'),
    "a text that is not there": lambda xml: xml.replace(b't="inlineStr"><is><t>y2</t></is>', b't="s"><v>99</v>'),
    "a row far below": lambda xml: xml.replace(b'<row r="3"', b'<row r="99999999999"').replace(b'r="A3"', b""),
    "entities": lambda xml: b'<!DOCTYPE x [<!ENTITY y "boom">]>' + xml[xml.index(b"<worksheet") :],
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_sheet_is_an_error_with_its_place(
    qa: Path, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(excel, "MAX_ROWS", 1_000)
    save(qa, ["id", "x"], ["y1", 1], ["y2", 2])
    change_part(qa, SHEET, damage)

    told, remedy, _ = fault_of(qa)

    assert told.startswith(("qa.xlsx, row ", "qa.xlsx, before row 1: "))
    assert remedy


def test_a_part_that_is_missing_is_an_error(qa: Path) -> None:
    save(qa, ["x"], ["y"])
    buffer = io.BytesIO()
    with zipfile.ZipFile(qa) as archive, zipfile.ZipFile(buffer, "w") as made:
        for part in archive.namelist():
            if part != SHEET:
                made.writestr(part, archive.read(part))
    qa.write_bytes(buffer.getvalue())

    assert "the workbook has no sheet of cells" in fault_of(qa)[0]


def test_a_zip_bomb_is_refused_before_it_is_unpacked(qa: Path) -> None:
    save(qa, ["x"], ["y"])
    change_part(
        qa, SHEET, lambda xml: xml.replace(b"<sheetData>", b"<sheetData>" + b" " * (excel.RATIO_FROM_BYTES + 1))
    )

    assert "the workbook is too large to read safely" in fault_of(qa)[0]


@pytest.mark.parametrize("limit", ["MAX_UNPACKED_BYTES", "MAX_HELD_BYTES"])
def test_a_workbook_above_a_limit_is_refused(qa: Path, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save(qa, ["x"], ["y"])
    monkeypatch.setattr(excel, limit, 100)

    assert "the workbook is too large to read safely" in fault_of(qa)[0]


def test_an_old_or_encrypted_workbook_is_named(qa: Path) -> None:
    qa.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512))

    assert "an Excel 97 workbook or an encrypted one" in fault_of(qa)[0]


def test_an_archived_workbook_is_unpacked(tmp_path: Path, qa: Path) -> None:
    save(qa, ["x"], [1])
    packed = tmp_path / "qa.xlsx.gz"
    packed.write_bytes(gzip.compress(qa.read_bytes()))

    assert read(packed).rows == [{"x": 1}]


@pytest.mark.parametrize("library", ["openpyxl", "defusedxml"])
def test_without_the_extra_the_error_says_what_to_install(
    qa: Path, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    qa.write_bytes(b"")
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(DatasetError) as caught:
        open_source(qa)

    assert caught.value.code == "dataset.missing_extra"
    assert caught.value.hint == "Install it: pip install 'evalsi[excel]'"
