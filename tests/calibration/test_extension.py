"""The extension as the host sees it: declared in a file, imported on use, stopped by Ctrl-C in an orderly way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pluggy

from evalsi_calibration import plugin
from evalsi_calibration.command import Calibrate
from evalsi_cli.toolkit import Toolkit
from evalsi_kernel import hooks
from tests.calibration.judging import FAILS, PASSES, answers, words
from tests.cli.running import EVALSI
from tests.providers import KEY, MODEL, Provider, Reply, Request, faults

BOUND_S = 60.0


def test_the_hook_answers_to_its_own_name_only() -> None:
    manager = pluggy.PluginManager(hooks.PROJECT)
    manager.add_hookspecs(hooks)
    manager.register(plugin)
    assert isinstance(manager.hook.evalsi_command(name="calibrate", toolkit=Toolkit()), Calibrate)
    assert manager.hook.evalsi_command(name="calibrat", toolkit=Toolkit()) is None


def test_the_extension_file_names_the_module_and_what_it_provides() -> None:
    declared = tomllib.loads(resources.files("evalsi_calibration").joinpath("extension.toml").read_text("utf-8"))
    assert (declared["extension"], declared["name"], declared["module"]) == (1, "calibration", plugin.__name__)
    assert list(declared["provides"]["commands"]) == ["calibrate"]


def test_asking_for_the_flags_loads_no_event_loop() -> None:
    code = (
        "import sys, argparse; from evalsi_calibration.plugin import evalsi_command as find\n"
        "from evalsi_cli.toolkit import Toolkit\n"
        "find('calibrate', Toolkit()).configure(argparse.ArgumentParser())\n"
        "print(sorted({'asyncio', 'pydantic', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=BOUND_S, check=True)
    assert done.stdout.strip() == "[]"


def test_ctrl_c_ends_it_with_what_was_compared_and_says_partial(tmp_path: Path) -> None:
    data = answers(tmp_path, (FAILS, False), *[(f"{PASSES} {number}", True) for number in range(200)])

    def slow(request: Request) -> Reply:
        return faults.held() if f"{PASSES} 1" in request.prompt else {**words(request)}

    with Provider(slow) as provider:
        judge = ("--judge-model", MODEL, "--judge-base-url", provider.base_url, "--judge-api-key-env", "JUDGE_KEY")
        process = subprocess.Popen(
            [EVALSI, "calibrate", "--data", str(data), "--evaluator", "llm-judge", "--threshold", "0.5",
             "--concurrency", "4", "--no-cache", "--format", "json", *judge],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"JUDGE_KEY": KEY},
        )  # fmt: skip
        try:
            # All four records that may be in flight are held, so those before them were done.
            provider.wait(lambda seen: seen.in_flight == 4, BOUND_S)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=BOUND_S)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["status"] == "partial"
    assert 0 < found["n"] < 201
    assert found["n"] + sum(found["left_out"].values()) == 201
