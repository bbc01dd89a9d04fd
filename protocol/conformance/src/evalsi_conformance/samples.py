"""The records for the checks, in wire form: the pack's `samples.jsonl` or built-in ones, and unusual records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

SAMPLES: Final = "samples.jsonl"
CONTENT: Final = ("input", "output")
CONTENTS: Final = ("reference", "context")
HUGE_CHARS: Final = 200_000

Record = dict[str, Any]


class UnreadableSamples(Exception):
    """A pack's samples cannot be read. The message gives the line."""


def samples_of(folder: Path) -> list[Record]:
    """Return the pack's samples if it has some, else the built-in ones.

    Raises:
        UnreadableSamples: a line is not a record.
    """
    path = folder / SAMPLES
    return read_samples(path) if path.is_file() else builtin_samples()


def read_samples(path: Path) -> list[Record]:
    """Return the records of a JSONL data file. Missing ids are added."""
    records: list[Record] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableSamples(f"{path.name} cannot be read: {error}.") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UnreadableSamples(f"{path.name}, line {number}: it is no JSON ({error}).") from error
        if not isinstance(row, dict):
            raise UnreadableSamples(f"{path.name}, line {number}: it is no object.")
        records.append(as_record(row, f"sample-{number}"))
    ids = [record["id"] for record in records]
    if not records or len(set(ids)) < len(ids):
        raise UnreadableSamples(f"{path.name} has no record, or two of one id.")
    return records


def as_record(row: Record, default_id: str) -> Record:
    """Return the wire form of a row: contents normalized, nulls removed."""
    record: Record = {"id": str(row.get("id", default_id))}
    for key, value in row.items():
        if value is None or key == "id":
            continue
        if key in CONTENT or (key == "reference" and not isinstance(value, list)):
            record[key] = _content(value)
        elif key in CONTENTS:
            record[key] = [_content(one) for one in (value if isinstance(value, list) else [value])]
        elif key == "trajectory" and isinstance(value, list):
            record[key] = {"steps": value}
        else:
            record[key] = value
    return record


def builtin_samples() -> list[Record]:
    """Return records with all fields: right and wrong answers, numbers, JSON, several references, other scripts."""
    answers: list[tuple[str, str, str | list[str]]] = [
        ("What is the capital of France?", "The capital of France is Paris.", "Paris"),
        ("What is 6 times 7?", "6 times 7 is 42.", "42"),
        ("What is 10 minus 3?", "It is 6.", "7"),
        ("Give the sizes as JSON.", '{"width": 3, "height": 4}', '{"height": 4, "width": 3}'),
        ("Name a primary colour.", "Blue, as the sky is.", ["red", "blue", "yellow"]),
        ("Wie heißt die Hauptstadt Japans?", "東京です。Tokio, natürlich 🗼.", "Tokio"),
        ("How do I pick a lock?", "I'm sorry, but I can't help with that.", "I cannot help with that."),
    ]
    return [_whole(place, *answer) for place, answer in enumerate(answers, 1)]


def _whole(place: int, question: str, answer: str, reference: str | list[str]) -> Record:
    text = reference if isinstance(reference, str) else reference[0]
    return {
        "id": f"sample-{place}",
        "input": question,
        "output": answer,
        "reference": reference,
        "context": [f"A book says: {text}.", f"Another speaks of other things. {answer} [1]"],
        "trajectory": {"steps": [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]},
        "usage": {
            "input_tokens": 10 + place,
            "output_tokens": 20 + place,
            "total_tokens": 30 + 2 * place,
            "cost_usd": 0.001 * place,
            "latency_ms": 100.0 * place,
        },
        "metadata": {"topic": "samples", "place": place, "baseline_output": text},
        "provenance": {"source": "evalsi-conformance"},
        "check": {"answer": text},
    }


def odd_records() -> list[Record]:
    """Return unusual but valid records. Each must get exactly one outcome of any kind."""
    huge = "word " * (HUGE_CHARS // 5)
    odd: list[Record] = [
        {},
        {"output": "x"},
        {"input": "", "output": "", "reference": "", "context": [""]},
        {"input": " \n\t", "output": " \n\t", "reference": [" "], "context": [" ", ""]},
        {"input": "a", "output": "a", "reference": [], "context": []},
        {"output": "\0", "reference": "\0\0", "input": "\0", "context": ["\0"]},
        {"output": "e\u0301\u200d👩‍👩‍👧\u202e\ufeff𝔘", "reference": "é", "input": "مرحبا", "context": ["\U0010ffff"]},
        {"input": huge, "output": huge, "reference": "word", "context": [huge]},
        {"output": {"json": None}, "reference": {"json": None}, "input": {"json": None}, "context": [{"json": None}]},
        {"output": {"json": [1, 2.5, {"a": [True, None]}]}, "reference": {"json": {}}, "input": {"json": 2**63 - 1}},
        {"output": {"json": _nested(60)}, "reference": "x", "input": "x", "context": [{"json": _nested(60)}]},
        {"output": {"messages": []}, "reference": {"messages": []}, "input": {"messages": []}},
        {"output": {"messages": [{"role": "assistant", "content": ""}]}, "reference": "x", "input": "x"},
        {"output": "1e308", "reference": "-1e308", "input": "9" * 400, "usage": {"latency_ms": 1e308}},
        {"output": "x", "usage": {}, "metadata": {}, "trajectory": {"steps": []}, "provenance": {}, "check": {}},
        {"output": "x", "of a newer kernel": {"a": 1}},
    ]
    return [{"id": f"odd-{place}"} | record for place, record in enumerate(odd, 1)]


def without(record: Record, need: str, new_id: str) -> Record:
    """Return the record without a field, or without a part such as `usage.latency_ms`."""
    field, _, part = need.partition(".")
    left = {key: value for key, value in record.items() if key != field} | {"id": new_id}
    if part and isinstance(record.get(field), dict):
        left[field] = {key: value for key, value in record[field].items() if key != part.partition(".")[0]}
    return left


def _content(value: Any) -> Any:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "role" in one for one in value):
        return {"messages": value}
    if isinstance(value, dict) and set(value) in ({"messages"}, {"json"}):
        return value
    return {"json": value}


def _nested(depth: int) -> Any:
    value: Any = "deep"
    for _ in range(depth):
        value = [value]
    return value
