"""Load the test vectors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "protocol" / "vectors"


def frames(kind: str) -> list[dict[str, Any]]:
    """The `good` or the `bad` byte vectors."""
    vectors: list[dict[str, Any]] = json.loads((FOLDER / "frames.json").read_text(encoding="utf-8"))[kind]
    return vectors


def dialogues() -> list[dict[str, Any]]:
    """The scripted dialogues."""
    scripted: list[dict[str, Any]] = json.loads((FOLDER / "dialogues.json").read_text(encoding="utf-8"))["dialogues"]
    return scripted
