"""Opening data: which reader a name chooses, what is refused before work starts, and how little is imported."""

import hashlib
import os
import subprocess
import sys
import threading
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from evalsi_datasets.plugin import COMPRESSIONS, FORMATS, evalsi_open_source
from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.extensions.hook_calls import open_source
from evalsi_kernel.extensions.installed import load_extensions
from tests.cli.running import EVALSI
from tests.datasets.reading import drain, read
from tests.datasets.reading import open_source as opened


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    path = tmp_path / "qa.jsonl"
    path.write_text('{"a": 1}\n')
    return path


def test_the_kernel_finds_this_extension_and_reads_a_file_through_it(qa: Path, tmp_path: Path) -> None:
    extensions = load_extensions(tmp_path / "cache")

    source = open_source(str(qa), extensions)

    assert drain(source).rows == [{"a": 1}]
    assert (source.name, source.unit, source.may_block) == (str(qa), "line", False)
    assert source.sha256() == hashlib.sha256(b'{"a": 1}\n').hexdigest()


def test_the_manifest_names_every_end_of_a_name_that_is_read() -> None:
    manifest = tomllib.loads(resources.files("evalsi_datasets").joinpath("extension.toml").read_text())

    ends = {form + compression for form in FORMATS for compression in ("", *COMPRESSIONS)}
    assert set(manifest["provides"]["suffixes"]) == ends
    assert manifest["provides"]["schemes"] == ["file", "hf", "snapshot"]
    assert manifest["provides"]["stdin"] is True


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "my qa?#.jsonl"
    path.write_text('{"a": 1}\n')

    assert read(f"FILE://{tmp_path}/my%20qa%3F%23.jsonl").rows == [{"a": 1}]
    assert read(f"file://localhost{tmp_path}/my%20qa%3F%23.jsonl").source.name == str(path)


def test_a_file_uri_without_an_absolute_path_is_refused() -> None:
    with pytest.raises(UsageError, match="does not hold an absolute path") as caught:
        opened("file://qa.jsonl")

    assert "file:///" in caught.value.hint


def test_another_scheme_is_another_extensions() -> None:
    assert evalsi_open_source("s3://bucket/qa.jsonl", None) is None


def test_a_missing_file_is_refused_when_it_is_opened_with_the_nearest_name(qa: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        opened(qa.with_name("aq.jsonl"))

    assert caught.value.message == f"There is no file {qa.with_name('aq.jsonl')}."
    assert "qa.jsonl" in caught.value.hint
    assert caught.value.code == "dataset.not_found"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/no/such/folder/qa.jsonl", "There is no file /no/such/folder/qa.jsonl."),
        ("qa.jsonl/inner.jsonl", "cannot be read: not a directory."),
        ("x" * 300 + ".jsonl", "cannot be read: file name too long."),
        ("a\0b.jsonl", "a\\x00b.jsonl' is no path: none holds a NUL, or what cannot be encoded."),
        ("a\0b", "a\\x00b' is no path: none holds a NUL, or what cannot be encoded."),
    ],
    ids=["no folder", "a file in a file", "too long a name", "a NUL", "a NUL and no known end"],
)
def test_a_path_that_leads_nowhere_is_refused_when_it_is_opened(qa: Path, path: str, message: str) -> None:
    with pytest.raises(DatasetError) as caught:
        opened(qa.parent / path)

    assert caught.value.message.endswith(message)
    assert caught.value.hint.startswith("Check the path")


@pytest.mark.parametrize("uri", ["file:///data/a%00b.jsonl", "\ud800.jsonl"])
def test_a_uri_that_can_be_no_path_is_refused(uri: str) -> None:
    with pytest.raises(DatasetError, match="is no path: ") as caught:
        opened(uri)

    assert caught.value.message.encode()
    assert caught.value.code == "dataset.not_found"


