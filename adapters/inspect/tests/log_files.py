"""Logs that are made for a test: long ones from a sample of a checked-in log, and broken ones."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import zipfile_zstd  # noqa: F401 -- teaches zipfile Zstandard.

LOGS = Path(__file__).parent / "logs"
ZSTANDARD = 93


def document(name: str = "agent") -> dict[str, Any]:
    """A checked-in log as JSON."""
    log: dict[str, Any] = json.loads((LOGS / f"{name}.json").read_text("utf-8"))
    return log


def archive(path: Path, members: Iterable[tuple[str, str]]) -> Path:
    """A zip as Inspect writes one."""
    with zipfile.ZipFile(path, "w", ZSTANDARD) as file:
        for name, text in members:
            file.writestr(name, text)
    return path


def long_archive(path: Path, count: int) -> Path:
    """An `.eval` log of so many samples."""
    return archive(path, _members(count))


def long_document(path: Path, count: int) -> Path:
    """A `.json` log of so many samples."""
    log = document()
    sample = log.pop("samples")[0]
    head = json.dumps(log)[:-1]
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{head}, "samples": [')
        for number in range(count):
            file.write(f"{',' if number else ''}{json.dumps({**sample, 'id': number})}")
        file.write("]}")
    return path


def _members(count: int) -> Iterator[tuple[str, str]]:
    log = document()
    sample = log.pop("samples")[0]
    for number in range(count):
        yield f"samples/{number}_epoch_1.json", json.dumps({**sample, "id": number})
    yield "header.json", json.dumps(log)
