"""A results file to report on, the same at every run: 2.7 kB a record, of texts as long as those of a help desk.

Words are made up and drawn as unevenly as those of a language, so that they pack about as well.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


def write_results(path: Path, count: int) -> Path:
    """Write a results file of so many records, unless it is there already; returns the path."""
    if path.exists():
        return path
    chance = random.Random(2)
    words = [
        "".join(chance.choices(LETTERS[: chance.choice((8, 14, 20))], k=chance.randint(2, 9))) for _ in range(3000)
    ]
    weights = [1 / (place + 3) for place in range(len(words))]

    def text(count: int) -> str:
        return " ".join(chance.choices(words, weights, k=count)).capitalize() + "."

    records, results, replies = [], [], []
    for number in range(count):
        name, ref = f"ticket-{number:05d}", f"{number:016x}"
        is_right, score, reason = chance.random() < 0.6, chance.randint(1, 5), text(chance.randint(12, 45))
        answer = text(chance.randint(5, 30))
        records.append(
            {
                "id": name,
                "input": text(chance.randint(15, 90)),
                "output": answer if is_right else text(chance.randint(30, 220)),
                "reference": answer,
                "usage": {"latency_ms": chance.randint(100, 3000)},
                "metadata": {"topic": chance.choice(("billing", "delivery", "refund"))},
            }
        )
        results += [
            _result(name, "core/exact-match@1", {"passed": is_right}),
            _result(name, "text/token-f1@1", {"value": 1.0 if is_right else round(chance.random() * 0.4, 4)}),
            _result(name, "judge/llm-judge@1", {"value": (score - 1) / 4, "explanation": reason})
            | {"judge_calls": [ref]},
        ]
        reply = json.dumps({"reason": reason, "score": score})
        replies.append({"ref": ref, "key": ref * 4, "fields": {}, "role": "primary", "model": "judge-1", "text": reply})
    _write(path, records, results, replies)
    return path


def _result(name: str, ref: str, score: dict[str, Any]) -> dict[str, Any]:
    evaluator = ref.partition("/")[2].partition("@")[0]
    head = {"record_id": name, "evaluator": evaluator, "evaluator_ref": ref, "outcome": "scored", "trial": 1}
    return {**head, "scores": [{"name": evaluator, **score}]}


def _write(path: Path, records: list[Any], results: list[Any], replies: list[Any]) -> None:
    summaries = [
        {"metric": name, "evaluator": name, "kind": kind, "n": len(records), "mean": 0.6, "higher_is_better": True}
        for name, kind in (("exact-match", "pass"), ("token-f1", "number"), ("llm-judge", "number"))
    ]
    head = {"schema_version": 1, "manifest": {"status": "complete"}, "summaries": summaries}
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(head)[:-1])
        for key, values in (("results", results), ("records", records), ("judge_replies", replies)):
            file.write(f',\n"{key}":[\n')
            file.write(",\n".join(map(json.dumps, values)))
            file.write("\n]")
        file.write("}\n")