@pytest.mark.parametrize(("path", "shown"), [("nothing.txt", "nothing.txt"), ("", '"" (the path is empty)')])
def test_that_there_is_no_file_is_told_before_what_its_name_says(
    path: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(DatasetError) as caught:
        opened(path)

    assert str(caught.value) == f"There is no file {shown}. Check the path."
    assert caught.value.code == "dataset.not_found"


@pytest.mark.parametrize("name", ["qa.jsonl", "qa", "qa.txt"])
def test_a_folder_is_refused_when_it_is_opened(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()

    with pytest.raises(DatasetError, match=rf"{name} is a folder, not a file\.") as caught:
        opened(folder)

    assert "hf://" in caught.value.hint


# Nothing is closed to root, so that the tests of a container open it as somebody else.
OPEN_UNPRIVILEGED = """
import os
import evalsi_datasets.file_bytes, evalsi_datasets.jsonl
from evalsi_datasets.plugin import evalsi_open_source
from evalsi_kernel.errors import DatasetError
if os.getuid() == 0:
    os.setuid(65534)
try:
    evalsi_open_source("qa.jsonl", None)
except DatasetError as error:
    print(error.code, error)
"""


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_a_file_that_may_not_be_read_is_refused_when_it_is_opened(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    if kind == "file":
        path.touch()
    else:
        os.mkfifo(path)
    path.chmod(0)
    tmp_path.chmod(0o755)

    ended = run_python(OPEN_UNPRIVILEGED, cwd=tmp_path)

    assert ended.stdout == (
        "dataset.unreadable qa.jsonl cannot be read: permission denied. Check the path and its rights.\n"
    )


def run_python(code: str, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, timeout=30, check=True
    )


def test_a_name_that_says_no_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "qa.xls"
    path.touch()

    with pytest.raises(DatasetError, match=r"does not say what it holds") as caught:
        opened(f"file://{path}")

    assert ".jsonl, .ndjson, .json, .csv, .tsv, .xlsx, .parquet" in caught.value.hint


@pytest.mark.parametrize("name", ["pipe.jsonl", "pipe"])
def test_a_named_pipe_is_opened_without_waiting_and_read_when_it_is_written(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    source = opened(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text('{"a": 1}\n{"a": 2}\n'))
    writer.start()

    reading = drain(source)
    writer.join(10)

    assert reading.rows == [{"a": 1}, {"a": 2}]
    assert source.may_block is True
    assert source.sha256() == hashlib.sha256(b'{"a": 1}\n{"a": 2}\n').hexdigest()


READ_AND_PRINT = """
import json, sys
from evalsi_datasets.plugin import evalsi_open_source
from evalsi_kernel.records.sources import readable_chunks
source = evalsi_open_source(sys.argv[1], None)
before = source.unit
rows = [row for chunk in readable_chunks(source) for row in chunk]
print(json.dumps([source.name, source.may_block, before, source.unit, rows, source.sha256()]))
"""


def from_stdin(uri: str, data: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", READ_AND_PRINT, uri], input=data, capture_output=True, timeout=30, check=False
    )


@pytest.mark.parametrize("uri", ["-", "/dev/stdin", "file:///dev/stdin"])
@pytest.mark.parametrize(
    ("data", "unit"),
    [
        (b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n', "line"),
        (b' \n[{"a": 1},\n{"a": 2}]\n', "element"),
        (b' \n{\n "data": [{"a": 1},\n{"a": 2}]}\n', "element"),
        (b'{"schema_version":1,\n"data":[\n{"a": 1},\n{"a": 2}]}\n', "element"),
    ],
    ids=["JSON Lines", "an array", "an object", "an object whose first line holds a member"],
)
def test_standard_input_is_json_lines_unless_an_array_or_an_object_over_lines_begins(
    uri: str, data: bytes, unit: str
) -> None:
    name = "standard input" if uri == "-" else "/dev/stdin"
    rows = '[[1, {"a": 1}], [2, {"a": 2}]]'
    digest = hashlib.sha256(data).hexdigest()

    ended = from_stdin(uri, data)

    assert ended.stderr == b""
    assert ended.stdout.decode().strip() == f'["{name}", true, "line", "{unit}", {rows}, "{digest}"]'


def test_what_comes_in_small_pieces_is_told_by_its_first_line_all_the_same() -> None:
    reading_end, writing_end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", READ_AND_PRINT, "-"], stdin=reading_end, stdout=subprocess.PIPE
    ) as process:
        os.close(reading_end)
        for piece in (b"{", b'"da', b'ta":', b"\n", b'[{"a": 1}]}'):
            os.write(writing_end, piece)
        os.close(writing_end)
        out, _ = process.communicate(timeout=30)
    assert b'"element", [[1, {"a": 1}]]' in out


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1}}\n', "line 1"),
        (b'{"a": 1,', "line 1"),
        (b'{"a": "\xff"}\n', "line 1"),
        (b'{"a": 1\n{"a": 2}\n', "line 2"),
    ],
)
def test_what_is_neither_is_told_with_its_place(data: bytes, said: str) -> None:
    ended = from_stdin("-", data)
    assert ended.returncode == 1
    assert f"standard input, {said}" in ended.stderr.decode()


