"""S11: Ctrl-C during the start of the command ends it without a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupt())
sys.argv = ["evalsi", "eval", "--help"]
from evalsi_cli.entry import run_and_exit
sys.exit(run_and_exit())
"""


def start(module: str, prelude: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", prelude + SCRIPT.format(module=module)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("module", ["evalsi_cli.main", "argparse", "evalsi_cli.terminal"])
def test_s11_an_interrupt_while_the_command_is_imported_ends_it_by_the_signal(module: str) -> None:
    done = start(module)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_s11_an_interrupt_while_one_command_is_loaded_is_reported_in_a_word() -> None:
    done = start("evalsi_cli.commands.eval")
    assert (done.returncode, done.stderr) == (130, "stopped\n")


def test_s11_an_interrupt_that_the_parent_ignores_stays_ignored() -> None:
    done = start("evalsi_cli.main", "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n")
    assert done.returncode == 0
    assert done.stdout.startswith("usage: evalsi eval")
