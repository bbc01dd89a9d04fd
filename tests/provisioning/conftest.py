"""A folder for what the tools of languages leave behind."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Path]:
    """A folder that is taken away at once: pytest would keep hundreds of megabytes of each of the last runs."""
    yield tmp_path
    shutil.rmtree(tmp_path)
