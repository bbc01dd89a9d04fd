"""Results files as they are read: an element at a time, in any layout of JSON, and refused with a sentence."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from evalsi_comparison.comparison import Wanted, compare
from evalsi_comparison.results_lines import ResultsLines
from evalsi_kernel.errors import ConfigError
from tests.cli.running import QA, evalsi
from tests.comparison.results_files import many, write_results


def elements(path: Path) -> dict[str, list[object]]:
    lines = ResultsLines(path)
    return {name: [json.loads(bytes(one)) for one in lines.elements(name)] for name in ("results", "records")}


def test_a_real_file_is_read_as_python_reads_it_however_it_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert evalsi("eval", "--data", QA, "--evaluators", "exact-match,token-f1", "--output", path).code == 0
    whole = json.loads(path.read_text("utf-8"))
    for name, indent in (("compact.json", None), ("pretty.json", 2)):
        (tmp_path / name).write_text(json.dumps(whole, indent=indent), encoding="utf-8")
    for name in ("results.json", "compact.json", "pretty.json"):
        assert elements(tmp_path / name) == {"results": whole["results"], "records": whole["records"]}
        assert ResultsLines(tmp_path / name).head == {**whole, "results": [], "records": []}


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.7, 0.95, 0.9999])
def test_a_file_that_was_cut_off_is_told_as_such(tmp_path: Path, kept: float) -> None:
    path = write_results(tmp_path / "results.json", {"exact": many("a", 50, True)})
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(ConfigError, match="is cut off") as caught:
        ResultsLines(path)
    assert caught.value.code == "config.results"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is cut off"),
        ("[1, 2]", "is no results file"),
        ('{"id": "a", "input": "b"}\n{"id": "c"}\n', "is no results file"),
        ("not JSON", "is no results file"),
        ('{"schema_version": 2, "manifest": {}}', "is a results file of version 2; 1 is the newest known here"),
        ('{"schema_version": 1, "manifest": {}}', "is no results file of Evals.si"),
        ('{"schema_version":1,\n"manifest":{},\n"summaries":[],\n"results":{},"records":[]}', "is no results file"),
    ],
)
def test_what_is_no_results_file_is_told_as_such(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=said):
        ResultsLines(path)


def test_a_file_that_is_not_there_or_is_a_folder_is_told_as_such(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        ResultsLines(tmp_path / "missing.json")
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        ResultsLines(tmp_path)


def test_a_damaged_element_is_told_with_its_file(tmp_path: Path) -> None:
    good = write_results(tmp_path / "good.json", {"exact": many("a", 3, True)})
    bad = write_results(tmp_path / "bad.json", {"exact": many("a", 3, True)})
    bad.write_text(bad.read_text().replace('"record_id":"a1"', '"record_id":1'))
    with pytest.raises(ConfigError, match=r"bad\.json is damaged: one of its results: Expected `str`, got `int`"):
        compare(Wanted(good, bad))


def test_texts_take_no_memory(tmp_path: Path) -> None:
    long = {f"a{number}": "word " * 20_000 for number in range(200)}
    scores = {"exact": many("a", 200, True)}
    paths = [write_results(tmp_path / name, scores, outputs=long, inputs=long) for name in ("base.json", "new.json")]
    size = paths[0].stat().st_size
    assert size > 40_000_000
    tracemalloc.start()
    compare(Wanted(paths[0], paths[1]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size / 20
