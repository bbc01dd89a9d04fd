"""A process with the commands imported, which forks itself for each command of a test.

It is a script: `python tests/cli/forked.py SOCKET`. `Forks` is the client for tests.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

EVALSI = str(Path(sys.executable).with_name("evalsi"))
LOADED = (
    "evalsi_analytics.command",
    "evalsi_analytics.slices",
    "evalsi_calibration.command",
    "evalsi_cli.commands.catalog",
    "evalsi_cli.commands.doctor",
    "evalsi_cli.commands.eval",
    "evalsi_cli.extension_commands",
    "evalsi_cli.main",
    "evalsi_comparison.command",
    "evalsi_conformance.kit",
    "evalsi_connectors.openai_compatible",
    "evalsi_connectors.plugin",
    "evalsi_datasets.jsonl",
    "evalsi_datasets.plugin",
    "evalsi_kernel.broker.broker",
    "evalsi_kernel.evaluation.broker_opening",
    "evalsi_kernel.results.results_file",
    "evalsi_kernel.evaluation.scoring_run",
    "evalsi_provisioning.command",
    "evalsi_provisioning.pack_check",
    "evalsi_replies.command",
    "evalsi_reports.command",
    "evalsi_runs.run_command",
    "evalsi_runs.runs_command",
    "evalsi_targets.model",
)
"""Only what importing does is done before: no command has run here."""
STARTS_WITH = ("PYTHON", "LC_", "LANG", "TZ", "LD_")
"""Variables that a process reads at its start alone."""
MOST_BYTES = 1 << 20


def of_the_start(variables: Mapping[str, str]) -> dict[str, str]:
    """Those of the variables that a process which runs already does not follow."""
    return {name: value for name, value in variables.items() if name.startswith(STARTS_WITH)}


class Forks:
    """The process that forks; it goes on until this one closes it or ends."""

    def __init__(self) -> None:
        self.started_with = of_the_start(os.environ)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._sends = threading.Lock()
        # Pipes, so that its streams are made as those of a command whose output is read.
        reading, writing = os.pipe()
        with theirs:
            subprocess.run(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=reading,
                stdout=writing,
                stderr=writing,
                cwd=Path(__file__).parents[2],
                pass_fds=[theirs.fileno()],
                check=True,
                timeout=60,
            )
        os.close(reading)
        os.close(writing)

    def start(self, words: Sequence[str], cwd: str, variables: Mapping[str, str], streams: Sequence[int]) -> int:
        """Start a command with these three streams; returns a pipe that tells its process id and then its exit code."""
        reading, writing = os.pipe()
        asked = json.dumps([cwd, dict(variables), list(words)]).encode()
        with self._sends:
            socket.send_fds(self._socket, [asked], [*streams, writing])
        os.close(writing)
        return reading

    def close(self) -> None:
        """Let it end."""
        self._socket.close()


def serve(asking: socket.socket) -> None:
    """Fork for each that asks, and tell how it ended."""
    waits = select.poll()
    waits.register(asking, select.POLLIN)
    running: dict[int, tuple[int, int]] = {}
    while True:
        for ready, _ in waits.poll():
            if ready in running:
                pid, told = running.pop(ready)
                waits.unregister(ready)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                _tell(told, f"{code}\n")
                os.close(told)
                os.close(ready)
                continue
            asked, streams, _, _ = socket.recv_fds(asking, MOST_BYTES, 4)
            if not asked:
                return
            pid = os.fork()
            if not pid:
                _become(streams, *json.loads(asked))
            for stream in streams[:3]:
                os.close(stream)
            _tell(streams[3], f"{pid}\n")
            watched = os.pidfd_open(pid)
            running[watched] = (pid, streams[3])
            waits.register(watched, select.POLLIN)


def _tell(pipe: int, line: str) -> None:
    try:
        os.write(pipe, line.encode())
    except BrokenPipeError:
        # The test has given the command up.
        return


def _become(streams: Sequence[int], cwd: str, variables: dict[str, str], words: list[str]) -> None:
    """Be the installed command, as if it were started now."""
    for descriptor, stream in enumerate(streams[:3]):
        os.dup2(stream, descriptor)
    os.closerange(3, 256)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(variables)
    sys.argv[:] = [EVALSI, *words]
    importlib.import_module("evalsi_cli.main").run_and_exit()


if __name__ == "__main__":
    if os.fork():
        # It is nobody's child, so that a test of what is left running does not find it.
        os._exit(0)
    # A command finds its modules beside itself, not beside this file.
    sys.path[0] = str(Path(EVALSI).parent)
    for module in LOADED:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
