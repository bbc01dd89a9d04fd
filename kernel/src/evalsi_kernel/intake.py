"""From rows to records: fields filled, checked with the place at hand, encoded once.

It must not know file formats or evaluators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import msgpack

from evalsi_kernel.chunks import Chunk
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.mapping import MISSING, reach
from evalsi_kernel.seen_ids import SeenIds
from evalsi_kernel.sources import Source
from evalsi_kernel.suggestions import did_you_mean
from evalsi_kernel.usage import read_usage

MAPS = ("metadata", "trajectory", "provenance", "check", "usage")
PLAIN_FIELDS = frozenset({"id", "input", "output", "reference"})
ALL_FIELDS = PLAIN_FIELDS | {"context"} | frozenset(MAPS)
MAX_COLUMNS_KEPT = 200

Wire = dict[str, Any]


class Intake:
    """Reads a source into chunks of records.

    Args:
        source: gives the rows.
        mapping: field → path, from `--map`.
        limit: stop after so many records; None reads all.
        cluster_by: the metadata key (or field path) that names a record's cluster.
    """

    def __init__(
        self,
        source: Source,
        mapping: dict[str, tuple[str, ...]] | None = None,
        limit: int | None = None,
        cluster_by: str | None = None,
    ) -> None:
        self.count = 0
        self.columns: dict[str, None] = {}
        self.present: dict[str, int] = {}
        self.mapped_missing: dict[str, int] = dict.fromkeys(mapping or (), 0)
        self._source = source
        self.mapping = mapping or {}
        self._limit = limit
        self._cluster_by = tuple(cluster_by.split(".")) if cluster_by else None
        self._seen = SeenIds()
        self._own_ids = self._automatic_ids = 0
        self._first_automatic: list[tuple[int, int]] = []
        self._to_wire: Callable[[Wire, int], Wire] = self._mapped if mapping else self._record
        self._pack = msgpack.Packer(use_bin_type=True).pack

    def chunks(self) -> Iterator[Chunk]:
        """The records in order, a chunk at a time.

        Raises:
            DatasetError: a row cannot be a record; the message says where and why.
        """
        for rows in self._source.chunks():
            if self._limit is not None:
                rows = rows[: self._limit - self.count]
            if rows:
                yield self._chunk(rows)
            if self._limit is not None and self.count >= self._limit:
                return

    def _chunk(self, rows: list[tuple[int, Wire]]) -> Chunk:
        chunk = Chunk([], [], [], [] if self._cluster_by else None)
        for number, row in rows:
            wire = self._to_wire(row, number)
            wire["id"] = record_id = self._id_of(wire, number)
            try:
                chunk.packed.append(self._pack(wire))
            except (ValueError, TypeError, OverflowError, RecursionError) as error:
                self._pack = msgpack.Packer(use_bin_type=True).pack
                self._cannot_encode(number, wire, error)
            chunk.ids.append(record_id)
            chunk.numbers.append(number)
            if chunk.clusters is not None:
                chunk.clusters.append(self._cluster_of(wire, number))
            self.count += 1
        return chunk

    # -- one record -----------------------------------------------------------------------------------------------

    def _record(self, row: Wire, number: int) -> Wire:
        wire: Wire = {}
        rest: Wire | None = None
        for name, value in row.items():
            if value is None:
                continue
            if name in PLAIN_FIELDS:
                # Text is by far the commonest, and needs no look inside.
                wire[name] = value if type(value) is str else self._field(name, value, number)
            elif name in ALL_FIELDS:
                wire[name] = self._field(name, value, number)
            elif rest is None:
                rest = {name: value}
            else:
                rest[name] = value
        if rest is not None:
            wire["metadata"] = {**rest, **wire.get("metadata", {})}
        if row.keys() != self.columns.keys() and len(self.columns) < MAX_COLUMNS_KEPT:
            self.columns.update(dict.fromkeys(row))
        return wire

    def _mapped(self, row: Wire, number: int) -> Wire:
        if len(self.columns) < MAX_COLUMNS_KEPT:
            self.columns.update(dict.fromkeys(row))
        taken = {path[0] for path in self.mapping.values() if len(path) == 1}
        fields = {name: value for name, value in row.items() if name not in taken and name not in self.mapping}
        for field, path in self.mapping.items():
            value = reach(row, path)
            if value is MISSING:
                self.mapped_missing[field] += 1
                continue
            *outer, last = field.split(".")
            place = fields
            for part in outer:
                inner = place.get(part)
                place[part] = dict(inner) if isinstance(inner, dict) else {}
                place = place[part]
            place[last] = value
        columns = self.columns
        self.columns = {}
        wire = self._record(fields, number)
        self.columns = columns
        return wire

    def _field(self, name: str, value: Any, number: int) -> Any:
        if name == "id":
            return value
        if name in ("input", "output"):
            return to_content(value)
        if name == "reference":
            if isinstance(value, list) and not _is_messages(value):
                return [to_content(item) for item in value if item is not None]
            return to_content(value)
        if name == "context":
            items = value if isinstance(value, list) else [value]
            return [to_content(item) for item in items if item is not None]
        if name == "trajectory" and isinstance(value, list):
            return {"steps": value}
        if not isinstance(value, dict):
            self._refuse(number, f"{name} is {_short(value)}, which is not an object", f"Write {name} as an object.")
        if name == "usage":
            usage, problem = read_usage(value)
            if problem:
                self._refuse(number, problem, "Write numbers, or leave the unknown out.")
            return usage
        return value

    def _id_of(self, wire: Wire, number: int) -> str:
        own = wire.get("id")
        if own is None:
            return self._automatic_id(number)
        if type(own) is not str:
            if type(own) is not int:
                self._refuse(number, f"id is {_short(own)}, which is neither text nor an integer", "Write text.")
            own = str(own)
        self._own_ids += 1
        before = self._seen.add(own, number)
        if not before and self._automatic_ids:
            before = self._row_of_automatic(own)
        if before:
            self._refuse_twice(own, before, number)
        return own

    def _automatic_id(self, number: int) -> str:
        record_id = str(self.count)
        self._automatic_ids += 1
        if not self._first_automatic or self._first_automatic[-1][1] != self.count:
            self._first_automatic.append((self.count, self.count))
        self._first_automatic[-1] = (self._first_automatic[-1][0], self.count + 1)
        before = self._seen.find(record_id) if self._own_ids else 0
        if before:
            self._refuse_twice(record_id, before, number)
        return record_id

    def _row_of_automatic(self, own: str) -> int:
        """Whether an earlier record without an id was given this one; its row, about, or 0."""
        if not own.isascii() or not own.isdecimal() or str(int(own)) != own:
            return 0
        index = int(own)
        return index + 1 if any(start <= index < end for start, end in self._first_automatic) else 0

    def _cluster_of(self, wire: Wire, number: int) -> str:
        assert self._cluster_by is not None
        value = reach(wire.get("metadata", {}), self._cluster_by)
        if value is MISSING:
            value = reach(wire, self._cluster_by)
        if value is MISSING or isinstance(value, (dict, list)):
            name = ".".join(self._cluster_by)
            known = [column for column in self.columns if column not in PLAIN_FIELDS]
            self._refuse(
                number,
                f"there is no {name!r} to cluster by",
                f"{did_you_mean(name, known)} Give every record one, or choose another --cluster-by.".strip(),
            )
        return value if isinstance(value, str) else str(value)

    # -- refusals -------------------------------------------------------------------------------------------------

    def _refuse(self, number: int, message: str, mend: str) -> NoReturn:
        raise DatasetError(f"{self._source.name}, {self._source.unit} {number}: {message}.", mend)

    def _refuse_twice(self, record_id: str, before: int, number: int) -> NoReturn:
        unit = self._source.unit
        raise DatasetError(
            f"{self._source.name}, {unit} {number}: the id {record_id!r} stands in {unit} {before} already"
            f" (7 and \"7\" are the same id, and a record without one is numbered from 0).",
            "Make every id unique, or leave all of them out.",
            code="dataset.duplicate_id",
        )

    def _cannot_encode(self, number: int, wire: Wire, error: Exception) -> NoReturn:
        for name, value in wire.items():
            try:
                msgpack.packb(value)
            except (ValueError, TypeError, OverflowError, RecursionError) as cause:
                self._refuse(number, f"{name} {_why(cause)}", "Change the value; see what is said of it.")
        self._refuse(number, f"the record {_why(error)}", "Change the value; see what is said of it.")


def to_content(value: Any) -> Any:
    """The wire form of a content: text as it is, messages, or JSON."""
    if isinstance(value, str):
        return value
    if _is_messages(value):
        return {"messages": value}
    if isinstance(value, dict) and len(value) == 1:
        if isinstance(value.get("text"), str):
            return value["text"]
        if "json" in value or _is_messages(value.get("messages")):
            return value
    return {"json": value}


def _is_messages(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) and "role" in item for item in value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeEncodeError):
        return f"holds a lone surrogate (U+{ord(error.object[error.start]):04X}), which no text can carry"
    if isinstance(error, OverflowError):
        return "holds an integer beyond 64 bits; write it as text"
    if isinstance(error, RecursionError) or "recursion" in str(error):
        return "is nested too deep"
    return f"cannot be sent to an evaluator: {error}"
