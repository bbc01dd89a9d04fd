"""Answers that were recorded before, as the target of a run: no key, no network, the same every time.

It must not know where they were recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.contents import content
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.mapping import MISSING, reach
from evalsi_kernel.target import Bounds, Generated, Lent, TargetInput, TargetSettings
from evalsi_kernel.toml_tables import FilledLine, Table

FREE = Tokens(0, 0, 0, 0, 0)


class ReplayOptions(Table):
    """Recorded answers."""

    path: FilledLine | None = Field(
        default=None, description="a file of rows with id and output, or a results.json; else the data's own outputs"
    )
    id: FilledLine = Field(default="id", description="the column of the record's id; dots reach inside")
    output: FilledLine = Field(default="output", description="the column of the answer; dots reach inside")


class Replay:
    """The target.

    Raises:
        ConfigError: the file cannot be read, or a row has no id.
    """

    model = ""
    provider = ""

    def __init__(self, settings: TargetSettings, lent: Lent) -> None:
        options = ReplayOptions.model_validate(settings.options)
        self._recorded: dict[tuple[str, int], dict[str, Any]] | None = None
        self.identity: Mapping[str, Any] = {"connector": "replay"}
        if options.path is not None:
            path = settings.folder / options.path
            self._recorded = _read(str(path), options, lent)
            try:
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            except OSError as error:
                raise ConfigError(f"{path} cannot be read: {error.strerror}.", "Name a file.") from error
            self.identity = {"connector": "replay", "path": options.path, "sha256": digest}

    def bounds(self, given: TargetInput) -> Bounds:
        """Nothing."""
        return Bounds(0, 0)

    async def generate(self, given: TargetInput) -> Generated:
        """The answer that was recorded for this trial, or else for the record."""
        record_id = given.record["id"]
        row: Mapping[str, Any] | None = given.record
        if self._recorded is not None:
            row = self._recorded.get((record_id, given.trial)) or self._recorded.get((record_id, 1))
        if row is None or "output" not in row:
            raise ProviderError(
                "target.output",
                f"No answer was recorded for the record {record_id!r}.",
                "Record one, or leave the record out of the data.",
                blame="record",
            )
        usage = row.get("usage") or {}
        fields = {key: row[key] for key in ("trajectory", "context") if self._recorded is not None and key in row}
        return Generated(row["output"], FREE, 0.0, fields=fields, metadata=_latency(usage))

    async def close(self) -> None:
        """There is nothing to let go of."""


def _latency(usage: Mapping[str, Any]) -> dict[str, Any]:
    """How long the answer took when it was recorded."""
    return {"recorded_latency_ms": usage["latency_ms"]} if "latency_ms" in usage else {}


def _read(path: str, options: ReplayOptions, lent: Lent) -> dict[tuple[str, int], dict[str, Any]]:
    recorded: dict[tuple[str, int], dict[str, Any]] = {}
    source = lent.open_source(path)
    for chunk in source.chunks():
        for number, row in chunk:
            record_id = reach(row, tuple(options.id.split(".")))
            if record_id in (MISSING, None, ""):
                raise ConfigError(
                    f"{path}, {source.unit} {number}: the row has no {options.id}.",
                    "Name the column of the ids with spec.target.id.",
                )
            key = (str(record_id), _trial(row))
            if key in recorded:
                raise ConfigError(
                    f"{path}, {source.unit} {number}: the answer to {record_id!r} stands there twice.", "Keep one."
                )
            output = reach(row, tuple(options.output.split(".")))
            kept = {name: row[name] for name in ("usage", "trajectory", "context") if row.get(name) is not None}
            recorded[key] = kept if output in (MISSING, None) else {**kept, "output": content(output)}
    return recorded


def _trial(row: Mapping[str, Any]) -> int:
    trial = reach(row, ("provenance", "run", "trial"))
    return trial if type(trial) is int else 1
