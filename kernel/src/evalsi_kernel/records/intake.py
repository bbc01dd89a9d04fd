"""From rows to records: fields are filled, checked and encoded once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from threading import Thread
from typing import Any

import msgpack

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.broken_rows import MAX_ROWS_AFTER, MAX_WAIT_S, BrokenRows
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
from evalsi_kernel.records.sources import BrokenRow, Rows, Source
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
        self._broken = BrokenRows(source)
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
        """Yield the records in order, a chunk at a time.

        After a row that cannot be a record no more chunks come: the rest is read only to name other such rows.

        Raises:
            DatasetError: rows cannot be records; the message says where and why.
        """
        given = self.source.chunks()
        for one in given:
            chunk = self._read(one)
            if self._broken:
                self._find_others(given)
                raise self._broken.error()
            if chunk is not None:
                yield from self._cut(chunk)
            if self._is_at_limit():
                return

    def _read(self, given: Rows | BrokenRow) -> Chunk | None:
        """The records of a chunk of rows; None where there are none."""
        if isinstance(given, BrokenRow):
            self._broken.add(given)
            return None
        rows = given if self._limit is None else given[: self._limit - self._position]
        return self._chunk(rows) if rows else None

    @property
    def _position(self) -> int:
        return self.count + self._broken.count

    def _is_at_limit(self) -> bool:
        return self._limit is not None and self._position >= self._limit

    def _find_others(self, given: Iterator[Rows | BrokenRow]) -> None:
        """Read on to find other broken rows, as far as the bounds allow."""
        if not self.source.may_block:
            self._read_on(given)
            return
        # What is silent is not waited for; neither is this thread, not even by the end of the program.
        reader = Thread(target=self._read_on, args=(given,), name="evalsi-read-on", daemon=True)
        reader.start()
        reader.join(MAX_WAIT_S)
        self._broken.is_partial |= reader.is_alive()

    def _read_on(self, given: Iterator[Rows | BrokenRow]) -> None:
        end = self._position + MAX_ROWS_AFTER
        try:
            while not self._is_at_limit():
                if self._position >= end:
                    self._broken.is_partial = True
                    return
                one = next(given, None)
                if one is None:
                    return
                self._read(one)
        except DatasetError as error:
            self._broken.end_with(error)

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
        if self._broken.is_full:
            self._broken.is_partial = True  # Ids are compared no longer: to find each repeat takes long.
        else:
            by_position = only_positions and not self._broken
            repeat = self._seen.add_positions(numbers) if by_position else self._seen.add(ids, numbers)
            while repeat is not None and not self._broken.is_full:
                self._broken.add(self._repeated(repeat, ids, numbers))
                ids = [*ids[: repeat.position], *ids[repeat.position + 1 :]]
                numbers = [*numbers[: repeat.position], *numbers[repeat.position + 1 :]]
                repeat = self._seen.add(ids, numbers)
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
        for position, (number, row) in enumerate(rows, self._position):
            try:
                wire = to_wire(row)
                record_id = wire.get("id")
                if record_id is None:
                    wire["id"] = record_id = str(position)
                else:
                    only_positions = False
                    if type(record_id) is not str or not record_id:
                        wire["id"] = record_id = _id_text(record_id)
                if clusters is not None:
                    cluster = wire.get("metadata", _NOTHING).get(cluster_by)
                    cluster = cluster if type(cluster) is str else self._cluster_of(wire)
                packed.append(pack(wire))
            except BadField as bad:
                self._add_broken(number, bad.message, bad.hint)
                continue
            except REFUSED as error:
                self._add_broken(number, *explain(row, error))
                pack = self._pack = msgpack.Packer(use_bin_type=True).pack
                continue
            ids.append(record_id)
            numbers.append(number)
            if not row.keys() <= names and len(columns) < MAX_COLUMNS_KEPT:
                columns.update(dict.fromkeys(row))
            if clusters is not None:
                clusters.append(cluster)
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

    def _cluster_of(self, wire: Wire) -> str:
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
        raise BadField(what, f"{hint} Give every record one as text or a number, or cluster by another.".strip())

    # -- broken rows ----------------------------------------------------------------------------------------------

    def _add_broken(self, number: int, message: str, hint: str) -> None:
        error = DatasetError(f"{self.source.name}, {self.source.unit} {number}: {message}.", hint)
        self._broken.add(BrokenRow(number, error))

    def _repeated(self, repeat: Repeat, ids: list[str], numbers: list[int]) -> BrokenRow:
        name, unit = self.source.name, self.source.unit
        error = DatasetError(
            f"{name}, {unit} {numbers[repeat.position]}: the id {ids[repeat.position]!r} stands in {unit} {repeat.row}"
            f' already (7 and "7" are the same id, and a record without one takes its position, from 0).',
            "Make every id unique, or leave all of them out.",
            code="dataset.duplicate_id",
        )
        return BrokenRow(numbers[repeat.position], error)

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
