"""The pages about adapters work from top to bottom, too: with the frameworks, by `just test-adapters`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import uv

from tests.cli.running import EVALSI
from tests.docs.test_pages import OF_ADAPTERS, place
from tests.docs.walk import ROOT, lay_out, walk

pytestmark = [pytest.mark.adapters, pytest.mark.slow, pytest.mark.timeout(600)]

BOUND_S = 500.0
# What a user of Inspect and of the harness has, with Evals.si beside it.
FRAMEWORKS = ("inspect-ai==0.3.285", "lm-eval==0.4.13")
OURS = ("protocol", "sdk", "kernel", "plugins/extensions/connectors", "plugins/extensions/replies")
BRIDGES = ("adapters/inspect/bridge", "adapters/lm_eval/bridge")


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of a user's own environment; those of the packs are built before, as on the second use."""
    packs = ["core", "text", "judge", "deepeval", "ragas", "inspect", "lm-eval"]
    subprocess.run([EVALSI, "plugins", "sync", *packs], check=True, timeout=BOUND_S, stdout=subprocess.DEVNULL)
    folder = tmp_path_factory.mktemp("user") / "env"
    binary = uv.find_uv_bin()
    subprocess.run([binary, "venv", "--quiet", str(folder)], check=True, timeout=BOUND_S)
    install = [binary, "pip", "install", "--quiet", "--python", str(folder / "bin/python"), *FRAMEWORKS]
    local = [word for path in (*OURS, *BRIDGES) for word in ("-e", str(ROOT / path))]
    subprocess.run([*install, *local], check=True, timeout=BOUND_S)
    return folder / "bin"


@pytest.mark.parametrize("page", OF_ADAPTERS, ids=place)
def test_a_reader_can_follow_a_page_about_adapters(
    page: Path, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    walk(page, lay_out(tmp_path))
