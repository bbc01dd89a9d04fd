"""What the adapters have is known without an environment of theirs, and counted on the page for users."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.running import evalsi

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-framework-metrics.md"
ADAPTERS = ("deepeval", "ragas", "inspect", "lm-eval")


def test_the_catalog_lists_all_metrics_of_the_adapters_with_no_environment_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    counted = {
        name: int(count) for name, count in re.findall(r"^\| \[([\w-]+)\].*?\| (\d+) \|", PAGE.read_text("utf-8"), re.M)
    }
    found = {row["pack"]: row for row in json.loads(evalsi("plugins", "list", "--format", "json").out)}
    assert {name: found[name]["evaluators"] for name in ADAPTERS} == counted
    assert {found[name]["environment"] for name in ADAPTERS} == {"missing"}
    for name in ADAPTERS:
        listed = evalsi("catalog", "--pack", name)
        assert listed.code == 0, listed.err
        assert len(re.findall(r"^  [\w-]+@\d+ ", listed.out, re.M)) == counted[name]
    assert not (tmp_path / "envs").exists()


def test_the_kinds_of_metrics_on_the_page_add_up_to_all_of_them() -> None:
    rows = re.findall(r"^\| \[[\w-]+\].*?\| (\d+) \| (.*?)[;|]", PAGE.read_text("utf-8"), re.M)
    assert [sum(map(int, re.findall(r" (\d+)", f" {kinds}"))) for _, kinds in rows] == [int(count) for count, _ in rows]
    assert len(rows) == len(ADAPTERS)
