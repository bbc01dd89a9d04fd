"""A project of each test's own, and a short folder for sockets: pytest's may be longer than a socket's path may be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for variable in ("EVALSI_PLUGIN_PATH", "EVALSI_PLUGIN_INDEX", "EVALSI_REATTACH"):
        monkeypatch.delenv(variable, raising=False)
    return folder


@pytest.fixture
def at() -> Iterator[str]:
    """An address for a Unix socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield f"unix://{folder}/pack"
