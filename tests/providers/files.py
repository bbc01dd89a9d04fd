"""Files and JSON lines that batches come and go in. It knows no API's batch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from tests.providers.faults import Status

CREATED: Final = 1_767_225_600


class StoredFile(NamedTuple):
    """A file that was uploaded or written by a batch."""

    name: str
    purpose: str
    data: bytes


class Files:
    """Files by their ids."""

    def __init__(self) -> None:
        self._files: dict[str, StoredFile] = {}

    def add(self, file: StoredFile) -> str:
        """Keep a file; returns its id."""
        name = f"file-{len(self._files) + 1}"
        self._files[name] = file
        return name

    def get(self, name: Any) -> StoredFile | None:
        """The file with this id."""
        return self._files.get(name) if isinstance(name, str) else None

    def body(self, name: str) -> dict[str, Any] | Status:
        """What the API says of a file."""
        file = self.get(name)
        if file is None:
            return Status(404, f"There is no file {name}.")
        return {
            "id": name,
            "object": "file",
            "bytes": len(file.data),
            "created_at": CREATED,
            "filename": file.name,
            "purpose": file.purpose,
            "status": "processed",
        }


def json_lines(rows: Iterable[Any]) -> bytes:
    """The rows as JSON, one a line."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
