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
    # Not `tempfile`, whose files are for their owner alone: this one is to have the mode of any new file.
    unfinished = path.with_name(f".evalsi-{secrets.token_hex(8)}.tmp")
    try:
        with told_of(path):
            with unfinished.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextmanager
def told_of(path: Path, mend: str = "Free some space, or write elsewhere.") -> Iterator[None]:
    """What the system says of a file there, as an `OutputError`."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.", mend) from error
