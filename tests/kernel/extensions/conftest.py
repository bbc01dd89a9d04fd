"""A place for extensions, and a cache for what is known of them, of each test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.kernel.extension_site import Site


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A place for extensions, before all others."""
    site = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(site.folder)
    return site


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
