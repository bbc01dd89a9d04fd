"""Writes results files in the form of the kernel's writer, so that a test says only what matters to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SHA = "ab" * 32
Value = bool | float | str
Values = Mapping[str, Value | Sequence[Value | None] | None]
"""Record → its value, or one a trial; None is an error, "skipped" a skip."""
SKIPPED = "skipped"

MANIFEST: dict[str, Any] = {
    "evalsi_version": "0.4.0",
    "api_version": "evals.si/v1alpha1",
    "status": "complete",
    "error": None,
    "started_at": "2026-11-29T22:00:00.000+00:00",
    "finished_at": "2026-11-29T22:00:10.000+00:00",
    "dataset": {"source": "qa.jsonl", "records": 0, "sha256": SHA},
    "evaluators": [],
    "packs": [{"name": "core", "version": "1.0.0", "lock_sha256": "cd" * 32}],
    "judge": None,
    "summary": {"confidence_level": 0.95, "cluster_by": None, "ci_method": "auto", "seed": 0},
    "mapping": {},
    "limit": None,
    "host": {"python": "3.11.9", "system": "Linux x86_64", "cpus": 2},
}


def write_results(
    path: Path,
    metrics: Mapping[str, Values],
    *,
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Mapping[str, Any]] | None = None,
    higher_is_better: Mapping[str, bool | None] | None = None,
    manifest: Mapping[str, Any] | None = None,
    head: Mapping[str, Any] | None = None,
) -> Path:
    """Write a file of these scores, one evaluator a metric; returns its path."""
    results, ids = [], dict[str, int]()
    for metric, values in metrics.items():
        for record_id, of_record in values.items():
            trials = _trials(of_record)
            ids[record_id] = max(ids.get(record_id, 1), len(trials))
            results += [_result(metric, record_id, trial, value) for trial, value in enumerate(trials, 1)]
    records = [
        _record(record_id, trial, trials, inputs=inputs or {}, outputs=outputs or {}, metadata=metadata or {})
        for record_id, trials in ids.items()
        for trial in range(1, trials + 1)
    ]
    told = {**MANIFEST, "evaluators": [_evaluator(metric) for metric in metrics], **(manifest or {})}
    summaries = [
        _summary(metric, values, (higher_is_better or {}).get(metric, True)) for metric, values in metrics.items()
    ]
    heads = {"manifest": told, "summaries": summaries, **(head or {})}
    lines = ['{"schema_version":1', *(f'"{name}":{json.dumps(value, indent=1)}' for name, value in heads.items())]
    for name, rows in (("results", results), ("records", records)):
        lines.append(f'"{name}":[\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]")
    path.write_text(",\n".join(lines) + "}\n", encoding="utf-8")
    return path


def verdicts(**of_records: str) -> dict[str, list[bool | str | None]]:
    """Verdicts as letters, one a trial: p for pass, f for fail, e for an error, s for a skip."""
    letters: dict[str, bool | str | None] = {"p": True, "f": False, "e": None, "s": SKIPPED}
    return {record_id: [letters[letter] for letter in word] for record_id, word in of_records.items()}


def many(prefix: str, count: int, value: Value) -> dict[str, Value]:
    """So many records of one value."""
    return {f"{prefix}{number}": value for number in range(count)}


def _trials(of_record: Value | Sequence[Value | None] | None) -> list[Value | None]:
    if of_record is None or isinstance(of_record, bool | float | int | str):
        return [of_record]
    return list(of_record)


def _result(metric: str, record_id: str, trial: int, value: Value | None) -> dict[str, Any]:
    shared = {"record_id": record_id, "evaluator": metric, "evaluator_ref": f"core/{metric}@1"}
    if value is None:
        error = {"code": "pack.evaluator_raised", "message": "boom", "hint": "", "source": "pack", "retry": "no"}
        return {**shared, "outcome": "error", "trial": trial, "reason": "boom", "error": error}
    if value == SKIPPED:
        return {**shared, "outcome": "skipped", "trial": trial, "reason": "there is no reference"}
    return {**shared, "outcome": "scored", "trial": trial, "scores": [{"name": metric, _key(value): value}]}


def _key(value: Value) -> str:
    return "passed" if isinstance(value, bool) else "label" if isinstance(value, str) else "value"


def _record(
    record_id: str,
    trial: int,
    trials: int,
    *,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    metadata: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    record = {
        "id": record_id,
        "input": inputs.get(record_id, f"Question {record_id}?"),
        "output": outputs.get(record_id, f"Answer {record_id}."),
        "reference": "x",
    }
    if record_id in metadata:
        record["metadata"] = metadata[record_id]
    return {**record, "provenance": {"run": {"trial": trial}}} if trials > 1 else record


def _evaluator(metric: str) -> dict[str, Any]:
    return {"name": metric, "ref": f"core/{metric}@1", "params": {}, "scope": "record"}


def _summary(metric: str, values: Values, higher_is_better: bool | None) -> dict[str, Any]:
    flat = [one for of_record in values.values() for one in _trials(of_record)]
    scored = [one for one in flat if one is not None and one != SKIPPED]
    kind = {"passed": "pass", "value": "number", "label": "label"}[_key(scored[0])] if scored else "pass"
    numbers = [float(one) for one in scored if not isinstance(one, str)]
    return {
        "metric": metric, "evaluator": metric, "kind": kind, "n": len(scored),
        "mean": sum(numbers) / len(numbers) if numbers else None, "std": None, "skipped": flat.count(SKIPPED),
        "errors": flat.count(None), "cancelled": 0, "ci": None, "labels": {}, "unit": None,
        "higher_is_better": higher_is_better, "clusters": None, "judge": None,
    }  # fmt: skip
