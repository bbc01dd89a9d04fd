"""Excel workbooks (.xlsx), read as a stream with openpyxl.

The header is the first row that is not empty. A cell gives its stored value, not the text that Excel shows for it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import IO, TYPE_CHECKING, Any, NoReturn

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .extras import require
from .file_bytes import FileBytes
from .file_source import CHUNK_CHARACTERS, CHUNK_ROWS
from .plain_values import NoJsonFormError, plain
from .random_access import RandomAccessSource

if TYPE_CHECKING:
    from openpyxl.cell.read_only import ReadOnlyCell
    from openpyxl.workbook import Workbook

MAX_ROWS = 1_048_576
"""Excel's own limit; the number of a row in a damaged file can be any."""
MAX_UNPACKED_BYTES = 1 << 30
MAX_HELD_BYTES = 256 << 20
"""Of a part that openpyxl holds as a whole, such as the table of shared texts."""
MAX_RATIO = 100
RATIO_FROM_BYTES = 16 << 20
"""Small parts may be compressed better than `MAX_RATIO`: they cannot do harm."""

_MOST_NAMED = 5
_MOST_MERGED = 10_000
"""Ranges that are counted: a note of more would say nothing new, and take memory."""
_SCAN_BYTES = 1 << 20
_OVERLAP_BYTES = 256
# Writers may put a namespace prefix before a name.
_FORMULA = re.compile(rb"<(?:\w+:)?f[\s/>]")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref=[\"']([A-Z0-9:$]+)[\"']")
# Excel writes control characters so, CR of a Windows line end above all.
_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")
_NOT_AVAILABLE = "#N/A"
_SAVE = "Save the workbook again in Excel or LibreOffice, or export the sheet as CSV."


