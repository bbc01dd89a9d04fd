"""SHA-256 of files and of whole folders, so that what was added can be told from what lies there now.

It must not know what is in them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

CHUNK_BYTES = 1 << 20
# What Python and its tools leave beside code, and what a working folder holds that is no part of a pack.
LEFT_OUT = frozenset({"__pycache__", "build", "dist", "node_modules", "target"})


def sha256_of(data: bytes) -> str:
    """The digest of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """The digest of a file, in hex; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def optional_sha256(path: Path) -> str | None:
    """The digest of a file, in hex; None where it is not there or cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return None


def pack_sha256(folder: Path) -> str:
    """The digest of a pack in a working folder: of the files that are part of it. Raises OSError."""
    return _digest(folder, pack_files(folder))


def folder_sha256(folder: Path) -> str:
    """The digest of a folder that holds a pack and nothing else: of every file, hidden ones too. Raises OSError."""
    return _digest(folder, (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()))


def _digest(folder: Path, paths: Iterable[Path]) -> str:
    """Of paths and contents; times and modes are not in it."""
    whole = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        content = f"link {os.readlink(path)}" if path.is_symlink() else file_sha256(path)
        whole.update(f"{content}  {name}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def pack_files(folder: Path) -> Iterator[Path]:
    """The files that are part of a pack, links among them; raises OSError."""
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    for entry in entries:
        if entry.name in LEFT_OUT or entry.name.startswith(".") or entry.name.endswith((".pyc", ".egg-info")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from pack_files(Path(entry.path))
        else:
            yield Path(entry.path)
