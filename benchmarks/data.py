"""Records to benchmark on, the same at every run.

About 260 bytes a record: a question, an answer of nine words and a number, a reference, a topic.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

WORDS = """
the of and river gate harbour seven spare key under blue pot nobody answered second letter bank ferry leaves morning
old dawn opens
""".split()  # noqa: SIM905 -- a paragraph reads better than a list of quoted words.


def write_records(path: Path, count: int) -> Path:
    """Write `count` records as JSONL, unless the file is there already; returns the path."""
    if path.exists():
        return path
    chance = random.Random(1)
    with path.open("w", encoding="utf-8") as file:
        for index in range(count):
            reference = f"{' '.join(chance.choices(WORDS, k=8))} {chance.randint(1, 999)}"
            guess = f"{' '.join(chance.choices(WORDS, k=9))} {chance.randint(1, 999)}"
            record = {
                "id": f"r{index}",
                "input": "Q " + " ".join(chance.choices(WORDS, k=12)),
                "output": reference if chance.random() < 0.4 else guess,
                "reference": reference,
                "usage": {"latency_ms": chance.randint(100, 900)},
                "metadata": {"topic": chance.choice("abc")},
            }
            file.write(json.dumps(record) + "\n")
    return path