@pytest.mark.parametrize("data", [b"", b"\n \n"], ids=["nothing", "blank lines"])
def test_an_empty_standard_input_gives_no_row(data: bytes) -> None:
    assert b'"line", [], ' in from_stdin("-", data).stdout


def test_a_pipe_that_is_not_ready_yet_is_waited_for_and_not_taken_as_its_end() -> None:
    reading_end, writing_end = os.pipe()
    os.set_blocking(reading_end, False)
    with subprocess.Popen(
        [sys.executable, "-c", READ_AND_PRINT, "-"], stdin=reading_end, stdout=subprocess.PIPE
    ) as reader:
        os.close(reading_end)
        with os.fdopen(writing_end, "wb") as pipe:
            pipe.write(b'{"a": 1}\n')
            pipe.flush()
            # The first row is read, or the read is under way; either way more comes only now.
            pipe.write(b'{"a": 2}\n')
        told, _ = reader.communicate(timeout=30)

    assert b'[[1, {"a": 1}], [2, {"a": 2}]]' in told


def test_a_closed_standard_input_is_refused_when_it_is_opened() -> None:
    ended = subprocess.run(
        ["/bin/sh", "-c", f'exec "{sys.executable}" -c "$0" - <&-', READ_AND_PRINT],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert "standard input is closed, so there is no data in it." in ended.stderr


def test_a_closed_standard_input_is_not_what_was_opened_in_its_place() -> None:
    """The first that a process opens takes the number of its standard input where that is free."""
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" eval --data - --evaluators exact-match <&-', EVALSI],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "standard input is closed, so there is no data in it." in done.stderr


LIBRARIES = {"csv", "msgspec", "backports.zstd", "gzip", "openpyxl", "pyarrow", "datasets", "urllib.parse"}


@pytest.mark.parametrize(
    ("uri", "imported"),
    [
        (None, set()),
        ("x.jsonl", set()),
        ("x.json", set()),
        ("x.csv", {"csv"}),
        ("x.csv.zst", {"csv"}),
        ("x.xlsx", set()),
        ("x.parquet", set()),
    ],
)
def test_opening_imports_what_the_format_needs_and_nothing_else(
    uri: str | None, imported: set[str], tmp_path: Path
) -> None:
    if uri:
        (tmp_path / uri).write_bytes(b"")
    code = (
        "import sys, evalsi_kernel.hooks, evalsi_kernel.errors, evalsi_kernel.checking.suggestions\n"
        "before = set(sys.modules)\n"
        "from evalsi_datasets.plugin import evalsi_open_source\n"
        f"{uri!r} and evalsi_open_source({uri!r}, None)\n"
        "print(*(set(sys.modules) - before))"
    )

    ended = run_python(code, cwd=tmp_path)

    assert set(ended.stdout.split()) & LIBRARIES == imported


@pytest.mark.parametrize(("lines", "loaded"), [(100, False), (101, True)])
def test_the_fast_decoder_is_loaded_once_there_is_enough_to_read(lines: int, loaded: bool, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"a": 12345678901234567890123}\n' * lines)
    code = (
        "import sys\nfrom evalsi_datasets.plugin import evalsi_open_source\n"
        "rows = [row for chunk in evalsi_open_source('x.jsonl', None).chunks() for _, row in chunk]\n"
        "print(len(rows), rows[0]['a'], 'msgspec' in sys.modules)"
    )
    assert run_python(code, cwd=tmp_path).stdout.split() == [str(lines), "12345678901234567890123", str(loaded)]
