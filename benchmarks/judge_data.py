"""Records for the benchmarks of a judge: every question differs from the others, so that no call can be shared.

About a kilobyte of text each, as an answer with what it rests on has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.judge_vendor import CLAIMS

_FILLING = "The quick brown fox jumps over the lazy dog, and nobody answered the second letter about it. " * 4


def write_judged(path: Path, count: int) -> Path:
    """Write `count` records with an answer and a reference as JSONL, unless the file is there; returns the path."""
    return _write(path, [_judged(number) for number in range(count)])


def write_retrieved(path: Path, count: int) -> Path:
    """Write `count` records with an answer and three texts that it rests on, as `write_judged` does."""
    return _write(path, [_retrieved(number) for number in range(count)])


def _judged(number: int) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "input": f"Question {number}: {_FILLING}",
        "output": f"Answer {number}: {_FILLING}",
        "reference": f"Reference {number}: {_FILLING}",
    }


def _retrieved(number: int) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "input": f"What does letter {number} say about the ferry, the bank and the key?",
        "output": f"Letter {number} says this. {' '.join(CLAIMS)}",
        "context": [f"Letter {number}, page {page}. {claim} {_FILLING}" for page, claim in enumerate(CLAIMS, 1)],
    }


def _write(path: Path, records: list[dict[str, Any]]) -> Path:
    if not path.exists():
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path
