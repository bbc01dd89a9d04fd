"""`pytest --evalsi-pack DIR`: run each check of the kit as a test.

The pack is checked once, when the first of these tests runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from evalsi_conformance.findings import Finding, Report

REPORT = pytest.StashKey["Report"]()
SHOWN_LEVELS = ("loads", "behaves", "trustworthy")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the kit."""
    group = parser.getgroup("evalsi", "conformance of an evaluator pack")
    group.addoption("--evalsi-pack", type=Path, metavar="DIR", help="check the pack in this folder as well")
    group.addoption("--evalsi-level", choices=SHOWN_LEVELS, default="trustworthy", help="the last level to check")
    group.addoption("--evalsi-timeout-s", type=float, default=0.0, metavar="S", help="how long an answer may take")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add a test for each check if a pack is given."""
    folder = config.getoption("--evalsi-pack")
    if folder is None:
        return
    from evalsi_conformance.kit import NAMES  # The kit is loaded by those who ask for it.

    levels = SHOWN_LEVELS[: SHOWN_LEVELS.index(config.getoption("--evalsi-level")) + 1]
    names = {level: checks for level, checks in NAMES.items() if level in levels}
    items += [
        CheckItem.from_parent(session, name=f"evalsi: {level}: {check}", level=level, check=check)
        for level, checks in names.items()
        for check in checks
    ]


class CheckItem(pytest.Item):
    """One check."""

    def __init__(self, *, level: str, check: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.level, self.check = level, check

    def runtest(self) -> None:
        """Pass, fail with the faults, or skip with the reason."""
        found = [one for one in _report(self.config).findings if (one.level, one.check) == (self.level, self.check)]
        failed = [one for one in found if one.status == "failed"]
        if failed:
            raise CheckFailed("\n".join(map(_shown, failed)))
        if not found:
            pytest.skip("a level before it failed")
        if all(one.status != "passed" for one in found):
            pytest.skip("; ".join(one.reason or one.message for one in found))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the failure without a traceback, because the pack failed and not the kit."""
        if isinstance(excinfo.value, CheckFailed):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location to report."""
        return self.config.getoption("--evalsi-pack"), None, self.name


class CheckFailed(Exception):
    """Raised with the faults of a check, one per line."""


def _report(config: pytest.Config) -> Report:
    if REPORT not in config.stash:
        from evalsi_conformance.bench import Settings
        from evalsi_conformance.kit import check_pack
        from evalsi_conformance.pack_process import CannotStart

        settings = Settings(config.getoption("--evalsi-timeout-s"))
        level = config.getoption("--evalsi-level")
        try:
            config.stash[REPORT] = check_pack(config.getoption("--evalsi-pack"), level=level, settings=settings)
        except CannotStart as error:
            raise CheckFailed(str(error)) from error
    return config.stash[REPORT]


def _shown(finding: Finding) -> str:
    whose = f"{finding.evaluator}: " if finding.evaluator else ""
    return f"{whose}{finding.message} {finding.hint}".rstrip()
