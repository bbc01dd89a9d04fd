"""The extension gives the cache and the command that its file names; a run with a judge can do without it."""

from __future__ import annotations

import asyncio
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from evalsi_cli.toolkit import Toolkit
from evalsi_kernel.broker.settings import BrokerSettings, ModelSettings
from evalsi_kernel.evaluation.broker_opening import open_broker
from evalsi_kernel.extensions.installed import Extensions, default_extensions
from evalsi_replies import plugin
from evalsi_replies.command import Cache


def declared() -> dict[str, Any]:
    return tomllib.loads(resources.files("evalsi_replies").joinpath("extension.toml").read_text(encoding="utf-8"))


def test_the_extension_file_names_the_module_and_what_it_gives() -> None:
    tables = declared()
    assert (tables["extension"], tables["name"], tables["module"]) == (1, "replies", plugin.__name__)
    assert set(tables["provides"]) == {"commands", "judge_cache"}
    assert tables["provides"]["judge_cache"] is True
    assert list(tables["provides"]["commands"]) == ["cache"]


def test_the_plugin_gives_its_command_and_leaves_others_names_to_them() -> None:
    assert isinstance(plugin.evalsi_command("cache", Toolkit()), Cache)
    assert plugin.evalsi_command("cash", Toolkit()) is None


def notes_of_a_broker(extensions: Extensions) -> tuple[bool, list[str]]:
    """Whether a broker with these extensions keeps replies, and what it says."""
    notes: list[str] = []

    async def work() -> bool:
        model = ModelSettings("m", base_url="http://127.0.0.1:9", api_key_env="none")
        settings = BrokerSettings({"primary": model})
        broker = await open_broker(settings, extensions, keep_replies=False, folder=None, on_note=notes.append)
        is_kept = broker.to_dict()["cache"]
        await broker.close()
        return bool(is_kept)

    return asyncio.run(work()), notes


def test_a_run_with_a_judge_keeps_replies_and_goes_on_without_the_extension(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("EVALSI_CACHE_DIR", str(tmp_path))
    installed = default_extensions()
    assert notes_of_a_broker(installed) == (True, [])
    others = Extensions(info for info in installed.infos if info.name != "replies")
    is_kept, (note,) = notes_of_a_broker(others)
    assert not is_kept
    assert note.startswith("No extension keeps the replies of models, so each call is made, and paid.")
    assert note.endswith("Install it: pip install 'evalsi-replies'")
