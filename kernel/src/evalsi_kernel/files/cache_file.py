"""One JSON value kept in a file for as long as a key stays the same: written atomically, never in the way of the work.

It must not know what it keeps.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

MOST_FILES = 64
"""So many files of one stem are kept: the search paths and folders that were used last."""


def cache_path(folder: Path, stem: str, name: str) -> Path:
    """The file that keeps what belongs to `name`, such as one search path of several."""
    return folder / f"{stem}-{crc32(name.encode('utf-8', 'surrogateescape')):08x}.json"


def read_cached(path: Path, key: Any) -> Any | None:
    """What was written with an equal key; None where there is none, or where the file cannot be read."""
    try:
        with open(path, "rb") as file:
            kept = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
    return kept.get("value") if isinstance(kept, dict) and kept.get("key") == key else None


def write_cached(path: Path, key: Any, value: Any) -> str:
    """Keep a value; returns "", or a sentence that says why it could not be kept."""
    # Two processes may write at once: each writes a file of its own, and the last rename stands.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps({"key": key, "value": value}, separators=(",", ":")), "ascii")
        os.replace(unfinished, path)
        _forget_oldest(path)
    except OSError as cause:
        with suppress(OSError):
            unfinished.unlink()
        return f"{path} cannot be written ({cause.strerror or cause}); work goes on without it, and starts slower."
    return ""


def _forget_oldest(path: Path) -> None:
    alike = path.parent.glob(f"{path.stem.rpartition('-')[0]}-*.json")
    for old in sorted(alike, key=lambda file: file.stat().st_mtime_ns, reverse=True)[MOST_FILES:]:
        old.unlink(missing_ok=True)
