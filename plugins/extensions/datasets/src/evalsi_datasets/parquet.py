"""Parquet, read in batches with pyarrow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .extras import require
from .file_bytes import FileBytes
from .file_source import CHUNK_ROWS
from .plain_values import NoJsonFormError, plain
from .random_access import RandomAccessSource

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_BYTES = 64 * 1024
BATCH_BYTES = 1024 * 1024
# What pyarrow raises for a value that Python cannot hold.
_UNREADABLE = (ValueError, KeyError, OverflowError)


class ParquetRows(RandomAccessSource):
    """Rows of a .parquet file.

    Raises:
        DatasetError: `dataset.missing_extra`; pyarrow is not installed.
    """

    def __init__(self, data: FileBytes) -> None:
        super().__init__(data)
        require("pyarrow", "Reading Parquet", "parquet")
        self._count: int | None = None

    def expected(self, rows: int) -> int | None:
        """Return how many rows the file says that it has."""
        return self._count

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows; one with a value that JSON cannot carry is a `BrokenRow`.

        Raises:
            DatasetError: this is no Parquet, or a whole column is of a type that JSON cannot carry.
        """
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        number = 1
        with self._file() as file:
            try:
                parquet = ParquetFile(file, buffer_size=BATCH_BYTES, pre_buffer=False)
                self._check_columns(parquet.schema_arrow)
                self._count = parquet.metadata.num_rows
                rows_in_batch = _rows_within(BATCH_BYTES, *_size(parquet.metadata))
                for batch in parquet.iter_batches(rows_in_batch, use_threads=False):
                    size = _rows_within(CHUNK_BYTES, batch.nbytes, batch.num_rows)
                    for start in range(0, batch.num_rows, size):
                        part = batch.slice(start, size)
                        try:
                            rows = self._rows(part, number)
                        except DatasetError:
                            yield from self._one_by_one(part, number)
                        else:
                            yield list(enumerate(rows, number))
                        number += part.num_rows
            except (pa.ArrowException, OSError) as cause:
                detail = " ".join(str(cause).split())
                self._refuse(f"row {number}", f"this is no Parquet, or damaged ({detail})", "Write the file again.")

    def _one_by_one(self, batch: pa.RecordBatch, first: int) -> Iterator[Rows | BrokenRow]:
        for index in range(batch.num_rows):
            try:
                yield list(enumerate(self._rows(batch.slice(index, 1), first + index), first + index))
            except DatasetError as error:
                yield BrokenRow(first + index, error)

    def _rows(self, batch: pa.RecordBatch, first: int) -> list[Row]:
        columns = [
            self._cells(name, column, first) for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        return [dict(zip(batch.schema.names, cells, strict=True)) for cells in zip(*columns, strict=True)]

    def _cells(self, name: str, column: pa.Array, first: int) -> list[Any]:
        convert = _converter(column.type)
        cells: list[Any] = []
        try:
            values = _python_values(column)
            if convert is None:
                return values
            for value in values:
                cells.append(convert(value))
        except NoJsonFormError as fault:
            self._refuse(f"row {first + len(cells)}", f'column "{name}" {fault.message}', fault.hint)
        except _UNREADABLE as cause:
            told = f"cannot be read: {cause}"
            if isinstance(cause, OverflowError):
                told = "holds a date or time outside the years 1 to 9999"
            self._refuse(f"row {first + _unreadable_index(column)}", f'column "{name}" {told}', "Write it as text.")
        return cells

    def _check_columns(self, schema: pa.Schema) -> None:
        names = schema.names
        for position, field in enumerate(schema):
            if field.name in names[:position]:
                raise DatasetError(
                    f'{self.name}: two columns are named "{field.name}".', "Give every column a name of its own."
                )
            if _holds_bytes(field.type):
                raise DatasetError(
                    f'{self.name}: column "{field.name}" holds bytes ({field.type}), which JSON cannot carry.',
                    "Leave the column out, or write it as text.",
                )


def _size(metadata: Any) -> tuple[int, int]:
    """Bytes of the whole file when it is unpacked, and its rows."""
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    return sum(group.total_byte_size for group in groups), metadata.num_rows


def _rows_within(limit_bytes: int, size_bytes: int, rows: int) -> int:
    return max(1, min(CHUNK_ROWS, limit_bytes * rows // max(1, size_bytes)))


def _converter(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """What makes JSON of a column's values; None where they are JSON already."""
    from pyarrow import types

    while types.is_dictionary(kind):
        kind = kind.value_type
    tests = (types.is_null, types.is_boolean, types.is_integer, types.is_string, types.is_large_string)
    return None if any(test(kind) for test in tests) else plain


def _python_values(column: pa.Array) -> list[Any]:
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if (types.is_timestamp(kind) or types.is_time64(kind)) and kind.unit == "ns":
        # Python's datetime ends at microseconds; the text keeps them all.
        utc = column.cast(pa.timestamp("ns", "UTC")) if types.is_timestamp(kind) and kind.tz else column
        return [text and text.replace(" ", "T", 1) for text in utc.cast(pa.string()).to_pylist()]
    values: list[Any] = column.to_pylist(maps_as_pydicts="strict")
    return values


def _unreadable_index(column: pa.Array) -> int:
    """Where the first value stands that Python cannot hold, of a column which has one."""
    for index in range(len(column) - 1):
        try:
            _python_values(column.slice(index, 1))
        except _UNREADABLE:
            return index
    return len(column) - 1


def _holds_bytes(kind: pa.DataType) -> bool:
    from pyarrow import types

    if types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind):
        return True
    if types.is_dictionary(kind):
        return _holds_bytes(kind.value_type)
    return any(_holds_bytes(kind.field(index).type) for index in range(kind.num_fields))
