"""A file that is pinned: scored as long as it holds what was pinned, and else not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evalsi_kernel.errors import DatasetError, UsageError
from tests.cli.running import evalsi
from tests.datasets.reading import open_source, read

ROWS = b'{"id": "a", "output": "x", "reference": "x"}\n'
DIGEST = hashlib.sha256(ROWS).hexdigest()


@pytest.fixture
def qa(tmp_path: Path) -> Path:
    path = tmp_path / "qa.jsonl"
    path.write_bytes(ROWS)
    return path


@pytest.mark.parametrize("digest", [DIGEST, DIGEST.upper()])
def test_a_file_that_holds_what_was_pinned_is_read_as_by_its_path(qa: Path, digest: str) -> None:
    assert read(f"snapshot://{qa}?sha256={digest}").rows == read(str(qa)).rows
    assert read(f"SNAPSHOT://{qa}?sha256={digest}").source.name == str(qa)


def test_marks_of_an_address_can_stand_in_a_path(tmp_path: Path) -> None:
    path = tmp_path / "my qa?#%.jsonl"
    path.write_bytes(ROWS)
    assert len(read(f"snapshot://{tmp_path}/my%20qa%3F%23%25.jsonl?sha256={DIGEST}").rows) == 1


def test_a_file_that_has_changed_is_refused_before_anything_is_read(qa: Path) -> None:
    qa.write_bytes(ROWS + b" ")
    with pytest.raises(DatasetError, match="is not what was pinned") as caught:
        open_source(f"snapshot://{qa}?sha256={DIGEST}")
    assert hashlib.sha256(ROWS + b" ").hexdigest() in caught.value.message
    assert DIGEST in caught.value.message


def test_an_address_without_a_digest_says_which_it_would_be(qa: Path) -> None:
    with pytest.raises(UsageError) as caught:
        open_source(f"snapshot://{qa}")
    assert caught.value.hint == f"Write snapshot://{qa}?sha256={DIGEST}"
    assert len(read(caught.value.hint.removeprefix("Write ")).rows) == 1


@pytest.mark.parametrize(
    ("uri", "what"),
    [
        ("snapshot://?sha256=" + DIGEST, "names no file"),
        ("snapshot://qa.jsonl?sha256=abc", "is no SHA-256"),
        ("snapshot://qa.jsonl?md5=abc", "has 'md5', which a snapshot does not know"),
        (f"snapshot://qa.jsonl?sha256={DIGEST}&sha256={DIGEST}", "has sha256 more than once"),
    ],
)
def test_an_address_that_is_off_is_refused(uri: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_source(uri)
    assert what in caught.value.message


def test_what_is_no_file_cannot_be_pinned(tmp_path: Path) -> None:
    for path, what in (
        (tmp_path, "no plain file"),
        (tmp_path / "none.jsonl", "There is no file"),
        ("a\0b", "cannot be"),
    ):
        with pytest.raises(DatasetError, match=what):
            open_source(f"snapshot://{path}?sha256={DIGEST}")


def test_the_digest_is_the_one_of_the_results_file(qa: Path, tmp_path: Path) -> None:
    first = evalsi("eval", "--data", qa, "--evaluators", "exact-match", "--output", "first.json", cwd=tmp_path)
    assert first.code == 0, first.err
    pinned = json.loads((tmp_path / "first.json").read_text())["manifest"]["dataset"]["sha256"]
    again = ("eval", "--data", f"snapshot://qa.jsonl?sha256={pinned}", "--evaluators", "exact-match")
    assert evalsi(*again, cwd=tmp_path).out == first.out
    qa.write_bytes(ROWS * 2)
    changed = evalsi(*again, cwd=tmp_path)
    assert (changed.code, changed.out) == (1, "")
    assert "qa.jsonl is not what was pinned" in changed.err
