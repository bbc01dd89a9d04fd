"""A project of each test's own, and a cache in which the environment of the pack core is shared."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("EVALSI_PLUGIN_PATH", raising=False)
    monkeypatch.delenv("EVALSI_PLUGIN_INDEX", raising=False)
    return folder
