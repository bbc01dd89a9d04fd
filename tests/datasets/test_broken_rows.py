"""J5: every row that cannot be a record is named in one error, in every format."""

from __future__ import annotations

import datetime as dt
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.broken_rows import MAX_NAMED
from evalsi_kernel.records.intake import Intake
from tests.datasets.reading import open_source

GOOD = '{"input": "q", "output": "a"}'


def error_of(path: Path, **options: Any) -> DatasetError:
    intake = Intake(open_source(path), **options)
    with pytest.raises(DatasetError) as caught:
        for _ in intake.chunks():
            pass
    return caught.value


def written(tmp_path: Path, name: str, text: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("x.jsonl", "\n".join([GOOD, "{", "[]", '{"a": NaN}', '{"id": 1.5}', GOOD]), [2, 3, 4, 5]),
        ("x.jsonl", "\n".join([GOOD] * 300 + ["{"] + [GOOD] * 300 + ["nope", GOOD]), [301, 602]),
        ("x.jsonl", b"\n".join([GOOD.encode(), b'{"a": "\xff"}', GOOD.encode(), b'{"a": "\xe9"}']), [2, 4]),
        ("x.jsonl", '{"id": "a"}\n{"id": "b"}\n{"id": "a"}\n{"id": "b"}\n{"id": "c"}', [3, 4]),
        ("x.json", f'[{GOOD}, 3, {{"a": NaN}}, {{"a": 1, "a": 2}}, {{"id": ""}}, {GOOD}]', [2, 3, 4, 5]),
        ("x.json", json.dumps({"data": [{"a": 1}] * 200 + [4] + [{"a": 1}] * 200 + ["x"]}), [201, 402]),
        ("x.csv", 'input,output\na,b\na\na,b,c\n"a"b,c\na,b\n', [3, 4, 5]),
        ("x.csv", b'input,output\na,\xff\na,b\n"\xe9\na",b\na,b\n', [2, 4]),
        ("x.csv", 'id,input\n1,a\n2,b\n1,c\n2,d\n3,"e\n', [4, 5, 6]),
    ],
    ids=[
        "JSON Lines of all kinds",
        "JSON Lines far apart",
        "JSON Lines that are not UTF-8",
        "ids that come again",
        "elements of all kinds",
        "elements far apart",
        "rows with other cells",
        "rows that are not UTF-8",
        "ids, and a quote that is never closed",
    ],
)
def test_j5_all_broken_rows_are_named(tmp_path: Path, name: str, text: str | bytes, rows: list[int]) -> None:
    error = error_of(written(tmp_path, name, text))
    assert (error.details["rows"], error.details["count"]) == (rows, len(rows))
    for number in rows:
        assert f" {number}" in error.message


def test_j5_rows_of_parquet_are_named_one_by_one(tmp_path: Path) -> None:
    values = [1.0, float("inf"), 2.0, float("-inf"), 3.0]
    pq.write_table(pa.table({"score": values}), tmp_path / "x.parquet")
    assert error_of(tmp_path / "x.parquet").details["rows"] == [2, 4]


def test_j5_rows_of_a_workbook_are_named_one_by_one(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet: Any = workbook.active
    for row in (["input"], ["a"], ["b", "beside the header"], ["c"], [dt.timedelta(hours=30)]):
        sheet.append(row)
    workbook.save(tmp_path / "x.xlsx")
    assert error_of(tmp_path / "x.xlsx").details["rows"] == [3, 5]


def test_j5_one_broken_row_keeps_its_own_error(tmp_path: Path) -> None:
    error = error_of(written(tmp_path, "x.jsonl", f'{GOOD}\n{{"id": "a"}}\n{{"id": "a"}}\n'))
    assert (error.code, error.details) == ("dataset.duplicate_id", {})
    assert "\n" not in error.message


def test_j5_the_first_are_named_and_the_others_counted(tmp_path: Path) -> None:
    error = error_of(written(tmp_path, "x.jsonl", "{\n" * 1_000))
    assert error.details["rows"] == list(range(1, MAX_NAMED + 1))
    assert error.details["count"] == 1_000
    assert f"{1_000 - MAX_NAMED} more" in error.message


def test_j5_many_ids_that_come_again_are_not_searched_for_without_end(tmp_path: Path) -> None:
    ids = "".join(f'{{"id": "{number}"}}\n' for number in range(5_000))
    error = error_of(written(tmp_path, "x.jsonl", ids * 2))
    assert error.details["rows"] == list(range(5_001, 5_001 + MAX_NAMED))
    assert "at least" in error.message


@pytest.mark.parametrize(("limit", "rows"), [(1, None), (3, [2, 3]), (6, [2, 3, 5])])
def test_j5_rows_beyond_the_limit_are_not_named(tmp_path: Path, limit: int, rows: list[int] | None) -> None:
    path = written(tmp_path, "x.jsonl", "\n".join([GOOD, "{", "[]", GOOD, "{", GOOD, "{"]))
    if rows is None:
        assert sum(len(chunk.ids) for chunk in Intake(open_source(path), limit=limit).chunks()) == limit
    else:
        assert error_of(path, limit=limit).details["rows"] == rows


def test_j5_records_without_a_cluster_are_all_named(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", '{"t": "a"}\n{"t": null}\n{"t": "a"}\n{"t": []}')
    assert error_of(path, cluster_by="t").details["rows"] == [2, 4]


def test_j5_a_position_is_that_in_the_data_also_after_a_broken_row(tmp_path: Path) -> None:
    path = written(tmp_path, "x.jsonl", '{"id": "1"}\n{\n{"id": "2"}\n{"id": "3"}\n{"id": "4"}\n{\n{"a": 1}\n')
    assert error_of(path).details["rows"] == [2, 6]


def test_j5_a_file_of_another_kind_is_one_error(tmp_path: Path) -> None:
    error = error_of(written(tmp_path, "x.jsonl", f"{GOOD}\n{GOOD}\n".encode("utf-16")))
    assert error.details == {}


def test_j5_a_silent_pipe_is_not_waited_for() -> None:
    script = (
        "from evalsi_datasets.plugin import evalsi_open_source\n"
        "from evalsi_kernel.records.intake import Intake\n"
        "try:\n    list(Intake(evalsi_open_source('-', None)).chunks())\n"
        "except Exception as error:\n    print(error.details['rows'])\n"
    )
    reading_end, writing_end = os.pipe()
    with subprocess.Popen([sys.executable, "-c", script], stdin=reading_end, stdout=subprocess.PIPE) as process:
        os.close(reading_end)
        os.write(writing_end, f"{GOOD}\n{{\n{GOOD}\n[]\n".encode())
        # Its other end stays open.
        assert process.communicate(timeout=60)[0].strip() == b"[2, 4]"
    os.close(writing_end)
