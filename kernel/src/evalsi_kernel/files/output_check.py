"""Whether a file can be written where a user wants it, told before any work.

It must not know what is written.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from evalsi_kernel.errors import OutputError


def check_output(path: Path) -> None:
    """See that a file can be written there, before any work.

    Raises:
        OutputError: the folder is missing or cannot be written, or the path is a folder, a device or a pipe.
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder.", "Name a file in it, such as results.json.")
    if path.exists() and not path.is_file():
        # A file is put in the place of what stands there, and none must take the place of /dev/null.
        raise OutputError(f"{path} is no plain file.", "Name a file, such as results.json.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OutputError(f"There is no folder {folder}.", "Make it, or write elsewhere.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".evalsi-", suffix=".tmp"):
            pass
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}.", "Write elsewhere.") from error
