"""Three extensions read results files, each in its own way (decision 0009): they take and refuse the same files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalsi_analytics.results_parts import take_apart
from evalsi_comparison.results_lines import ResultsLines
from evalsi_kernel.errors import ConfigError
from evalsi_reports.redaction import Redaction
from evalsi_reports.results import Results
from tests.comparison.results_files import write_results


def in_a_report(path: Path) -> int:
    results = Results(path, Redaction())
    count = sum(1 for _ in results.entries())
    assert results.head.manifest
    return count


def in_a_comparison(path: Path) -> int:
    lines = ResultsLines(path)
    return sum(1 for name in ("results", "records") for _ in lines.elements(name))


def in_a_database(path: Path) -> int:
    parts = take_apart(path, path.parent)
    return sum(len(part.read_text("utf-8").splitlines()) for part in (parts.results, parts.records))


READERS: tuple[Callable[[Path], int], ...] = (in_a_report, in_a_comparison, in_a_database)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("readers")


@pytest.fixture(scope="module")
def text(folder: Path) -> str:
    """A file as it is written, with four elements in its long arrays."""
    return write_results(folder / "whole.json", {"exact": {"a": True, "b": False}}).read_text("utf-8")


def found(folder: Path, text: str) -> list[int | str]:
    """How many elements each reader finds; "refused" of one that refuses the file with a hint."""
    path = folder / "file.json"
    path.write_text(text, "utf-8", newline="")
    answers: list[int | str] = []
    for read in READERS:
        try:
            answers.append(read(path))
        except ConfigError as error:
            answers.append("refused" if error.hint else error.message)
    return answers


LAYOUTS: dict[str, Callable[[str], str]] = {
    "as written": str,
    "in one line": lambda text: json.dumps(json.loads(text)),
    "indented": lambda text: json.dumps(json.loads(text), indent=2, sort_keys=True),
    "with a mark of the encoding": lambda text: "\ufeff" + text,
    "with CRLF": lambda text: text.replace("\n", "\r\n"),
    "with blank lines behind it": lambda text: text + "\n\n",
    "with an escaped pair": lambda text: text.replace("Answer a", "Answer \\ud83d\\ude00"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_any_layout_of_a_file_is_taken_by_all(folder: Path, text: str, layout: str) -> None:
    assert found(folder, LAYOUTS[layout](text)) == [4, 4, 4]


@given(st.data())
def test_a_file_that_is_cut_anywhere_is_refused_by_all(folder: Path, text: str, data: st.DataObject) -> None:
    whole = text.rstrip()
    assert found(folder, whole[: data.draw(st.integers(0, len(whole) - 1))]) == ["refused"] * 3


@pytest.mark.parametrize(
    "changed",
    [
        {"schema_version": 2},
        {"schema_version": "1"},
        {"schema_version": 0},
        {"schema_version": None},
        {"manifest": []},
        {"manifest": None},
        {"results": {}},
        {"records": None},
    ],
)
def test_what_is_no_results_file_is_refused_by_all(folder: Path, text: str, changed: dict[str, Any]) -> None:
    assert found(folder, json.dumps(json.loads(text) | changed)) == ["refused"] * 3


@pytest.mark.parametrize("words", ["", "[]", "id,output\n1,2\n", '{"a":', '{"schema_version":1,}'])
def test_what_is_no_json_object_is_refused_by_all(folder: Path, words: str) -> None:
    assert found(folder, words) == ["refused"] * 3
    assert found(folder, words * 100_000) == ["refused"] * 3
