"""Detect changes to a built environment, by the size and modification time of each file and link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LISTING = ".evalsi-files"


def note_files(folder: Path) -> None:
    """Write the listing of a new environment; raises `OSError`."""
    listed = "\0".join(f"{_mark(folder / name)} {name}" for name in _files(folder))
    (folder / LISTING).write_text(listed, encoding="utf-8", errors="surrogateescape")


def is_intact(folder: Path) -> bool:
    """Whether all listed files are unchanged; False without a listing.

    Additional files are ignored, because packages create files next to their code.
    """
    with suppress(OSError, ValueError):
        listed = (folder / LISTING).read_text(encoding="utf-8", errors="surrogateescape").split("\0")
        return all(_mark(folder / name) == mark for mark, _, name in (line.partition(" ") for line in listed))
    return False


def _files(folder: Path) -> Iterator[str]:
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        for name in (*files, *links):
            yield os.path.relpath(os.path.join(place, name), folder)


def _mark(path: Path) -> str:
    """Return size and modification time of a file; a link is not followed."""
    found = path.lstat()
    return f"{found.st_size}/{found.st_mtime_ns}"
