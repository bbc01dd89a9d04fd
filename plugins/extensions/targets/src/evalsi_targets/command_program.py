"""What a command of a spec is on this machine: its program found, its variables gathered, its files' state.

It must not know what it is asked.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from evalsi_kernel.errors import ConfigError

from .child_process import Program
from .command_options import CommandOptions
from .spec_secrets import from_environment

PASSED_THROUGH = ("PATH", "HOME", "LANG", "TMPDIR")
_MOST_BYTES = 64 * 2**20


def program_of(options: CommandOptions, folder: Path) -> Program:
    """The program, to be started in the spec's folder.

    Raises:
        ConfigError: it is not there, or a variable that `env_from` names is not set.
    """
    variables = {name: os.environ[name] for name in PASSED_THROUGH if name in os.environ}
    variables |= from_environment({name: name for name in options.env_from}, "env_from")
    variables |= options.env
    first, *rest = options.words
    within = os.sep in first
    place = str(folder.absolute() / first) if within else first
    found = shutil.which(place, path=variables.get("PATH", os.defpath))
    if found is None:
        where = f"in {folder.absolute()}" if within else "on the PATH"
        raise ConfigError(
            f"spec.target.command names {first}, and there is no such program {where}.",
            "Install it, or write its path as it is from the spec's file, and see that it may be executed.",
        )
    return Program([found, *rest], str(folder.absolute()), variables)


def state_of_files(words: Sequence[str], folder: Path) -> dict[str, str]:
    """The hashes of those words that name files within the spec's folder: one of another state answers otherwise."""
    states = {}
    for word in words:
        path = folder / word
        try:
            if not Path(word).is_absolute() and path.is_file() and path.stat().st_size <= _MOST_BYTES:
                states[word] = hashlib.sha256(path.read_bytes()).hexdigest()
        except (OSError, ValueError):
            # What cannot be looked at is no file of ours.
            continue
    return states
