"""Owns writing a report: whole or not at all.

It must not know what is written.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from evalsi_kernel.errors import OutputError


def write_text(path: Path, text: str) -> None:
    """Write a text beside its place and rename it there; a link is followed.

    Raises:
        OutputError: it cannot be written; whatever stood at `path` still does.
    """
    path = Path(os.path.realpath(path))
    unfinished = path.with_name(f".evalsi-{secrets.token_hex(8)}.tmp")
    try:
        unfinished.write_text(text if text.endswith("\n") else f"{text}\n", encoding="utf-8")
        unfinished.replace(path)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.", "Free some space, or write elsewhere.") from (
            error
        )
    finally:
        unfinished.unlink(missing_ok=True)
