"""Determine how to start a pack's process from `[run]` of its manifest.

Runtimes of kernel extensions are not supported, because the kit depends only on the protocol.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from evalsi_conformance.manifest import Manifest
from evalsi_conformance.pack_process import CannotStart, Program

WITH = "with"


def program_of(folder: Path, manifest: Manifest) -> Program:
    """Return the command to start a pack.

    Args:
        folder: folder of the pack.
        manifest: a valid manifest.

    Returns:
        This Python with its SDK for a Python pack; the file or its interpreter for a program.

    Raises:
        CannotStart: the file is missing, cannot be started, or has an unsupported runtime.
    """
    if manifest.runtime == "python":
        return _python(folder, manifest)
    if manifest.runtime == "program":
        return _program(folder, manifest)
    if manifest.runtime == "service":
        raise CannotStart(f"The pack {manifest.name} runs elsewhere, as a service: check the folder it is served from.")
    raise CannotStart(
        f"The pack {manifest.name} runs as {manifest.runtime}, which the kit alone cannot start: where Evals.si is "
        f"installed, run `evalsi plugins check {folder}`; else give the command of a process after --."
    )


def _python(folder: Path, manifest: Manifest) -> Program:
    start = (
        f"import sys; sys.path.insert(0, {str((folder / 'src').resolve())!r}); "
        f"from evalsi.serving import start; "
        f"start(module={manifest.module!r}, name={manifest.name!r}, version={manifest.version!r})"
    )
    return Program((sys.executable, "-c", start))


def _program(folder: Path, manifest: Manifest) -> Program:
    strange = sorted(manifest.options.keys() - {WITH})
    if strange:
        raise CannotStart(f"The runtime program has no option {strange[0]!r}: write {WITH}, or none, in run.options.")
    program = (folder / manifest.module).resolve()
    if not program.is_file():
        raise CannotStart(f"{program} is not there: build it, or correct run.module.")
    named = manifest.options.get(WITH)
    if named is None:
        if not os.access(program, os.X_OK):
            hint = f'make it executable, or say what starts it, such as options = {{ {WITH} = "node" }} under [run].'
            raise CannotStart(f"{program} cannot be executed: {hint}")
        return Program((str(program),))
    if named == "python":
        # This one: it has msgpack, which a program without the SDK may well want.
        return Program((sys.executable, "-I", str(program)))
    found = shutil.which(str(named))
    if found is None:
        raise CannotStart(f"{named!r}, which starts the pack {manifest.name}, is not on the PATH: install it.")
    return Program((found, str(program)))
