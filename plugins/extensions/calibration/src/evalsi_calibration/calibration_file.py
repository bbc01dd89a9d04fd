"""Owns `calibration.json` on disk: written whole or not at all, and read again.

It must not know what a calibration means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.files.atomic_file import atomic_file

from .record import SCHEMA_VERSION

_NEEDED = {"date": str, "status": str, "evaluator": dict, "prompts": list, "n": int}


def write_calibration(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record beside its place and rename it there; a link is followed.

    Raises:
        OutputError: it cannot be written; whatever stood at `path` still does.
    """
    with atomic_file(path) as file:
        file.write(json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n")


def read_calibration(path: Path) -> dict[str, Any]:
    """Read a record.

    Raises:
        ConfigError: the file cannot be read, is no record of a calibration, or is one of a newer version.
    """
    hint = "Name a file that `evalsi calibrate --output` wrote."
    try:
        record = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}.", hint) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is not JSON: {error}.", hint) from error
    version = record.get("schema_version") if isinstance(record, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise ConfigError(
            f"{path} is a calibration of version {version}, and {SCHEMA_VERSION} is the newest that is known here.",
            "Upgrade Evals.si, or calibrate again.",
        )
    if version != SCHEMA_VERSION or not all(isinstance(record.get(key), kind) for key, kind in _NEEDED.items()):
        raise ConfigError(f"{path} is no record of a calibration.", hint)
    found: dict[str, Any] = record
    return found
