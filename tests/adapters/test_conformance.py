"""Every adapter conforms, in the environment of its framework."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.distributions import ROOT
from tests.conformance.own import report_on

ADAPTERS = sorted(path.parent for path in ROOT.glob("adapters/*/plugin.toml"))


# Dozens of evaluators, each with several sets of params in two processes.
@pytest.mark.timeout(400)
@pytest.mark.parametrize("folder", ADAPTERS, ids=lambda folder: folder.name)
def test_an_adapter_is_trustworthy(folder: Path) -> None:
    report = report_on(folder)
    assert report.failed == ()
    assert report.reached == ("loads", "behaves", "trustworthy")
    assert report.notes == ()
