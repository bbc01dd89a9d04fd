"""Recorded answers read from a file: rows of any format that data may have, or the records of an earlier run's results.

It must not know what is done with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.errors import ConfigError
from evalsi_kernel.records.contents import content
from evalsi_kernel.records.mapping import MISSING, reach
from evalsi_kernel.records.sources import Row, Source, readable_chunks

_RESULTS = re.compile(rb'\s*\{\s*"(schema_version|manifest)"\s*:')
_HEAD_BYTES = 4096
_RECORDS = b'"records":['
_FIELDS = ("trajectory", "context", "usage")

Key = tuple[str, int | None]


class Recorded(NamedTuple):
    """One recorded answer.

    Args:
        has_output: whether there is one; an empty one is.
        output: a content.
        fields: `trajectory` and `context`, where it has them, and the `usage` of when it was recorded.
        error: why there is no output, as the earlier run says; "" where it does not.
        metadata: why the reply ended, as `finish`, where that was recorded.
    """

    has_output: bool
    output: Any
    fields: dict[str, Any]
    error: str
    metadata: Mapping[str, Any]


def read_recorded(path: Path, open_source: Callable[[str], Source], id_at: str, output_at: str) -> dict[Key, Recorded]:
    """The answers of a file, by record and trial; a row that says no trial has None for it, and stands for each.

    Args:
        path: of the file.
        open_source: opens one that is no results file.
        id_at: the column of the record's id.
        output_at: the column of the answer.

    Raises:
        ConfigError: a row has no id, or an answer stands there twice.
        DatasetError: it cannot be read.
    """
    recorded: dict[Key, Recorded] = {}
    id_path, output_path = tuple(id_at.split(".")), tuple(output_at.split("."))
    for place, row in _rows(path, open_source):
        record_id = reach(row, id_path)
        if record_id in (MISSING, None, ""):
            raise ConfigError(f"{place}: the row has no {id_at}.", "Name the column of the ids with spec.target.id.")
        key = (str(record_id), _trial(row))
        if key in recorded:
            raise ConfigError(f"{place}: the answer to {record_id!r} stands there twice.", "Keep one.")
        recorded[key] = _of_row(row, reach(row, output_path))
    return recorded


def _of_row(row: Row, output: Any) -> Recorded:
    # Where nothing was recorded nothing is known: how long the replay takes says nothing of what is evaluated.
    fields = {"usage": {}} | {name: row[name] for name in _FIELDS if row.get(name) is not None}
    if output is MISSING or output is None:
        error = reach(row, ("provenance", "run", "error", "message"))
        return Recorded(False, None, {}, error if isinstance(error, str) else "", {})
    return Recorded(True, content(output), fields, "", finish_of(row))


def finish_of(row: Mapping[str, Any]) -> dict[str, str]:
    """Return `finish` of a row's metadata, which says why a reply ended; nothing where it has none."""
    finish = reach(row, ("metadata", "finish"))
    return {"finish": finish} if isinstance(finish, str) else {}


def _trial(row: Row) -> int | None:
    trial = reach(row, ("provenance", "run", "trial"))
    return trial if type(trial) is int else None


def _rows(path: Path, open_source: Callable[[str], Source]) -> Iterator[tuple[str, Row]]:
    """Each row, with its place for errors."""
    if path.suffix == ".json" and _is_results(path):
        yield from _records_of(path)
        return
    source = open_source(str(path))
    for chunk in readable_chunks(source):
        for number, row in chunk:
            yield f"{source.name}, {source.unit} {number}", row


def _is_results(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _RESULTS.match(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False  # The reader of data says what is wrong with it.


def _records_of(path: Path) -> Iterator[tuple[str, Row]]:
    """The records of a results file: a line each, as it is written; of one that was laid out anew, all at once."""
    number = 0
    try:
        with path.open("rb") as file:
            if any(line.startswith(_RECORDS) for line in file):
                for line in file:
                    if line.startswith(b"]"):
                        return
                    number += 1
                    yield f"{path}, record {number}", json.loads(line.rstrip().removesuffix(b","))
        value = json.loads(path.read_bytes())
        records = value.get("records") if isinstance(value, dict) else None
    except (ValueError, RecursionError) as error:
        message = f"{path} is cut off, or is no results file: {error}."
        raise ConfigError(message, "Write it again.", code="config.results") from error
    if not isinstance(records, list) or not all(isinstance(row, dict) for row in records):
        raise ConfigError(f"{path} holds no records.", "Name the results file of a run.", code="config.results")
    yield from ((f"{path}, record {at}", row) for at, row in enumerate(records, 1))
