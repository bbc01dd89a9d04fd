"""Owns the three tables, and how a results file becomes their rows; docs/how-to/analyze-many-runs.md lists the columns.

It must not know where files lie, nor what is asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .results_parts import Parts

if TYPE_CHECKING:
    import duckdb

TABLES = ("runs", "scores", "records")

CREATE = """
CREATE TABLE IF NOT EXISTS runs (
    run_id VARCHAR PRIMARY KEY, name VARCHAR, project VARCHAR, status VARCHAR, verdict VARCHAR, model VARCHAR,
    source VARCHAR, created_at TIMESTAMPTZ, started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ, labels JSON,
    "commit" VARCHAR, branch VARCHAR, pull_request VARCHAR, trials INTEGER, records BIGINT, dataset VARCHAR,
    dataset_sha256 VARCHAR, evalsi_version VARCHAR, manifest JSON, summaries JSON, gates JSON, file_sha256 VARCHAR
);
CREATE TABLE IF NOT EXISTS scores (
    run_id VARCHAR, record_id VARCHAR, trial INTEGER, evaluator VARCHAR, evaluator_ref VARCHAR, metric VARCHAR,
    kind VARCHAR, value DOUBLE, passed BOOLEAN, label VARCHAR, outcome VARCHAR, reason VARCHAR, explanation VARCHAR
);
-- A database of an earlier version has the table without it.
ALTER TABLE scores ADD COLUMN IF NOT EXISTS duration_ms DOUBLE;
CREATE TABLE IF NOT EXISTS records (
    run_id VARCHAR, record_id VARCHAR, trial INTEGER, input VARCHAR, output VARCHAR, reference VARCHAR, metadata JSON,
    usage JSON
);
"""

_RESULT_COLUMNS = {
    "record_id": "VARCHAR",
    "evaluator": "VARCHAR",
    "evaluator_ref": "VARCHAR",
    "outcome": "VARCHAR",
    "trial": "INTEGER",
    "reason": "VARCHAR",
    "duration_ms": "DOUBLE",
    "scores": "STRUCT(name VARCHAR, value DOUBLE, passed BOOLEAN, label VARCHAR, explanation VARCHAR)[]",
    "score_errors": "STRUCT(name VARCHAR, message VARCHAR)[]",
}
_RECORD_COLUMNS = {
    "id": "VARCHAR",
    "input": "JSON",
    "output": "JSON",
    "reference": "JSON",
    "metadata": "JSON",
    "usage": "JSON",
    "provenance": "STRUCT(run STRUCT(trial INTEGER))",
}

_LEAST_BYTES = 1 << 20

# A score has one row; an error or a skip has one for each metric of its evaluator, without a value.
_SCORES = """
INSERT INTO scores
WITH results AS (FROM read_json(?, format = 'newline_delimited', columns = {columns}, maximum_object_size = {largest})),
    metrics AS (
        SELECT unnest(?::VARCHAR[]) AS metric, unnest(?::VARCHAR[]) AS evaluator, unnest(?::VARCHAR[]) AS kind
    )
SELECT ?, record_id, coalesce(trial, 1), evaluator, evaluator_ref, score.name,
    CASE WHEN score.passed IS NOT NULL THEN 'pass' WHEN score.value IS NOT NULL THEN 'number' ELSE 'label' END,
    coalesce(score.value, score.passed::INTEGER::DOUBLE), score.passed, score.label, outcome, NULL, score.explanation,
    duration_ms
FROM (SELECT *, unnest(scores) AS score FROM results WHERE outcome = 'scored')
UNION ALL
SELECT ?, record_id, coalesce(trial, 1), results.evaluator, evaluator_ref, coalesce(metric, results.evaluator), kind,
    NULL, NULL, NULL, outcome, reason, NULL, duration_ms
FROM results LEFT JOIN metrics ON metrics.evaluator = results.evaluator
WHERE outcome <> 'scored'
UNION ALL
SELECT ?, record_id, coalesce(trial, 1), failed.evaluator, evaluator_ref, failed.error.name, kind,
    NULL, NULL, NULL, 'error', failed.error.message, NULL, duration_ms
