"""Each reported fault of other tools is held by tests that exist, or waits for named work."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.guide.status import node_exists
from tests.guide.test_rows import TOPICS

CASES: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("reported.toml").read_text("utf-8"))
COUNT = 38


def test_every_case_is_listed() -> None:
    assert list(CASES) == [f"open-{number:02}" for number in range(1, COUNT + 1)]


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_held_by_tests_that_exist_or_waits_for_named_work(name: str) -> None:
    case = CASES[name]
    assert set(case) in ({"about", "tests"}, {"about", "pending"})
    if "pending" in case:
        assert case["pending"] in TOPICS
    else:
        assert case["tests"]
        assert [test for test in case["tests"] if not node_exists(test)] == []


def test_what_scoring_judging_and_running_are_about_waits_for_nothing() -> None:
    of_later_work = [24, 25, *range(30, 33), *range(34, COUNT + 1)]
    assert [number for number in range(1, COUNT + 1) if "tests" not in CASES[f"open-{number:02}"]] == of_later_work
