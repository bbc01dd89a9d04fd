"""What is scored is what was planned: an evaluator of another version than its manifest's scores nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evalsi_kernel.errors import PackError
from evalsi_kernel.supervision.launch import Opening, PoolLimits
from evalsi_kernel.supervision.pool import Pool
from tests.kernel.supervised import bounded, launch

PACK = """
from evalsi import evaluator

@evaluator(name="one", version=3)
def one(record):
    return True
"""


def described(tmp_path: Path, version: str) -> list[dict[str, Any]]:
    """What the started pack says of its evaluator, which is planned in this version."""
    file = tmp_path / "three.py"
    file.write_text(PACK, "utf-8")

    async def work() -> list[dict[str, Any]]:
        pool = Pool(launch(file), [Opening(1, "one", {}, version)], PoolLimits())
        try:
            return await pool.start()
        finally:
            await pool.close()

    return bounded(work)


def test_another_version_than_planned_is_an_error_before_any_record(tmp_path: Path) -> None:
    with pytest.raises(PackError, match=r"has version 3 of one, but its plugin\.toml says 2") as caught:
        described(tmp_path, "2")
    assert caught.value.code == "pack.changed"


@pytest.mark.parametrize("version", ["3", ""], ids=["as planned", "not known"])
def test_the_version_that_was_planned_is_opened(version: str, tmp_path: Path) -> None:
    assert [one["version"] for one in described(tmp_path, version)] == ["3"]