class ExcelRows(RandomAccessSource):
    """Rows of the first visible sheet of a workbook; empty rows hold none.

    Raises:
        DatasetError: `dataset.missing_extra`; openpyxl is not installed.
    """

    cells_are_text = True

    def __init__(self, data: FileBytes) -> None:
        super().__init__(data)
        require("openpyxl", "Reading Excel workbooks", "excel")
        # Without it a small workbook can unfold to any size in memory (XML entities).
        require("defusedxml", "Reading Excel workbooks", "excel")
        self._count: int | None = None
        self._notes: list[tuple[str, str]] = []
        self._uncomputed: list[str] = []
        self._uncomputed_count = 0

    def expected(self, rows: int) -> int | None:
        """Return how many rows the sheet says that it has; None if that is too few already."""
        return self._count if self._count is not None and self._count >= rows else None

    def notes(self) -> list[tuple[str, str]]:
        """Return what was left out so far, each with a hint."""
        notes = list(self._notes)
        if self._uncomputed_count:
            cells = _listed(self._uncomputed, self._uncomputed_count)
            count = self._uncomputed_count
            formulas = "1 formula" if count == 1 else f"{count:,} formulas"
            notes.append(
                (
                    f"{self.name}: {formulas} without a stored result, read as empty: {cells}.",
                    "Open the workbook in Excel or LibreOffice and save it, which computes them.",
                )
            )
        return notes

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows; one with a cell that a record cannot carry is a `BrokenRow`.

        Raises:
            DatasetError: this is no workbook, or its header is wrong.
        """
        rows: Rows = []
        size = 0
        try:
            with self._file() as file:
                for number, row in self._rows(file):
                    if isinstance(row, DatasetError):
                        if rows:
                            yield rows
                            rows, size = [], 0
                        yield BrokenRow(number, row)
                        continue
                    rows.append((number, row))
                    size += sum(len(cell) if isinstance(cell, str) else 8 for cell in row.values())
                    if size >= CHUNK_CHARACTERS or len(rows) >= CHUNK_ROWS:
                        yield rows
                        rows, size = [], 0
        except DatasetError:
            if rows:
                yield rows
            raise
        if rows:
            yield rows

    def _rows(self, file: IO[bytes]) -> Iterator[tuple[int, Row | DatasetError]]:
        self._check_archive(file)
        header: dict[int, str] = {}
        header_row = 0
        for number, cells in self._cells(file):
            try:
                values = self._values(cells)
                if header:
                    self._check_named(number, values, header, header_row)
            except DatasetError as error:
                if not header:
                    raise
                yield number, error
                continue
            if not values:
                continue
            if not header:
                header, header_row = self._header(number, values), number
                continue
            yield number, {name: values.get(column) for column, name in header.items()}

    def _values(self, cells: dict[int, ReadOnlyCell]) -> dict[int, Any]:
        values = {column: self._value(cell) for column, cell in cells.items()}
        return {column: value for column, value in values.items() if value is not None}

    def _check_named(self, number: int, values: dict[int, Any], header: dict[int, str], header_row: int) -> None:
        for column in values:
            if column not in header:
                self._refuse(
                    f"cell {_place(number, column)}",
                    f"its column has no name in the header, which is row {header_row}",
                    "Name every column in the first row that is not empty, and remove titles above it.",
                )

    def _cells(self, file: IO[bytes]) -> Iterator[tuple[int, dict[int, ReadOnlyCell]]]:
        """Each row's number and the cells in it that are not empty, by column."""
        sheet, has_formulas = self._sheet(file)
        rows = self._guarded(sheet)
        # The results and the formulas of a sheet cannot be read at once.
        sources = self._guarded(self._open(file, data_only=False)[sheet.title]) if has_formulas else None
        for number, row in rows:
            cells = {column: cell for column, cell in enumerate(row, 1) if cell.value is not None}
            if sources is not None:
                for column, cell in enumerate(next(sources, (number, ()))[1], 1):
                    if cell.data_type == "f" and column not in cells:
                        self._uncomputed_count += 1
                        if len(self._uncomputed) < _MOST_NAMED:
                            self._uncomputed.append(_place(number, column))
            yield number, cells

    def _guarded(self, sheet: Any) -> Iterator[tuple[int, tuple[ReadOnlyCell, ...]]]:
        """The rows of a sheet, with their numbers; a file that openpyxl cannot read is an error at the row."""
        # What a sheet says of its own size is wrong in files of many writers, and openpyxl would believe it.
        sheet.reset_dimensions()
        rows = iter(sheet.iter_rows())
        number = 1
        while True:
            try:
                row = next(rows, None)
            except Exception as cause:  # noqa: BLE001 # A damaged file makes openpyxl raise anything.
                self._refuse_damaged(f"row {number}", cause)
            if row is None:
                return
            if number > MAX_ROWS:
                self._refuse(f"row {number}", f"a sheet has at most {MAX_ROWS:,} rows", _SAVE)
            yield number, row
            number += 1

    def _sheet(self, file: IO[bytes]) -> tuple[Any, bool]:
        """The first visible sheet, and whether it holds formulas."""
        workbook = self._open(file, data_only=True)
        sheets: list[Any] = list(workbook.worksheets)
        visible = [sheet for sheet in sheets if sheet.sheet_state == "visible"]
        if not sheets:
            raise DatasetError(f"{self.name}: the workbook has no sheet of cells.", "Put the records in a sheet.")
        chosen = (visible or sheets)[0]
        others = [sheet.title for sheet in sheets if sheet is not chosen]
        if others:
            message = (
                f'{self.name}: only the first visible sheet, "{chosen.title}", is read; '
                f"not read: {_listed(others[:_MOST_NAMED], len(others))}."
            )
            self._notes.append((message, "To read another one, move it to the front."))
        if chosen.max_row and chosen.max_row > 1:
            self._count = min(chosen.max_row, MAX_ROWS) - 1
        has_formulas, merged = self._scan(file, chosen)
        if merged:
            message = (
                f"{self.name}: of merged cells only the first one holds the value, the others are empty: "
                f"{_listed(merged[:_MOST_NAMED], len(merged))}."
            )
            self._notes.append((message, "Unmerge them and fill in each cell if every record should have the value."))
        return chosen, has_formulas

    def _open(self, file: IO[bytes], *, data_only: bool) -> Workbook:
        from openpyxl import load_workbook

        # Of styles and extensions that it leaves out, which do not matter here.
        warnings.filterwarnings("ignore", module="openpyxl")
        try:
            return load_workbook(file, read_only=True, data_only=data_only, keep_links=False)
        except Exception as cause:  # noqa: BLE001 # A damaged file makes openpyxl raise anything.
            self._refuse_damaged("before row 1", cause)

    def _scan(self, file: IO[bytes], sheet: Any) -> tuple[bool, list[str]]:
        """Whether a sheet holds formulas, and its merged ranges: openpyxl does not tell when it reads a stream."""
        from zipfile import ZipFile

        has_formulas = False
        merged: dict[str, None] = {}
        try:
            with ZipFile(file) as archive, archive.open(sheet._worksheet_path) as part:
                text = b""
                while block := part.read(_SCAN_BYTES):
                    text = text[-_OVERLAP_BYTES:] + block
                    has_formulas = has_formulas or _FORMULA.search(text) is not None
                    if len(merged) < _MOST_MERGED:
                        merged.update((found[1].decode(), None) for found in _MERGED.finditer(text))
        except Exception as cause:  # noqa: BLE001 # A damaged archive makes zipfile raise almost anything.
            self._refuse_damaged("before row 1", cause)
        return has_formulas, list(merged)

    def _check_archive(self, file: IO[bytes]) -> None:
        """Refuse what is no workbook, and what would take too much memory."""
        from zipfile import ZipFile

        head = file.read(4)
        file.seek(0)
        if head == b"\xd0\xcf\x11\xe0":
            raise DatasetError(
                f"{self.name}: this is an Excel 97 workbook or an encrypted one, by its first bytes.",
                "Save it as .xlsx without a password, or export the sheet as CSV.",
            )
        try:
            with ZipFile(file) as archive:
                parts = archive.infolist()
        except Exception as cause:  # noqa: BLE001 # A damaged archive makes zipfile raise almost anything.
            self._refuse_damaged("before row 1", cause)
        if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
            self._refuse_large(f"it unpacks to more than {MAX_UNPACKED_BYTES >> 20:,} MiB")
        for part in parts:
            is_sheet = part.filename.startswith("xl/worksheets/")
            if not is_sheet and part.file_size > MAX_HELD_BYTES:
                self._refuse_large(f"{part.filename[:100]} unpacks to more than {MAX_HELD_BYTES >> 20:,} MiB")
            if part.file_size > max(RATIO_FROM_BYTES, part.compress_size * MAX_RATIO):
                self._refuse_large(f"{part.filename[:100]} unpacks to more than {MAX_RATIO} times its size")

    def _header(self, number: int, values: dict[int, Any]) -> dict[int, str]:
        header: dict[int, str] = {}
        for column, value in values.items():
            name = str(value)
            if not name.strip():
                self._refuse(f"cell {_place(number, column)}", "a name in the header is blank", "Name every column.")
            for earlier, same in header.items():
                if same == name:
                    self._refuse(
                        f"row {number}",
                        f'cells {_place(number, earlier)} and {_place(number, column)} of the header are both "{name}"',
                        "Give every column a name of its own.",
                    )
            header[column] = name
        return header

    def _value(self, cell: ReadOnlyCell) -> Any:
        value = cell.value
        if isinstance(value, str):
            if cell.data_type == "e":
                # It is how people write a missing value in a sheet; other errors are faults.
                if value == _NOT_AVAILABLE:
                    return None
                self._refuse(
                    f"cell {cell.coordinate}",
                    f"it holds the error {value}, or a date that Excel cannot show",
                    "Correct the cell, or empty it.",
                )
            return _CONTROL.sub(lambda found: chr(int(found[1], 16)), value) or None
        if isinstance(value, timedelta):
            self._refuse(f"cell {cell.coordinate}", "it holds a duration, which JSON cannot carry", "Write it as text.")
        if isinstance(value, datetime) and _is_date(cell.number_format):
            return value.date().isoformat()
        try:
            return plain(value)
        except NoJsonFormError as fault:
            self._refuse(f"cell {cell.coordinate}", f"it {fault.message}", fault.hint)

    def _refuse_damaged(self, where: str, cause: Exception) -> NoReturn:
        detail = " ".join(str(cause).split())[:200] or type(cause).__name__
        raise DatasetError(
            f"{self.name}, {where}: this is no Excel workbook, or a damaged one ({detail}).", _SAVE
        ) from cause

    def _refuse_large(self, what: str) -> NoReturn:
        raise DatasetError(
            f"{self.name}: the workbook is too large to read safely: {what}.", "Export the sheet as CSV or Parquet."
        )


def _is_date(number_format: str | None) -> bool:
    from openpyxl.styles.numbers import is_datetime

    return number_format is not None and is_datetime(number_format) == "date"


def _place(row: int, column: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(column)}{row}"


def _listed(names: list[str], count: int) -> str:
    more = f" and {count - len(names):,} more" if count > len(names) else ""
    return ", ".join(names) + more