FROM (SELECT *, unnest(score_errors) AS error FROM results WHERE outcome = 'scored') AS failed
    LEFT JOIN metrics ON metrics.evaluator = failed.evaluator AND metrics.metric = failed.error.name
"""

# A content that is a text stands as that text, any other as its JSON.
_RECORDS = """
INSERT INTO records
SELECT ?, id, coalesce(provenance.run.trial, 1), {input}, {output}, {reference}, metadata, usage
FROM read_json(?, format = 'newline_delimited', columns = {columns}, maximum_object_size = {largest})
"""
_AS_TEXT = "CASE json_type({0}) WHEN 'VARCHAR' THEN {0} ->> '$' ELSE {0}::VARCHAR END"


def insert_run(connection: duckdb.DuckDBPyConnection, run_id: str, path: Path, sha256: str, parts: Parts) -> None:
    """Insert a file's rows into the three tables, within the transaction that is open.

    Args:
        connection: to the database.
        run_id: the name of the run in the tables.
        path: of the results file.
        sha256: of its bytes.
        parts: the file, taken apart.
    """
    row = _run_row(run_id, path, sha256, parts.head)
    connection.execute(f"INSERT INTO runs VALUES ({', '.join('?' * len(row))})", row)
    if parts.results.exists() and parts.results.stat().st_size:
        summaries = [one for one in parts.head["summaries"] if isinstance(one, dict) and one.get("metric")]
        names = [[str(one.get(key)) for one in summaries] for key in ("metric", "evaluator", "kind")]
        query = _SCORES.format(columns=_columns(_RESULT_COLUMNS), largest=_largest(parts.results))
        connection.execute(query, [str(parts.results), *names, run_id, run_id, run_id])
    if parts.records.exists() and parts.records.stat().st_size:
        contents = {name: _AS_TEXT.format(name) for name in ("input", "output", "reference")}
        query = _RECORDS.format(columns=_columns(_RECORD_COLUMNS), largest=_largest(parts.records), **contents)
        connection.execute(query, [run_id, str(parts.records)])


def pointer(*names: str) -> str:
    """The way to a value in a JSON column: a pointer (RFC 6901), in which no character of a name means anything."""
    return "".join(f"/{name.replace('~', '~0').replace('/', '~1')}" for name in names)


def delete_run(connection: duckdb.DuckDBPyConnection, run_id: str) -> None:
    """Delete a run's rows from the three tables."""
    for table in TABLES:
        connection.execute(f"DELETE FROM {table} WHERE run_id = ?", [run_id])


def _run_row(run_id: str, path: Path, sha256: str, head: Mapping[str, Any]) -> list[Any]:
    manifest = head["manifest"]
    target, source, dataset = (_dict(manifest.get(key)) for key in ("target", "source", "dataset"))
    started = manifest.get("started_at")
    return [
        run_id,
        manifest.get("name") or path.stem,
        manifest.get("project"),
        manifest.get("status"),
        head.get("verdict"),
        target.get("model"),
        str(path),
        started,
        started,
        manifest.get("finished_at"),
        json.dumps(_dict(manifest.get("labels"))),
        source.get("commit"),
        source.get("branch"),
        _text(source.get("pull_request")),
        manifest.get("trials"),
        dataset.get("records"),
        dataset.get("source"),
        dataset.get("sha256"),
        manifest.get("evalsi_version"),
        json.dumps(manifest),
        json.dumps(head["summaries"]),
        json.dumps(head.get("gates") or []),
        sha256,
    ]


def _columns(columns: Mapping[str, str]) -> str:
    named = ", ".join(f"{name}: '{kind}'" for name, kind in columns.items())
    return f"{{{named}}}"


def _largest(lines: Path) -> int:
    """How long a line is at most, in bytes; a reader makes room for some lines of this length."""
    with lines.open("rb") as file:
        return max(_LEAST_BYTES, max(map(len, file), default=0))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
