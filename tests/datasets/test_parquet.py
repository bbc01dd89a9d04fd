"""Parquet: types that JSON has not, chunks, archives and pipes, the missing extra."""

import datetime as dt
import gzip
import hashlib
import os
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from backports import zstd

from evalsi_kernel.errors import DatasetError
from tests.datasets.reading import drain, fault_of, open_source, read


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    return tmp_path / "qa.parquet"


def column(qa: Path, values: list[Any], kind: pa.DataType | None = None) -> list[Any]:
    """What a column of these values is read as."""
    pq.write_table(pa.table({"x": pa.array(values, kind)}), qa)
    return [row["x"] for row in read(qa).rows]


def test_rows_are_numbered_from_one_and_the_hash_is_that_of_the_file(qa: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "n": [1, None]}), qa)

    reading = read(qa)

    assert reading.numbered == [(1, {"id": "a", "n": 1}), (2, {"id": "b", "n": None})]
    assert reading.source.unit == "row"
    assert reading.source.may_block is False
    assert reading.source.sha256() == hashlib.sha256(qa.read_bytes()).hexdigest()


def test_the_hash_of_a_file_whose_rows_are_read_in_part_is_that_of_the_whole(qa: Path) -> None:
    pq.write_table(pa.table({"x": list(range(5_000))}), qa)
    source = open_source(qa)

    next(source.chunks())

    assert source.sha256() == hashlib.sha256(qa.read_bytes()).hexdigest()


PARIS = dt.timezone(dt.timedelta(hours=1))
JSON_FORMS: dict[str, tuple[list[Any], pa.DataType | None, list[Any]]] = {
    "text": (["a", "", None], None, ["a", "", None]),
    "dictionary": (["a", "b", None], pa.dictionary(pa.int8(), pa.string()), ["a", "b", None]),
    "booleans": ([True, None], None, [True, None]),
    "unsigned": ([2**64 - 1], pa.uint64(), [2**64 - 1]),
    "nothing": ([None], pa.null(), [None]),
    "NaN is a missing number": ([1.5, float("nan")], None, [1.5, None]),
    "half floats": ([1.5], pa.float16(), [1.5]),
    "decimals": ([Decimal("1.25"), None], None, [1.25, None]),
    "whole decimals": ([Decimal(12345678901234567890123)], pa.decimal128(38, 0), [12345678901234567890123]),
    "timestamps": ([dt.datetime(2024, 1, 2, 3, 4, 5, 60)], pa.timestamp("us"), ["2024-01-02T03:04:05.000060"]),
    "zones": (
        [dt.datetime(2024, 1, 2, tzinfo=PARIS)],
        pa.timestamp("ms", "Europe/Paris"),
        ["2024-01-02T00:00:00+01:00"],
    ),
    "nanoseconds": ([1704164645000000001, None], pa.timestamp("ns"), ["2024-01-02T03:04:05.000000001", None]),
    "nanoseconds in a zone": (
        [1704164645000000001],
        pa.timestamp("ns", "Europe/Paris"),
        ["2024-01-02T03:04:05.000000001Z"],
    ),
    "dates": ([dt.date(2024, 1, 2)], None, ["2024-01-02"]),
    "times": ([dt.time(3, 4, 5)], None, ["03:04:05"]),
    "times in nanoseconds": ([11045000000001], pa.time64("ns"), ["03:04:05.000000001"]),
    "lists": ([[1.5, float("nan")], [], None], None, [[1.5, None], [], None]),
    "structs": ([{"at": dt.date(2024, 1, 2), "n": 1}], None, [{"at": "2024-01-02", "n": 1}]),
    "maps": ([[("k", 1)]], pa.map_(pa.string(), pa.int64()), [{"k": 1}]),
    "maps by number": ([[(7, 1)]], pa.map_(pa.int64(), pa.int64()), [{"7": 1}]),
}


@pytest.mark.parametrize(("values", "kind", "expected"), JSON_FORMS.values(), ids=JSON_FORMS)
def test_a_value_is_given_in_its_json_form(
    qa: Path, values: list[Any], kind: pa.DataType | None, expected: list[Any]
) -> None:
    read_back = column(qa, values, kind)

    assert read_back == expected
    assert [type(value) for value in read_back] == [type(value) for value in expected]


REFUSED: dict[str, tuple[list[Any], pa.DataType | None, str, str]] = {
    "bytes": ([b"x"], None, 'column "x" holds bytes (binary), which JSON cannot carry', "write it as text"),
    "bytes within": ([[b"x"]], None, 'column "x" holds bytes (list<', "write it as text"),
    "bytes as categories": ([b"x"], pa.dictionary(pa.int8(), pa.binary()), 'column "x" holds bytes', "as text"),
    "infinity": ([1.0, float("inf")], None, 'row 2: column "x" is inf, which is no JSON number', "Use null"),
    "durations": ([dt.timedelta(1)], None, 'row 1: column "x" holds a timedelta', "write it as text"),
    "keys that are floats": ([[(1.5, 1)]], pa.map_(pa.float64(), pa.int64()), "keys are float", "text"),
    "keys that come twice": (
        [[("k", 1)], [("k", 1), ("k", 2)]],
        pa.map_(pa.string(), pa.int64()),
        'row 2: column "x" cannot be read: ',
        "text",
    ),
}


