"""The extension as the host sees it: declared in a file, imported on use, quick to show its flags."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import resources
from importlib.metadata import requires

import pluggy

from evalsi_analytics import plugin
from evalsi_analytics.command import Analyze
from evalsi_cli.toolkit import Toolkit
from evalsi_kernel import hooks

BOUND_S = 60.0


def test_the_hook_answers_to_its_own_name_only() -> None:
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    assert isinstance(manager.hook.evalsi_command(name="analyze", toolkit=Toolkit()), Analyze)
    assert manager.hook.evalsi_command(name="analyz", toolkit=Toolkit()) is None


def test_the_extension_file_names_the_module_and_what_it_provides() -> None:
    declared = tomllib.loads(resources.files("evalsi_analytics").joinpath("extension.toml").read_text("utf-8"))
    assert (declared["extension"], declared["name"], declared["module"]) == (1, "analytics", plugin.__name__)
    assert list(declared["provides"]["commands"]) == ["analyze"]


def test_asking_for_the_flags_loads_no_database_and_no_event_loop() -> None:
    code = (
        "import sys, argparse; from evalsi_analytics.plugin import evalsi_command as find\n"
        "from evalsi_cli.toolkit import Toolkit\n"
        "find('analyze', Toolkit()).configure(argparse.ArgumentParser())\n"
        "print(sorted({'asyncio', 'pydantic', 'numpy', 'duckdb'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert done.stdout.strip() == "[]"


def test_the_extra_of_the_whole_brings_duckdb() -> None:
    wanted = [line for line in requires("evalsi") or () if 'extra == "analytics"' in line.replace("'", '"')]
    assert [line.partition(";")[0].strip() for line in wanted] == ["evalsi-analytics[duckdb]"]
    assert any(
        line.startswith("duckdb") and "duckdb" in line.partition(";")[2] for line in requires("evalsi-analytics") or ()
    )
