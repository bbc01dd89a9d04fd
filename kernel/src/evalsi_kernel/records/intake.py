"""From rows to records: fields filled, checked with the place at hand, encoded once.

It must not know file formats or evaluators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import msgpack

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.chunks import Chunk
from evalsi_kernel.records.contents import (
    MAX_NESTING,
    BadField,
    a_map,
    check_nesting,
    content,
    contexts,
    references,
    shown,
    trajectory,
)
from evalsi_kernel.records.mapping import MISSING, Mapper, Path, reach
from evalsi_kernel.records.plain_rows import plain_ids
from evalsi_kernel.records.seen_ids import Repeat, SeenIds
from evalsi_kernel.records.sources import Source
from evalsi_kernel.records.text_cells import read_cell
from evalsi_kernel.records.unencodable import REFUSED, explain
from evalsi_kernel.records.usage import read_usage
from evalsi_protocol.errors import WireError
from evalsi_protocol.frames import Packed, pack_array
from evalsi_protocol.limits import MAX_FRAME_BYTES, TARGET_FRAME_BYTES

MAX_COLUMNS_KEPT = 200
LARGE_BYTES = 1 << 20
MAX_RECORD_BYTES = MAX_FRAME_BYTES - 64 * 1024
"""A record is the least that a frame can carry, beside what the protocol puts around it; a larger one is not sent."""

Wire = dict[str, Any]
Rows = list[tuple[int, Wire]]

# Text under one of these names is on the wire what it is in the row.
_TEXT_FIELDS = frozenset({"id", "input", "output", "reference"})
_NOTHING: Wire = {}
_READERS: dict[str, Callable[[Any], Any]] = {
    "id": lambda value: value,
    "input": content,
    "output": content,
    "reference": references,
    "context": contexts,
    "trajectory": trajectory,
    "usage": read_usage,
    "metadata": lambda value: a_map("metadata", value),
    "provenance": lambda value: a_map("provenance", value),
    "check": lambda value: a_map("check", value),
}


class Intake:
    """Reads a source into chunks of records.

    Args:
        source: gives the rows.
        mapping: field → path, from `--map`.
        limit: stop after so many records; None reads all.
        cluster_by: the metadata key (or field path) that names a record's cluster.

    Attributes:
        source: gives the rows.
        count: how many records came so far.
        columns: the names in the rows so far, in order of first appearance; of very many, the first 200.
        mapped_missing: for each mapped field how many records lack its column.
        lists_kept: for each field how many of its text cells hold a JSON list, and stay text.
        shadowed: for each column how many records hold another value under its name in their own metadata.
    """

    def __init__(
        self,
        source: Source,
        mapping: Mapping[str, Path] | None = None,
        limit: int | None = None,
        cluster_by: str | None = None,
    ) -> None:
        self.count = 0
        self.columns: dict[str, None] = {}
        self.shadowed: dict[str, int] = {}
        self.lists_kept: dict[str, int] = {}
        self._has_text_cells = bool(getattr(source, "cells_are_text", False))
        self.mapping = mapping or {}
        self.source = source
        self._limit = limit
        self._cluster_by = cluster_by
        self._seen = SeenIds()
        self._mapper = Mapper(self.mapping)
        self._pack = msgpack.Packer(use_bin_type=True).pack

    @property
    def mapped_missing(self) -> dict[str, int]:
        """For each mapped field, how many records lack its column."""
        return self._mapper.missing

    def expected(self) -> int | None:
        """Return how many records there will be, known or estimated from those so far; None if nothing says."""
        ask = getattr(self.source, "expected", None)
        total: int | None = ask(self.count) if ask is not None and self.count else None
        if total is None:
            return self._limit
        total = max(total, self.count)
        return total if self._limit is None else min(total, self._limit)

    def chunks(self) -> Iterator[Chunk]:
        """The records in order, a chunk at a time.

        Raises:
            DatasetError: a row cannot be a record; the message says where and why.
        """
        for given in self.source.chunks():
            rows = given if self._limit is None else given[: self._limit - self.count]
            if rows:
                yield from self._cut(self._chunk(rows))
            if self._limit is not None and self.count >= self._limit:
                return

    def _chunk(self, rows: Rows) -> Chunk:
        chunk = None if self.mapping or self._has_text_cells else self._plain_chunk(rows)
        return self._chunk_by_field(rows) if chunk is None else chunk

    def _plain_chunk(self, rows: Rows) -> Chunk | None:
        """The chunk, where its rows are records already; None leaves it to the slow way, also to say what is wrong."""
        wires = [row for _, row in rows]
        ids = plain_ids(wires)
        if ids is None:
            return None
        clusters = None
        if self._cluster_by is not None:
            clusters = [wire.get("metadata", _NOTHING).get(self._cluster_by) for wire in wires]
            if set(map(type, clusters)) != {str}:
                return None
        try:
            packed = Packed(self._pack(wires))
        except REFUSED:
            self._pack = msgpack.Packer(use_bin_type=True).pack
            return None
        self._forget_room(len(packed))
        numbers = [number for number, _ in rows]
        self._note(wires[0], ids, numbers, only_positions=False)
        return Chunk(packed, ids, numbers, clusters)

    def _note(self, row: Wire, ids: list[str], numbers: list[int], *, only_positions: bool) -> None:
        """Remember what came: columns, ids, how many."""
        if len(self.columns) < MAX_COLUMNS_KEPT:
            self.columns.update(dict.fromkeys(row))
        repeat = self._seen.add_positions(numbers) if only_positions else self._seen.add(ids, numbers)
        if repeat is not None:
            self._refuse_repeat(repeat, ids, numbers)
        self.count += len(ids)

    def _chunk_by_field(self, rows: Rows) -> Chunk:
        # This loop is most of what the kernel does for a record, so it calls as little as it can.
        to_wire = self._of_text_cells if self._has_text_cells else self._mapped if self.mapping else self._record
        pack, columns = self._pack, self.columns
        names, cluster_by = columns.keys(), self._cluster_by
        clusters: list[str] | None = [] if cluster_by else None
        packed: list[bytes] = []
        ids: list[str] = []
        numbers: list[int] = []
        only_positions = True
        for position, (number, row) in enumerate(rows, self.count):
            try:
                wire = to_wire(row)
                record_id = wire.get("id")
                if record_id is None:
                    wire["id"] = record_id = str(position)
                else:
                    only_positions = False
                    if type(record_id) is not str or not record_id:
                        wire["id"] = record_id = _id_text(record_id)
            except BadField as bad:
                self._refuse(number, bad.message, bad.hint)
            try:
                packed.append(pack(wire))
            except REFUSED as error:
                self._refuse(number, *explain(row, error))
            ids.append(record_id)
            numbers.append(number)
            if not row.keys() <= names and len(columns) < MAX_COLUMNS_KEPT:
                columns.update(dict.fromkeys(row))
            if clusters is not None:
                cluster = wire.get("metadata", _NOTHING).get(cluster_by)
                clusters.append(cluster if type(cluster) is str else self._cluster_of(wire, number))
        self._note(_NOTHING, ids, numbers, only_positions=only_positions)
        array = pack_array(packed, len(packed))
        self._forget_room(len(array))
        return Chunk(array, ids, numbers, clusters)

    def _forget_room(self, size_bytes: int) -> None:
        """After what was large, begin with a packer anew: one keeps twice the room that it once needed."""
        if size_bytes > LARGE_BYTES:
            self._pack = msgpack.Packer(use_bin_type=True).pack

    def _record(self, row: Wire) -> Wire:
        wire: Wire = {}
        rest: Wire | None = None
        for name, value in row.items():
            kind = type(value)
            if kind is str and name in _TEXT_FIELDS:
                wire[name] = value
                continue
            if value is None:
                continue
            reader = _READERS.get(name)
            if reader is not None:
                read = reader(value)
                if read is not None:
                    wire[name] = read
                    if kind is dict or kind is list:
                        check_nesting(name, read, MAX_NESTING)
                continue
            if kind is dict or kind is list:
                check_nesting(name, value, MAX_NESTING - 1)
            if rest is None:
                rest = {name: value}
            else:
                rest[name] = value
        if rest is not None:
            wire["metadata"] = self._merged(rest, wire["metadata"]) if "metadata" in wire else rest
        return wire

    def _mapped(self, row: Wire) -> Wire:
        return self._record(self._mapper(row))

    def _of_text_cells(self, row: Wire) -> Wire:
        """The record of a row of text cells; JSON is read where the field holds lists or objects."""
        fields = {**(self._mapper(row) if self.mapping else row)}
        for name, cell in fields.items():
            if name in _READERS:
                fields[name], is_list = read_cell(name, cell)
                if is_list:
                    self.lists_kept[name] = self.lists_kept.get(name, 0) + 1
        return self._record(fields)

    def _merged(self, rest: Wire, metadata: Wire) -> Wire:
        """Columns that no field takes join the metadata, whose own values stand."""
        for name in rest.keys() & metadata.keys():
            if rest[name] != metadata[name]:
                self.shadowed[name] = self.shadowed.get(name, 0) + 1
        return {**rest, **metadata}

    def _cluster_of(self, wire: Wire, number: int) -> str:
        name = self._cluster_by or ""
        path = tuple(name.split("."))
        metadata = wire.get("metadata", _NOTHING)
        value = reach(metadata, path)
        if value is MISSING:
            value = reach(wire, path)
        if type(value) is str:
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (int, float)):
            # JSON does not tell 1 from 1.0.
            return str(int(value)) if value == int(value) else str(value)
        known = [column for column in {**self.columns, **metadata} if column not in _READERS]
        hint = did_you_mean(name, known) or (f"There are {', '.join(known)}." if known else "")
        what = f"there is no {name!r} to cluster by" if value in (MISSING, None) else f"{name!r} is {shown(value)}"
        self._refuse(number, what, f"{hint} Give every record one as text or a number, or cluster by another.".strip())

    # -- refusals -------------------------------------------------------------------------------------------------

    def _refuse(self, number: int, message: str, hint: str) -> NoReturn:
        raise DatasetError(f"{self.source.name}, {self.source.unit} {number}: {message}.", hint)

    def _refuse_repeat(self, repeat: Repeat, ids: list[str], numbers: list[int]) -> NoReturn:
        name, unit = self.source.name, self.source.unit
        raise DatasetError(
            f"{name}, {unit} {numbers[repeat.position]}: the id {ids[repeat.position]!r} stands in {unit} {repeat.row}"
            f' already (7 and "7" are the same id, and a record without one takes its position, from 0).',
            "Make every id unique, or leave all of them out.",
            code="dataset.duplicate_id",
        )

    # -- sizes ----------------------------------------------------------------------------------------------------

    def _cut(self, chunk: Chunk) -> Iterator[Chunk]:
        """The chunk, in several where a source gave too much at once: what is in flight is held in memory."""
        # A single record cannot be cut, and a copy of what is large would be large.
        if len(chunk.packed_array) <= (MAX_RECORD_BYTES if len(chunk.ids) == 1 else 2 * TARGET_FRAME_BYTES):
            yield chunk
            return
        start = size = 0
        records = chunk.packed
        # Of what is large there is no need for the whole beside its parts.
        chunk.packed_array = Packed()
        for end, record in enumerate(records, 1):
            is_too_large = len(record) > MAX_RECORD_BYTES
            if is_too_large and start < end - 1:
                yield chunk.part(start, end - 1)
                start = end - 1
            size += len(record)
            if size >= TARGET_FRAME_BYTES or end == len(chunk.packed):
                part = chunk.part(start, end)
                if is_too_large:
                    part.refusal = self._too_large(len(record), chunk.numbers[end - 1])
                yield part
                start, size = end, 0

    def _too_large(self, size_bytes: int, number: int) -> WireError:
        size, most = size_bytes / 2**20, MAX_FRAME_BYTES / 2**20
        return WireError(
            "protocol.too_large",
            f"{self.source.name}, {self.source.unit} {number}: the record takes {size:.0f} MiB, more than the "
            f"{most:.0f} MiB that can be sent to an evaluator.",
            "Shorten it, or cut it in several.",
            "record",
        )


def _id_text(given: Any) -> str:
    if type(given) is int:
        return str(given)
    if given == "":
        raise BadField("the id is an empty text", "Name the record, or leave its id out.")
    raise BadField(f"id is {shown(given)}, which is neither text nor an integer", "Write it as text, in quotes.")
