"""Test that invalid user input gives one clear error with location and hint."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import EVALSI, QA, evalsi, write_jsonl

EXACT = ("--evaluators", "exact-match")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--data", "nowhere.jsonl", *EXACT), 1, "nowhere.jsonl"),
        (("--data", ".", *EXACT), 1, "folder"),
        (("--data", QA, *EXACT, "--output", "missing/results.json"), 1, "No such folder"),
        (("--data", QA, *EXACT, "--output", "."), 1, "is a folder"),
        (("--data", QA, *EXACT, "--concurrency", "0"), 2, "concurrency is 0; it must be at least 1"),
        (("--data", QA, *EXACT, "--processes", "0"), 2, "processes is 0; it must be at least 1"),
        (("--data", QA, *EXACT, "--cluster-by", ""), 2, "cluster_by is empty"),
        (("--data", QA, *EXACT, "--limit", "0"), 2, "limit is 0; it must be at least 1"),
        (("--data", QA, *EXACT, "--limit", "many"), 2, "many"),
        (("--data", QA, *EXACT, "--confidence", "95"), 2, "it must be between 0 and 1"),
        (("--data", QA, *EXACT, "--ci", "bootstap"), 1, "bootstrap"),
        (("--data", QA, "--evaluators", "exact-mach"), 1, 'Did you mean "exact-match"?'),
        (("--data", QA, "--evaluators", "exact-match@9"), 1, "9"),
        (("--data", QA, "--evaluators", "exact-match,,latency"), 2, "empty name"),
        (("--data", QA, "--evaluators", "exact-match,exact-match"), 2, "Rename one of them"),
        (("--data", QA, *EXACT, "--param", "exact-match.normalize=no"), 1, "exact-match.normalize=false"),
        (("--data", QA, *EXACT, "--param", "exact-match.normalise=true"), 1, 'Did you mean "normalize"?'),
        (("--data", QA, *EXACT, "--param", "exactmatch.normalize=true"), 2, 'Did you mean "exact-match"?'),
        (("--data", QA, *EXACT, "--param", "normalize=true"), 2, "normalize=true"),
        (("--data", QA, "--evaluators", "regex-match", "--param", "regex-match.pattern=("), 1, "no RE2 pattern"),
        (("--data", QA, "--evaluators", "regex-match"), 1, "pattern"),
        (("--data", QA, *EXACT, "--map", "inputs=question"), 2, 'Did you mean "input"?'),
        (("--data", QA, *EXACT, "--map", "input"), 2, "FIELD=COLUMN"),
        (("--data", QA, *EXACT, "--cluster-by", "topics"), 1, 'Did you mean "topic"?'),
        (("--data", QA, *EXACT, "--formatt", "json"), 2, "Did you mean --format?"),
        (("--data", QA, "--evaluators", "./no_such.py:f"), 1, "no_such.py"),
        (("--data", QA, "--evaluators", "no.such.module:f"), 1, "no"),
        (("--data", "x.parq", *EXACT), 1, "x.parq"),
    ],
)
def test_a_wrong_word_is_one_error_with_its_hint(words: tuple[str, ...], code: int, said: str, tmp_path: Path) -> None:
    done = evalsi("eval", *words, cwd=tmp_path)
    assert done.code == code
    assert said in done.err
    assert "Traceback" not in done.err
    assert done.out == ""
    assert done.err.startswith("error: ")


def test_an_unknown_command_is_met_with_the_nearest(tmp_path: Path) -> None:
    done = evalsi("evl")
    assert (done.code, done.out) == (2, "")
    assert "Did you mean 'eval'?" in done.err


def test_an_empty_file_is_an_error_and_no_green_run(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    done = evalsi("eval", "--data", empty, *EXACT)
    assert (done.code, done.out) == (1, "")
    assert "has no records" in done.err


def test_a_column_that_every_record_lacks_is_an_error_that_names_the_columns_there_are(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "d.jsonl", [{"question": "a", "output": "b", "answer": "c"}] * 3)
    done = evalsi("eval", "--data", data, *EXACT)
    assert done.code == 1
    assert "exact-match skipped every record: record has no reference." in done.err
    assert "The columns are: question, output, answer." in done.err
    assert "--map reference=COLUMN" in done.err


def test_every_evaluation_that_fails_fails_the_command(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "d.jsonl", [{"output": "b", "reference": ""}] * 3)
    done = evalsi("eval", "--data", data, "--evaluators", "contains")
    assert done.code == 1
    assert "contains failed on every record" in done.err


@pytest.mark.parametrize("name", ["data.jsonl", "link.jsonl", "./data.jsonl"])
def test_results_never_take_the_place_of_the_data(name: str, tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": "b", "reference": "b"}])
    (tmp_path / "link.jsonl").symlink_to(data)
    before = data.read_bytes()
    done = evalsi("eval", "--data", data, *EXACT, "--output", name, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"{Path(name)} is an input of this command and would be overwritten." in done.err
    assert data.read_bytes() == before


def test_results_take_the_place_of_results_only(tmp_path: Path) -> None:
    """A slip of the hand, such as `--output` before an evaluator's source, must not cost what cannot be made again."""
    data = write_jsonl(tmp_path / "data.jsonl", [{"output": "b", "reference": "b"}])
    source = tmp_path / "mine.py"
    source.write_text("def polite(record):\n    return True\n")
    done = evalsi("eval", "--data", data, "--evaluators", "./mine.py:polite", "--output", "mine.py", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "mine.py exists and is not a results file." in done.err
    assert source.read_text().startswith("def polite")
    results = tmp_path / "results.json"
    results.touch()
    for _ in range(2):  # An empty file, as `mktemp` makes it, and earlier results are replaced.
        assert evalsi("eval", "--data", data, *EXACT, "--output", results).code == 0
    results.write_text(json.dumps(json.loads(results.read_text()), indent=4))
    assert evalsi("eval", "--data", data, *EXACT, "--output", results).code == 0


BAD_DATA = {
    "a broken line": (b'{"output": "a"}\n{"output": \n{"output": "c"}\n', "line 2"),
    "a half-written last line": (b'{"output": "a"}\n{"output": "b', "line 2"),
    "a record that is no object": (b'{"output": "a"}\n[1, 2]\n', "line 2"),
    "NaN": (b'{"output": "a", "usage": {"latency_ms": NaN}}\n', "line 1"),
    "Infinity": (b'{"output": "a", "x": -Infinity}\n', "line 1"),
    "a lone surrogate": (b'{"output": "\\ud83d"}\n', "line 1"),
    "no UTF-8": (b'{"output": "\xff\xfe"}\n', "line 1"),
    "a duplicate id": (b'{"id": "7", "output": "a"}\n{"id": 7, "output": "b"}\n', "line 2"),
    "an automatic id that collides": (b'{"id": "1", "output": "a"}\n{"output": "b"}\n', "line 2"),
    "an integer beyond 64 bits": (b'{"output": "a", "reference": 123456789012345678901234567890}\n', "line 1"),
    "an id that is no text": (b'{"id": [1], "output": "a"}\n', "line 1"),
    "metadata that is no object": (b'{"output": "a", "metadata": 3}\n', "line 1"),
    "usage that is no number": (b'{"output": "a", "usage": {"latency_ms": "fast"}}\n', "line 1"),
}


@pytest.mark.parametrize("what", BAD_DATA)
def test_bad_data_is_an_error_that_says_where(what: str, tmp_path: Path) -> None:
    content, place = BAD_DATA[what]
    data = tmp_path / "bad.jsonl"
    data.write_bytes(content)
    done = evalsi("eval", "--data", data, "--evaluators", "length")
    assert done.code == 1
    assert "bad.jsonl" in done.err
    assert place in done.err
    assert "Traceback" not in done.err


def test_what_was_scored_before_bad_data_is_kept_and_labelled(tmp_path: Path) -> None:
    data, output = tmp_path / "bad.jsonl", tmp_path / "results.json"
    data.write_bytes(b'{"output": "a b"}\n' * 2000 + b"{broken\n")
    done = evalsi("eval", "--data", data, "--evaluators", "length", "--output", output)
    assert done.code == 1
    assert "line 2001" in done.err
    assert "· failed" in done.out
    found = json.loads(output.read_text("utf-8"))
    assert found["manifest"]["status"] == "failed"
    assert found["manifest"]["error"]["code"].startswith("dataset.")
    assert len(found["results"]) == len(found["records"]) > 0


GOOD_DATA = {
    "a BOM": b'\xef\xbb\xbf{"output": "a"}\n{"output": "b"}\n',
    "CRLF": b'{"output": "a"}\r\n{"output": "b"}\r\n',
    "blank lines": b'\n{"output": "a"}\n\n  \n{"output": "b"}\n\n',
    "no last line end": b'{"output": "a"}\n{"output": "b"}',
    "U+2028 in a string": '{"output": "one\u2028two"}\n{"output": "three\u0085four"}\n'.encode(),
    "a line of 5 MB": b'{"output": "' + b"x" * 5_000_000 + b'"}\n{"output": "b"}\n',
}


@pytest.mark.parametrize("what", GOOD_DATA)
def test_unusual_but_right_data_gives_every_record(what: str, tmp_path: Path) -> None:
    data = tmp_path / "good.jsonl"
    data.write_bytes(GOOD_DATA[what])
    done = evalsi("eval", "--data", data, "--evaluators", "length", "--format", "json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["summaries"][0]["n"] == 2


def test_standard_input_is_read() -> None:
    done = evalsi("eval", "--data", "-", *EXACT, stdin=QA.read_bytes())
    assert done.code == 0, done.err
    assert "exact-match  6  0.333" in done.out


def test_a_closed_pipe_ends_quietly() -> None:
    command = f"'{EVALSI}' catalog | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.splitlines()[-1] in ("0", "141")
    assert done.stderr == ""


def test_a_missing_lock_is_an_error_that_names_the_pack(tmp_path: Path) -> None:
    pack = tmp_path / "packs" / "lockless"
    (pack / "src").mkdir(parents=True)
    (pack / "plugin.toml").write_text(
        'manifest = 1\nname = "acme/lockless"\nversion = "1"\nsummary = "s"\nprotocol = 1\n'
        '[run]\nmodule = "lockless"\nworkers = "cpu"\n'
        '[[evaluators]]\nname = "thing"\nversion = "1"\nsummary = "s"\nscope = "record"\nneeds = []\nasks = []\n'
        'outputs = []\nparams = { type = "object", properties = {} }\n'
    )
    variables = {"EVALSI_PLUGIN_PATH": str(tmp_path / "packs")}
    done = evalsi("eval", "--data", QA, "--evaluators", "acme/lockless/thing", variables=variables)
    assert done.code == 1
    assert "acme/lockless" in done.err
    assert "uv.lock" in done.err


def test_output_that_meets_a_full_disk_leaves_the_old_file_and_says_so(tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    output.write_text('{"schema_version": 1}')
    script = (
        # The limit would cut compiled files too, which other tests load.
        "import resource, sys; sys.dont_write_bytecode = True;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "from evalsi_cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    data = write_jsonl(tmp_path / "d.jsonl", [{"output": "a" * 100}] * 2000)
    words = ["eval", "--data", str(data), "--evaluators", "length", "--output", str(output)]
    done = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert output.read_text() == '{"schema_version": 1}'
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []
