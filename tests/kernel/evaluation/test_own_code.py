"""An evaluator of the user's own is known by its file, one of a pack by its version."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from evalsi_kernel.evaluation.manifest import own_code

CODE = b"def mine(record):\n    return True\n"


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ("mine.py", "./mine.py:mine"),
        ("mine.py", "mine.py"),
        ("mine.py", "mine:mine"),
        ("deep/mine.py", "deep.mine:mine"),
    ],
)
def test_a_file_or_module_here_is_known_by_its_bytes(
    place: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_bytes(CODE)
    assert own_code(named) == {"sha256": hashlib.sha256(CODE).hexdigest()}


@pytest.mark.parametrize(
    "named", ["core", "acme/readability", "python", "json.decoder:JSONDecoder", "./absent.py:mine"]
)
def test_what_has_a_version_or_is_not_here_is_known_by_no_file(
    named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert own_code(named) == {}
