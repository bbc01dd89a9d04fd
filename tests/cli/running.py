"""Runs the installed command in a process of its own, as a user does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EVALSI = str(Path(sys.executable).with_name("evalsi"))
QA = Path(__file__).parents[2] / "examples" / "quickstart" / "qa.jsonl"
BOUND_S = 60.0


@dataclass(frozen=True, slots=True)
class Done:
    """A finished command."""

    code: int
    out: str
    err: str


def evalsi(
    *words: str | Path, stdin: bytes = b"", cwd: Path | None = None, variables: Mapping[str, str] | None = None
) -> Done:
    """Run `evalsi` with these words."""
    done = subprocess.run(
        [EVALSI, *map(str, words)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=os.environ | (variables or {}),
        timeout=BOUND_S,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def write_jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """Write rows as JSON lines; returns the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path
