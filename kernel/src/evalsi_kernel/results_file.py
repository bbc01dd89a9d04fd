"""`results.json`: results and records spooled to disk as they come, the file put together at the end and renamed.

A reader never sees half a file, and memory does not grow with the run. It must not know how a score came about.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import msgpack

from evalsi_kernel.chunks import Chunk, Outcome
from evalsi_kernel.errors import OutputError
from evalsi_kernel.instances import Instance
from evalsi_kernel.output_check import check_output

SCHEMA_VERSION = 1
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


class ResultsSpool:
    """Takes in answered chunks; gives them back as results, or as a file.

    Args:
        folder: where the spool lies until the end; None means the system's place for temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix=".evalsi-spool-", dir=folder))
        self._results: TextIO = (self._folder / "results.jsonl").open("w+", encoding="utf-8")
        self._records: TextIO = (self._folder / "records.jsonl").open("w+", encoding="utf-8")

    def add(self, chunk: Chunk, instances: Sequence[Instance]) -> None:
        """Append a chunk's records and results; raises `OutputError` when the disk is full."""
        try:
            for index, packed in enumerate(chunk.packed):
                self._records.write(_encode(msgpack.unpackb(packed)) + "\n")
                for instance in instances:
                    outcome = chunk.columns[instance.session][index]
                    if outcome is not None and outcome[0] != "state":
                        self._results.write(_encode(result_entry(chunk.ids[index], instance, outcome)) + "\n")
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def add_whole(self, instance: Instance, outcome: Outcome) -> None:
        """Append the result of a dataset-scope evaluator; its record id is empty."""
        self._results.write(_encode(result_entry("", instance, outcome)) + "\n")

    def results(self) -> Iterator[dict[str, Any]]:
        """Every result, in the order of the records."""
        return _lines(self._results, self._folder / "results.jsonl")

    def records(self) -> Iterator[dict[str, Any]]:
        """Every record, in order."""
        return _lines(self._records, self._folder / "records.jsonl")

    def write(self, path: Path, manifest: Mapping[str, Any], summaries: Sequence[Mapping[str, Any]]) -> None:
        """Put the file together beside `path` and rename it there.

        Raises:
            OutputError: it cannot be written; whatever stood at `path` still does.
        """
        check_output(path)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(f'{{"schema_version":{SCHEMA_VERSION},\n"manifest":')
                file.write(json.dumps(manifest, ensure_ascii=False, allow_nan=False, indent=1))
                file.write(',\n"summaries":')
                file.write(json.dumps(list(summaries), ensure_ascii=False, allow_nan=False, indent=1))
                for key, spool in (("results", self._results), ("records", self._records)):
                    file.write(f',\n"{key}":[\n')
                    _copy(spool, self._folder / f"{key}.jsonl", file)
                    file.write("]")
                file.write("}\n")
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except OSError as error:
            Path(name).unlink(missing_ok=True)
            raise _unwritable(path, error) from error
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Remove the spool."""
        self._results.close()
        self._records.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __del__(self) -> None:
        # The folder goes with the last one who could read it.
        if not self._results.closed:
            self.close()


def result_entry(record_id: str, instance: Instance, outcome: Outcome) -> dict[str, Any]:
    """One element of `results`: the record, the evaluator, the outcome and what belongs to it."""
    kind, payload = outcome
    entry: dict[str, Any] = {
        "record_id": record_id,
        "evaluator": instance.name,
        "evaluator_ref": f"{instance.info.ref}@{instance.info.version}",
        "outcome": kind,
        "trial": 1,
    }
    if kind == "scored":
        entry["scores"] = [
            {"name": instance.metric(score.get("name") or "")}
            | {key: value for key, value in score.items() if key != "name"}
            for score in payload
        ]
    elif kind == "error":
        entry["reason"] = payload.get("message", "")
        entry["error"] = payload
    else:
        entry["reason"] = payload.get("reason", "")
    return entry


def _lines(spool: TextIO, path: Path) -> Iterator[dict[str, Any]]:
    spool.flush()
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _copy(spool: TextIO, path: Path, file: TextIO) -> None:
    """Copy lines as elements of an array: a comma goes before each but the first."""
    spool.flush()
    with path.open(encoding="utf-8") as lines:
        first = True
        for line in lines:
            file.write(line if first else "," + line)
            first = False


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(f"{path} cannot be written: {error.strerror}.", "Free some space, or write elsewhere.")
