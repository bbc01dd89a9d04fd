"""hf://: what a URI asks for, and dataset folders read with the datasets library, without a network."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import DatasetError, UsageError

# The library reads these once, when it is imported.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("HF_HOME", os.path.join(tempfile.gettempdir(), f"evalsi-tests-hf-{os.getuid()}"))

from evalsi_datasets.hugging_face import DatasetUri, HubRows, parse_uri, refusal
from tests.datasets.reading import drain, open_source, read

TRAIN = {"id": "t", "chat": [{"role": "user"}], "n": 0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test.jsonl").write_text('{"id": "a", "chat": [{"role": "user"}], "n": 1}\n{"id": "b", "n": null}\n')
    (tmp_path / "train.jsonl").write_text(json.dumps(TRAIN) + "\n")
    return tmp_path


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("hf://org/name", DatasetUri("org/name")),
        ("HF://name?split=train", DatasetUri("name", split="train")),
        ("hf://org/name?config=main&split=dev&revision=v1.0", DatasetUri("org/name", "main", "dev", "v1.0")),
        ("hf://org/name?config=&split=", DatasetUri("org/name")),
        ("hf://org/name?config=a%20b", DatasetUri("org/name", "a b")),
        ("hf:///data/qa/", DatasetUri("/data/qa")),
        ("hf://./qa", DatasetUri("./qa")),
        ("hf://./a%23b%3Fc?split=dev", DatasetUri("./a#b?c", split="dev")),
    ],
)
def test_a_uri_names_repo_config_split_and_revision(uri: str, expected: DatasetUri) -> None:
    assert parse_uri(uri) == expected


@pytest.mark.parametrize(
    ("uri", "message", "hint"),
    [
        ("hf://", "names no dataset", "hf://org/name"),
        ("hf://?split=test", "names no dataset", "hf://org/name"),
        ("hf://./folder#x", '"#" begins a fragment', "%23"),
        ("hf://name?split=a#x", '"#" begins a fragment', "Take it away"),
        ("hf://~\0/qa", "holds a NUL", "Take it away"),
        ("hf:///qa%00", "holds a NUL", "Take it away"),
        ("hf://name?splt=test", 'there is no option "splt"', "split"),
        ("hf://name?split=a&split=b", "split is given twice", "once"),
    ],
)
def test_a_uri_that_is_off_is_refused_before_the_library_is_needed(uri: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_source(uri)

    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_test_split_of_a_folder_is_read_unless_another_is_asked_for(folder: Path) -> None:
    reading = read(f"hf://{folder}")

    assert [row["id"] for row in reading.rows] == ["a", "b"]
    assert reading.numbered[0] == (1, {"id": "a", "chat": [{"role": "user"}], "n": 1})
    assert (reading.source.unit, reading.source.may_block, reading.source.sha256()) == ("row", True, None)
    assert read(f"hf://{folder}?split=train").rows == [TRAIN]


def test_a_folder_may_be_named_from_the_current_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)

    assert read(f"hf://./{folder.name}?split=train").rows == [TRAIN]


@pytest.mark.parametrize(
    ("query", "message"),
    [("split=dev", "Available splits: ['train', 'test']"), ("config=nope", "BuilderConfig 'nope' not found")],
)
def test_an_unknown_split_or_config_is_an_error_that_says_which_there_are(
    folder: Path, query: str, message: str
) -> None:
    with pytest.raises(DatasetError) as caught:
        open_source(f"hf://{folder}?{query}")

    assert message in caught.value.message
    assert "?split=train" in caught.value.hint


def test_a_missing_folder_is_an_error() -> None:
    with pytest.raises(DatasetError, match="There is no folder /no/such") as caught:
        open_source("hf:///no/such")

    assert caught.value.code == "dataset.not_found"


def test_offline_an_unknown_repo_is_an_error_that_says_so() -> None:
    with pytest.raises(DatasetError, match="HF_HUB_OFFLINE is set") as caught:
        open_source("hf://no-such-org/no-such-name")

    assert caught.value.code == "dataset.unreachable"
    assert caught.value.hint.startswith("Unset HF_HUB_OFFLINE")


@pytest.mark.parametrize(
    ("kind", "code", "hint"),
    [
        ("DatasetNotFoundError", "dataset.not_found", "log in"),
        ("ConnectionError", "dataset.unreachable", "HF_HUB_OFFLINE=1"),
        ("ValueError", "dataset.invalid", "?split=train"),
    ],
)
def test_what_the_hub_refuses_is_told_with_what_to_do(kind: str, code: str, hint: str) -> None:
    from datasets.exceptions import DatasetNotFoundError

    kinds: dict[str, type[Exception]] = {
        "DatasetNotFoundError": DatasetNotFoundError,
        "ConnectionError": ConnectionError,
        "ValueError": ValueError,
    }
    error = refusal("hf://org/name", kinds[kind]("it is\n  so"), offline=False)

    assert error.code == code
    assert error.message.startswith("hf://org/name")
    assert error.message.endswith("it is so.")
    assert hint in error.hint


def test_a_broken_file_in_a_folder_is_an_error_with_the_row_before_it(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text('{"id": "a"}\n{"id": \n')

    fault = drain(open_source(f"hf://{tmp_path}")).fault

    assert fault is not None
    assert "after row 0: the datasets library cannot go on: JSON parse error" in fault.message


def test_rows_are_chunked_by_their_size() -> None:
    rows: list[dict[str, Any]] = [{"output": "x" * 1_000}] * 200

    assert drain(HubRows("hf://x", rows)).chunk_lengths == [65, 65, 65, 5]
    assert drain(HubRows("hf://x", [{"n": 1}] * 2_000)).chunk_lengths == [1024, 976]


def test_a_column_that_json_cannot_carry_is_named() -> None:
    fault = drain(HubRows("hf://x", [{"image": 1}, {"image": b"png"}])).fault

    assert fault is not None
    assert fault.message == 'hf://x, row 2: column "image" holds bytes, which JSON cannot carry.'


def test_without_the_library_the_error_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)

    with pytest.raises(DatasetError) as caught:
        open_source(f"hf://{folder}")

    assert caught.value.hint == "Install it: pip install 'evalsi[hf]'"
