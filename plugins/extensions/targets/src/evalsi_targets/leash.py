"""What a run starts ends with it, whatever becomes of the run: its processes bear a mark, and a keeper looks for it.

Linux only; elsewhere a run that is killed leaves its processes to the system. It must not know what they do.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

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

    def fasten(self) -> dict[str, str]:
        """The variable for a process that is to be started; the keeper is there from now on."""
        if self._keeper is None and sys.platform == "linux":
            program = Path(__file__).with_name("leash_keeper.py")
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(program), f"{VARIABLE}={self._mark}"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return {VARIABLE: self._mark}

    async def close(self) -> None:
        """Have the keeper end what is left, and wait for it."""
        if self._keeper is not None:
            assert self._keeper.stdin is not None
            self._keeper.stdin.close()
            await asyncio.to_thread(_gone, self._keeper)
            self._keeper = None


def _gone(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(CLOSE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
