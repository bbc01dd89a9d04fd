"""Every built-in pack conforms, in the environment of its lock; tests/adapters says it of the adapters."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.distributions import ROOT
from tests.conformance.own import report_on

PACKS = sorted(path.parent for path in ROOT.glob("plugins/packs/*/plugin.toml"))


@pytest.mark.parametrize("folder", PACKS, ids=lambda folder: folder.name)
def test_a_built_in_pack_is_trustworthy(folder: Path) -> None:
    report = report_on(folder)
    assert report.failed == ()
    assert report.reached == ("loads", "behaves", "trustworthy")
    assert report.notes == ()
