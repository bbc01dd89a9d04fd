"""The extension as the host sees it: declared in a file, imported on use, quick to show its flags."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import resources

import pluggy

from evalsi_cli.toolkit import Toolkit
from evalsi_comparison import plugin
from evalsi_comparison.command import Compare
from evalsi_kernel import hooks

BOUND_S = 60.0


def test_the_hook_answers_to_its_own_name_only() -> None:
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    assert isinstance(manager.hook.evalsi_command(name="compare", toolkit=Toolkit()), Compare)
    assert manager.hook.evalsi_command(name="compar", toolkit=Toolkit()) is None


def test_the_extension_file_names_the_module_and_what_it_provides() -> None:
    declared = tomllib.loads(resources.files("evalsi_comparison").joinpath("extension.toml").read_text("utf-8"))
    assert (declared["extension"], declared["name"], declared["module"]) == (1, "comparison", plugin.__name__)
    assert list(declared["provides"]["commands"]) == ["compare"]
    assert declared["provides"]["baselines"] is True


def test_asking_for_the_flags_loads_no_library_of_pages_and_no_numpy() -> None:
    code = (
        "import sys, argparse; from evalsi_comparison.plugin import evalsi_command as find\n"
        "from evalsi_cli.toolkit import Toolkit\n"
        "find('compare', Toolkit()).configure(argparse.ArgumentParser())\n"
        "print(sorted({'asyncio', 'pydantic', 'numpy', 'jinja2'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert done.stdout.strip() == "[]"
