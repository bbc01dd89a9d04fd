"""C3: lists in JSON in the cells of a CSV, and results under the name of another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgpack
import pytest

from evalsi_datasets.plugin import evalsi_open_source
from evalsi_kernel.errors import UsageError
from evalsi_kernel.files.output_check import check_results_output
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import parse_mapping
from evalsi_kernel.records.text_cells import read_cell


@pytest.mark.parametrize(
    ("field", "cell", "expected"),
    [
        ("reference", '["one","two"]', (["one", "two"], False)),
        ("context", ' ["one"] ', (["one"], False)),
        ("context", "[]", ([], False)),
        ("reference", "[1,2,3]", ("[1,2,3]", True)),
        ("reference", '["one",2]', ('["one",2]', True)),
        ("reference", "[one]", ("[one]", False)),
        ("reference", '{"a": 1}', ('{"a": 1}', False)),
        ("output", '["one"]', ('["one"]', True)),
        ("output", '{"a": 1}', ('{"a": 1}', False)),
        ("trajectory", '[{"tool": "x"}]', ([{"tool": "x"}], False)),
        ("metadata", '{"a": 1}', ({"a": 1}, False)),
        ("id", '["one"]', ('["one"]', False)),
        ("reference", "[" * 5000, ("[" * 5000, False)),
        ("reference", "[NaN]", ("[NaN]", False)),
        ("reference", None, (None, False)),
    ],
)
def test_c3_which_cells_are_read_as_json(field: str, cell: Any, expected: Any) -> None:
    assert read_cell(field, cell) == expected


def read(path: Path, *words: str) -> tuple[list[dict[str, Any]], Intake]:
    source = evalsi_open_source(str(path), None)
    assert source is not None
    intake = Intake(source, parse_mapping(words))
    records = [record for chunk in intake.chunks() for record in msgpack.unpackb(chunk.packed_array)]
    return records, intake


@pytest.mark.parametrize("mapped", [False, True])
def test_c3_lists_of_a_csv_become_lists_where_the_field_holds_one(tmp_path: Path, mapped: bool) -> None:
    names = ("gold", "docs") if mapped else ("reference", "context")
    path = tmp_path / "data.csv"
    path.write_text(f'id,output,{names[0]},{names[1]},note\na,"[1]","[""one"",""two""]","[""doc""]","[""x""]"\n')
    words = ["reference=gold,context=docs"] if mapped else []
    [record], intake = read(path, *words)

    assert (record["reference"], record["context"]) == (["one", "two"], ["doc"])
    assert (record["output"], record["metadata"]) == ("[1]", {"note": '["x"]'})
    assert intake.lists_kept == {"output": 1}


def test_c3_json_lines_keep_a_text_that_looks_like_a_list(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text('{"output": "x", "reference": "[\\"one\\"]"}\n')
    [record], intake = read(path)

    assert (record["reference"], intake.lists_kept) == ('["one"]', {})


@pytest.mark.parametrize("name", ["out.csv", "out.CSV", "out.xlsx", "out.html", "out.md"])
def test_c3_results_are_not_written_under_the_name_of_another_format(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_results_output(tmp_path / name)
    assert "out.json" in caught.value.hint


@pytest.mark.parametrize("name", ["out.json", "out", "out.results"])
def test_c3_results_are_written_under_other_names(tmp_path: Path, name: str) -> None:
    check_results_output(tmp_path / name)
