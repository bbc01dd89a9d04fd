"""SHA-256 digests of files and folders, to detect changes to added packs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

CHUNK_BYTES = 1 << 20
# Build products and other folders that are not part of a pack.
LEFT_OUT = frozenset({"__pycache__", "build", "dist", "node_modules", "target"})


def sha256_of(data: bytes) -> str:
    """Return the digest of bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the digest of a file, in hex; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def optional_sha256(path: Path) -> str | None:
    """Return the digest of a file, in hex; None if it is missing or cannot be read."""
    try:
        return file_sha256(path)
    except OSError:
        return None


def pack_sha256(folder: Path) -> str:
    """Return the digest of the files in a working folder that are part of the pack; raises OSError."""
    return _digest(folder, pack_files(folder))


def folder_sha256(folder: Path) -> str:
    """Return the digest of all files in a folder, including hidden ones; raises OSError."""
    return _digest(folder, (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()))


def _digest(folder: Path, paths: Iterable[Path]) -> str:
    """Return the digest of paths and contents; times and modes are ignored."""
    whole = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in paths):
        content = f"link {os.readlink(path)}" if path.is_symlink() else file_sha256(path)
        whole.update(f"{content}  {name}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def pack_files(folder: Path) -> Iterator[Path]:
    """Yield the files and links that are part of a pack; raises OSError."""
    with os.scandir(folder) as scanned:
        entries = list(scanned)
    for entry in entries:
        if entry.name in LEFT_OUT or entry.name.startswith(".") or entry.name.endswith((".pyc", ".egg-info")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from pack_files(Path(entry.path))
        else:
            yield Path(entry.path)
