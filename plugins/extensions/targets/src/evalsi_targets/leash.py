"""What a run starts ends with it, whatever becomes of the run: its processes bear a mark, and a keeper looks for it.

Linux only; elsewhere a run that is killed leaves its processes to the system. It must not know what they do.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from evalsi_kernel.supervision.descendants import Descendants

from .child_process import ChildProcess, Program, started

VARIABLE = "EVALSI_TARGET_OF"
CLOSE_S = 5.0


class Leash:
    """The mark of one run, and its keeper: a small process that waits for this one to go.

    A signal at the death of the parent would reach the first process alone, and ends with the thread that asked for it;
    the mark is inherited by all that is started, also in sessions of their own.
    """

    def __init__(self) -> None:
        self._mark = f"{os.getpid()}-{os.urandom(8).hex()}"
        self._keeper: subprocess.Popen[bytes] | None = None
        self._children: set[ChildProcess] = set()
        self._descendants: Descendants | None = None

    async def start(self, program: Program, on_output: Callable[[bytes], None], *, is_echoed: bool) -> ChildProcess:
        """Start a program; the arguments are those of `ChildProcess`. Raises `OSError` where it cannot be."""
        self._keep()
        descendants = self._descendants = self._descendants or Descendants(is_looked_at=True)
        marked = program._replace(variables={**program.variables, **descendants.variables, VARIABLE: self._mark})
        child = await started(marked, on_output, is_echoed=is_echoed)
        descendants.sessions.add(child.pid)
        self._children.add(child)
        child.gone.add_done_callback(lambda _: self._children.discard(child))
        return child

    def _keep(self) -> None:
        """See that the keeper is there."""
        if self._keeper is None and sys.platform == "linux":
            program = Path(__file__).with_name("leash_keeper.py")
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(program), f"{VARIABLE}={self._mark}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    async def close(self) -> None:
        """End what is left, have the keeper look for the rest, and wait for all of it."""
        descendants, self._descendants = self._descendants, None
        children = list(self._children)
        if descendants is not None and children:
            await asyncio.to_thread(descendants.look)
        for child in children:
            child.kill()
        if children:
            await asyncio.wait([child.gone for child in children], timeout=CLOSE_S)
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            await asyncio.to_thread(_gone, self._keeper)
            self._keeper = None
        if descendants is not None:
            await asyncio.to_thread(descendants.end)


def _gone(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(CLOSE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
