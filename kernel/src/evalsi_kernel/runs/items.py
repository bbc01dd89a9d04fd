"""The items of a run: each record in each of its trials, and the record as evaluators see it once it is answered.

It must not know how an answer came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from evalsi_kernel.runs.record_store import RecordStore
from evalsi_kernel.target import TargetInput
from evalsi_protocol.errors import WireError


class Items:
    """Numbered from 0: all trials of the first record, then those of the second.

    Args:
        records: of the run.
        trials: of each record.
    """

    def __init__(self, records: RecordStore, trials: int) -> None:
        self.trials = trials
        self._records = records

    def __len__(self) -> int:
        return len(self._records) * self.trials

    def trial(self, item: int) -> int:
        """Which trial of its record it is, from 1."""
        return item % self.trials + 1

    def asked(self, item: int) -> TargetInput:
        """What the target is asked about."""
        return TargetInput(self._records[item // self.trials], self.trial(item))

    def size_bytes(self, item: int) -> int:
        """How much its record takes as it is sent, without an answer."""
        return self._records.size_bytes(item // self.trials)

    def refusal(self, item: int) -> WireError | None:
        """Why its record can be sent to no evaluator; None where it can."""
        return self._records.refusals.get(item // self.trials)

    def id_on_the_wire(self, item: int, record_id: str) -> str:
        """The id that tells the trials of a record apart while they are scored."""
        return record_id if self.trials == 1 else f"{record_id}#{self.trial(item)}"

    def on_the_wire(self, item: int, record: dict[str, Any]) -> dict[str, Any]:
        """The record as it is sent: the id that evaluators know stands beside the one that tells trials apart."""
        if self.trials == 1:
            return record
        return record | {"id": self.id_on_the_wire(item, record["id"]), "record_id": record["id"]}

    def clusters(self, items: Iterable[int], records: Sequence[Mapping[str, Any]]) -> list[str] | None:
        """The clusters that the spec names; else the trials of a record are one."""
        if self._records.clusters is not None:
            return [self._records.clusters[item // self.trials] for item in items]
        return [record["id"] for record in records] if self.trials > 1 else None

    def record(self, item: int, answer: Mapping[str, Any] | None) -> dict[str, Any]:
        """The record as it is scored and written into results: the answer in place of whatever output it had."""
        record = self._records[item // self.trials]
        record.pop("output", None)
        if answer is None:
            return record
        record.pop("usage", None)
        record.update(answer.get("fields", {}))
        if "error" not in answer:
            record["output"] = answer["output"]
            record.setdefault("usage", answer["usage"])  # One that the target filled is that of the recorded call.
        told = {"trial": self.trial(item)} | {name: answer[name] for name in ("error", "model") if name in answer}
        record["provenance"] = {**record.get("provenance", {}), "run": told}
        if "metadata" in answer:
            record["metadata"] = {**answer["metadata"], **record.get("metadata", {})}
        return record
