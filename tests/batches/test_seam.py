"""The kernel and its batches know each other by a hook alone: without the extension, asking for batches is an error."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from evalsi_kernel.broker.settings import BrokerSettings, ModelSettings
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.evaluation.broker_opening import open_broker
from evalsi_kernel.extensions.installed import Extensions, default_extensions
from tests.providers import KEY, MODEL, Provider, fixed

JUDGED = """
import sys
import evalsi
from tests.judging.graded import graded
judge = {"model": sys.argv[1], "base_url": sys.argv[2], "api_key_env": "JUDGE_KEY"}
result = evalsi.evaluate([{"id": "1", "output": "1"}], [graded], judge=judge, quiet=True)
print(result.summaries[0].n, [name for name in sys.modules if name.startswith("evalsi_batches")])
"""
ROOT = Path(__file__).parents[2]


def open_and_close(settings: BrokerSettings, extensions: Extensions) -> None:
    async def work() -> None:
        broker = await open_broker(settings, extensions, keep_replies=False, folder=None, on_note=lambda _: None)
        await broker.close()

    asyncio.run(work())


def test_batches_without_the_extension_are_an_error_before_any_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("JUDGE_KEY", KEY)
    others = Extensions(info for info in default_extensions().infos if info.name != "batches")
    with Provider(fixed("{}")) as server:
        model = ModelSettings(MODEL, base_url=server.base_url, api_key_env="JUDGE_KEY")
        with pytest.raises(ConfigError, match="No installed extension supports batch APIs") as caught:
            open_and_close(BrokerSettings({"primary": model}, batch=True), others)
        assert server.requests == []
        open_and_close(BrokerSettings({"primary": model}), others)
    assert caught.value.code == "config.no_extension"
    assert caught.value.hint == "Install it: pip install 'evalsi-batches'"


def test_a_run_without_batches_does_not_load_them(tmp_path: Path) -> None:
    with Provider(fixed('{"score": 4}')) as server:
        done = subprocess.run(
            [sys.executable, "-c", JUDGED, MODEL, server.base_url],
            cwd=ROOT,
            env={"PATH": "/bin", "EVALSI_CACHE_DIR": str(tmp_path), "JUDGE_KEY": KEY},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.stdout == "1 []\n", done.stderr
