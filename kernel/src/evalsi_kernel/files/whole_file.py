"""A file for a user, whole or not there: written beside its place, then renamed.

It must not know what is written.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from evalsi_kernel.errors import OutputError
from evalsi_kernel.files.output_check import check_output


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which stands at `path` once `with` is left in good order; a link is followed.

    Raises:
        OutputError: it cannot be written; whatever stood at `path` still does, as after any other exception.
    """
    check_output(path)
    path = Path(os.path.realpath(path))
    # Not `tempfile`, whose files are for their owner alone: this one has the mode of any new file, except in a folder
    # that is private, such as a run's.
    unfinished = path.with_name(f".evalsi-{secrets.token_hex(8)}.tmp")
    try:
        with told_of(path):
            mode = 0o666 if path.parent.stat().st_mode & 0o077 else 0o600
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with open(os.open(unfinished, flags, mode), "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def told_of(path: Path, hint: str = "Free some space, or write elsewhere.") -> Iterator[None]:
    """What the system says of a file there, as an `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.", hint) from error
