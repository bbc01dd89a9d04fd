"""Write an output file atomically: to a temporary file next to it, then renamed."""

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
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that is put at `path` when the block ends without an exception; links are followed.

    Raises:
        OutputError: it cannot be written. Like any other exception, this leaves an existing file at `path` unchanged.
    """
    check_output(path)
    path = Path(os.path.realpath(path))
    # Not `tempfile`, whose files only the owner can read: the file has the usual mode of new files, except in a private
    # folder such as a run's.
    unfinished = path.with_name(f".evalsi-{secrets.token_hex(8)}.tmp")
    try:
        with as_output_error(path):
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
def as_output_error(path: Path, hint: str = "Free some space, or write elsewhere.") -> Iterator[None]:
    """Raise errors of the system about a file as `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.", hint) from error