@pytest.mark.parametrize(("values", "kind", "message", "hint"), REFUSED.values(), ids=REFUSED)
def test_what_json_cannot_carry_is_an_error_that_names_the_column(
    qa: Path, values: list[Any], kind: pa.DataType | None, message: str, hint: str
) -> None:
    pq.write_table(pa.table({"x": pa.array(values, kind)}), qa)

    told, remedy, _ = fault_of(qa)

    assert message in told
    assert hint in remedy


YEAR_10000_S = 253_402_300_800
FAR_DATES: dict[str, pa.Array] = {
    "a timestamp": pa.array([0, YEAR_10000_S], pa.timestamp("s")),
    "a timestamp in a zone": pa.array([None, YEAR_10000_S * 1000], pa.timestamp("ms", "Europe/Paris")),
    "a timestamp before the year 1": pa.array([0, -YEAR_10000_S * 1_000_000], pa.timestamp("us")),
    "a date": pa.array([0, YEAR_10000_S // 86_400], pa.date32()),
    "a timestamp in a list": pa.array([[0], [YEAR_10000_S]], pa.list_(pa.timestamp("s"))),
}


@pytest.mark.parametrize("far", FAR_DATES.values(), ids=FAR_DATES)
def test_a_date_that_python_cannot_hold_is_an_error_that_names_row_and_column(qa: Path, far: pa.Array) -> None:
    pq.write_table(pa.table({"at": pa.concat_arrays([far, far])}), qa)

    told, remedy, _ = fault_of(qa)

    assert told == 'qa.parquet, row 2: column "at" holds a date or time outside the years 1 to 9999.'
    assert remedy == "Write it as text."


def test_two_columns_of_one_name_are_an_error(qa: Path) -> None:
    pq.write_table(pa.table([[1], [2]], names=["x", "x"]), qa)

    assert 'two columns are named "x"' in fault_of(qa)[0]


def test_a_table_without_rows_gives_none(qa: Path) -> None:
    assert column(qa, [], pa.int64()) == []


@pytest.mark.parametrize("keep", [0, 100, -20], ids=["nothing", "the beginning", "all but the end"])
def test_a_file_that_is_cut_off_is_an_error(qa: Path, keep: int) -> None:
    pq.write_table(pa.table({"x": ["y" * 500]}), qa)
    qa.write_bytes(qa.read_bytes()[:keep])

    told, remedy, _ = fault_of(qa)

    assert told.startswith("qa.parquet, row 1: this is no Parquet, or damaged")
    assert remedy == "Write the file again."


def test_a_chunk_holds_about_sixty_four_kilobytes_and_numbers_go_on(qa: Path) -> None:
    pq.write_table(pa.table({"x": [f"{index:1000}" for index in range(3_000)]}), qa, row_group_size=700)

    reading = read(qa)

    assert [number for number, _ in reading.numbered] == list(range(1, 3_001))
    assert [int(row["x"]) for row in reading.rows] == list(range(3_000))
    assert max(reading.chunk_lengths) <= 70


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstd.compress)])
def test_an_archived_file_is_unpacked_and_hashed_as_it_is(
    tmp_path: Path, suffix: str, compress: Callable[[bytes], bytes]
) -> None:
    plain, packed = tmp_path / "qa.parquet", tmp_path / f"qa.parquet{suffix}"
    pq.write_table(pa.table({"x": [1]}), plain)
    packed.write_bytes(compress(plain.read_bytes()))

    reading = read(packed)

    assert reading.rows == [{"x": 1}]
    assert reading.source.sha256() == hashlib.sha256(packed.read_bytes()).hexdigest()


def test_a_named_pipe_is_read_to_its_end_first(tmp_path: Path) -> None:
    plain, pipe = tmp_path / "plain.parquet", tmp_path / "pipe.parquet"
    pq.write_table(pa.table({"x": [1]}), plain)
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(plain.read_bytes()))
    writer.start()

    reading = drain(open_source(pipe))
    writer.join(10)

    assert reading.rows == [{"x": 1}]
    assert reading.source.may_block is True


def test_without_pyarrow_the_error_says_what_to_install(qa: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    qa.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(DatasetError) as caught:
        open_source(qa)

    assert caught.value.code == "dataset.missing_extra"
    assert caught.value.message == "Reading Parquet needs pyarrow, which is not installed."
    assert caught.value.hint == "Install it: pip install 'evalsi[parquet]'"
