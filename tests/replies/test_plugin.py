"""The extension gives the command that its file names, and no other."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import Any

from evalsi_cli.toolkit import Toolkit
from evalsi_replies import plugin
from evalsi_replies.command import Cache


def declared() -> dict[str, Any]:
    return tomllib.loads(resources.files("evalsi_replies").joinpath("extension.toml").read_text(encoding="utf-8"))


def test_the_extension_file_names_the_module_and_the_command() -> None:
    tables = declared()
    assert (tables["extension"], tables["name"], tables["module"]) == (1, "replies", plugin.__name__)
    assert list(tables["provides"]) == ["commands"]
    assert list(tables["provides"]["commands"]) == ["cache"]


def test_the_plugin_gives_its_command_and_leaves_others_names_to_them() -> None:
    assert isinstance(plugin.evalsi_command("cache", Toolkit()), Cache)
    assert plugin.evalsi_command("cash", Toolkit()) is None
