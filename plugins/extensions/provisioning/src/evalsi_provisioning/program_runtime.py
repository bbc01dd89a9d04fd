"""The runtime `program`: start a pack that is a program in any language and implements the protocol itself.

The file is executed directly, or with the interpreter that `options.with` names.
"""

from __future__ import annotations

import os
import shutil
import sys

from evalsi_kernel.errors import PackError
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.launches import HARD_LIMIT_FACTOR
from evalsi_kernel.supervision.launch import Command, Launch

RUNTIME = "program"
WITH = "with"
PYTHON = "python"
"""Name for the Python that runs evalsi, which has msgpack; any other name is searched on the PATH."""


def program_launch(pack: PackInfo) -> Launch:
    """Return how to start the program.

    Raises:
        PackError: `pack.import` if the file is missing or cannot be executed; `pack.manifest` for an unknown option.
    """
    strange = sorted(pack.options.keys() - {WITH})
    if strange:
        message = f"The runtime program has no option {strange[0]!r} (run.options of the pack {pack.name})."
        raise PackError(message, "Write with, or no option.", code="pack.manifest")
    program = pack.folder / pack.module
    if not program.is_file():
        message = f"The pack {pack.name} has no program: {program} is not there."
        raise PackError(message, "Build it, or install the pack again.", code="pack.import")
    argv = [*_starter(pack), str(program)]
    return Launch(pack.name, Command(argv, memory_limit_bytes=pack.memory_mb * 1024**2 * HARD_LIMIT_FACTOR))


def _starter(pack: PackInfo) -> list[str]:
    named = pack.options.get(WITH)
    if named is None:
        if not os.access(pack.folder / pack.module, os.X_OK):
            message = f"The program {pack.module} of the pack {pack.name} cannot be executed."
            hint = 'Make it executable, or say what starts it: options = { with = "node" } under [run].'
            raise PackError(message, hint, code="pack.import")
        return []
    if named == PYTHON:
        return [sys.executable, "-I"]
    found = shutil.which(str(named))
    if found is None:
        message = f"The pack {pack.name} is started by {named!r}, which is not on the PATH."
        raise PackError(message, f"Install {named}.", code="pack.import")
    return [found]
