"""A JSON value cached in a file under a key, written atomically; failures never stop the work."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

MOST_FILES = 64
"""Maximum number of files with the same stem; the least recently written are removed."""


def cache_path(folder: Path, stem: str, name: str) -> Path:
    """Return the file that caches the value of a name, such as one of several search paths."""
    return folder / f"{stem}-{crc32(name.encode('utf-8', 'surrogateescape')):08x}.json"


def read_cached(path: Path, key: Any) -> Any | None:
    """Return the value cached under an equal key; None where there is none or the file is unreadable."""
    try:
        with open(path, "rb") as file:
            kept = json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return None
    return kept.get("value") if isinstance(kept, dict) and kept.get("key") == key else None


def write_cached(path: Path, key: Any, value: Any) -> str:
    """Cache a value; return "", or a warning if that failed."""
    # Concurrent processes write separate files, and the last rename wins.
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(json.dumps({"key": key, "value": value}, separators=(",", ":")), "ascii")
        os.replace(unfinished, path)
        _forget_oldest(path)
    except OSError as cause:
        with suppress(OSError):
            unfinished.unlink()
        return f"{path} cannot be written ({cause.strerror or cause}), so commands start more slowly."
    return ""


def _forget_oldest(path: Path) -> None:
    alike = path.parent.glob(f"{path.stem.rpartition('-')[0]}-*.json")
    for old in sorted(alike, key=lambda file: file.stat().st_mtime_ns, reverse=True)[MOST_FILES:]:
        old.unlink(missing_ok=True)
