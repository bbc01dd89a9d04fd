"""Answers that were recorded before, as the target of a run: no key, no network, the same every time.

It must not know where they were recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from evalsi_kernel.broker.ask import NO_TOKENS
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.checking.toml_tables import FilledLine, Table
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.target import Bounds, Generated, TargetInput, TargetServices, TargetSettings

from .recorded import Key, Recorded, finish_of, read_recorded


class ReplayOptions(Table):
    """Recorded answers."""

    path: FilledLine | None = Field(
        default=None, description="a file of rows with id and output, or a results.json; else the data's own outputs"
    )
    id: FilledLine = Field(default="id", description="the column of the record's id; dots reach inside")
    output: FilledLine = Field(default="output", description="the column of the answer; dots reach inside")


class Replay:
    """The target. It holds all answers of a file in memory.

    Raises:
        ConfigError: the file cannot be read, or a row has no id.
        DatasetError: the file is no data.
    """

    model = ""
    provider = ""

    def __init__(self, settings: TargetSettings, lent: TargetServices) -> None:
        options = ReplayOptions.model_validate(settings.options)
        self._recorded: dict[Key, Recorded] | None = None
        self.identity: Mapping[str, Any] = {"connector": "replay"}
        if options.path is not None:
            path = settings.folder / options.path
            self._recorded = read_recorded(path, lent.open_source, options.id, options.output)
            try:
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise ConfigError(f"{path} cannot be read: {error.strerror}.", "Name a file.") from error
            columns = options.model_dump(exclude={"path"}, exclude_defaults=True)
            self.identity = {"connector": "replay", "path": options.path, "sha256": digest, **columns}

    def bounds(self, given: TargetInput) -> Bounds:
        """Nothing."""
        return Bounds(0, 0)

    async def generate(self, given: TargetInput) -> Generated:
        """The answer that was recorded for this trial, or for the record without saying which trial."""
        if self._recorded is None:
            return self._own(given.record)
        record_id = given.record["id"]
        found = self._recorded.get((record_id, given.trial)) or self._recorded.get((record_id, None))
        if found is None or not found.has_output:
            raise _nothing(record_id, given.trial, "" if found is None else found.error)
        return Generated(found.output, NO_TOKENS, 0.0, fields=found.fields, metadata=found.metadata)

    async def close(self) -> None:
        """There is nothing to let go of."""

    def _own(self, record: Mapping[str, Any]) -> Generated:
        """The output that the data itself has."""
        if "output" not in record:
            raise _nothing(record["id"], 1, "")
        fields = {"usage": record.get("usage", {})}
        return Generated(record["output"], NO_TOKENS, 0.0, fields=fields, metadata=finish_of(record))


def _nothing(record_id: str, trial: int, error: str) -> ProviderError:
    of_trial = f" in trial {trial}" if trial > 1 else ""
    why = f": the earlier run failed there ({error.rstrip('.')})" if error else ""
    return ProviderError(
        "target.output",
        f"No answer was recorded for the record {record_id!r}{of_trial}{why}.",
        "Record one, or leave the record out of the data.",
        source="record",
        tokens=NO_TOKENS,
    )
