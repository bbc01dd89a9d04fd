"""Owns the data of a calibration: read once, labels taken out of it, the records that have one held for the evaluator.

Records without a label are not scored: nothing can be said of them, and a judge would be paid for. It must not know
what a label means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgpack

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.intake import Intake
from evalsi_kernel.records.mapping import FIELDS, MISSING, Path
from evalsi_kernel.records.sources import Row, Source

from .label_column import label_of, without_label
from .labels import Label, is_blank

_ROWS_A_CHUNK = 64
_NAMED_AT_MOST = 20
_NAMES_KEPT = 200


class LabelledData(NamedTuple):
    """What was read.

    Args:
        source: gives the records that have a label, without it.
        labels: of these records, in order.
        records: how many were read.
        sha256: of the data's bytes, in hex; None where they were not read to their end.
    """

    source: HeldRecords
    labels: tuple[Label, ...]
    records: int
    sha256: str | None


class HeldRecords:
    """Records at hand, as a source."""

    may_block = False

    def __init__(self, name: str, unit: str, records: Sequence[tuple[int, Row]]) -> None:
        self.name = name
        self.unit = unit
        self.records = records

    def chunks(self) -> Iterator[list[tuple[int, Row]]]:
        """The records with the numbers that they have in the data."""
        for start in range(0, len(self.records), _ROWS_A_CHUNK):
            yield list(self.records[start : start + _ROWS_A_CHUNK])

    def sha256(self) -> None:
        """None: these are not all of the data's bytes."""
        return None


def read_labelled(
    source: Source, name: str, mapping: Mapping[str, Path] | None = None, limit: int | None = None
) -> LabelledData:
    """Read records and their labels.

    Args:
        source: gives the rows.
        name: of the label: a column, or a key of the metadata, with dots into an object.
        mapping: field → path, from `--map`.
        limit: read so many records only; None reads all.

    Raises:
        DatasetError: a row is no record, there is none, or none has a label; the message says which columns there are.
    """
    intake = Intake(source, mapping, limit)
    path = tuple(name.split("."))
    held: list[tuple[int, Row]] = []
    labels: list[Label] = []
    names: dict[str, None] = {}
    for chunk in intake.chunks():
        records: list[dict[str, Any]] = msgpack.unpackb(chunk.packed_array)
        for record, record_id, number in zip(records, chunk.ids, chunk.numbers, strict=True):
            if len(names) < _NAMES_KEPT:
                names |= dict.fromkeys(_names_in(record.get("metadata", {})))
            written = label_of(record, path)
            if written is MISSING or is_blank(written):
                continue
            # The id goes along: what has none is called by its position, which changes where others are left out.
            held.append((number, without_label(record, path) | {"id": record_id}))
            labels.append(Label(record_id, written, f"{source.name}, {source.unit} {number}"))
    if not intake.count:
        raise DatasetError(f"{source.name} has no records.", "Give it some.", code="dataset.empty")
    _check_mapped(intake)
    if not labels:
        columns = {**dict.fromkeys(column for column in intake.columns if column not in FIELDS), **names}
        raise _no_label(source.name, name, list(columns))
    return LabelledData(HeldRecords(source.name, source.unit, held), tuple(labels), intake.count, source.sha256())


def _names_in(metadata: Mapping[str, Any]) -> Iterator[str]:
    """The names by which a label can be reached: keys, and those inside of an object."""
    for name, value in metadata.items():
        yield name
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)


def _check_mapped(intake: Intake) -> None:
    for field, missing in intake.mapped_missing.items():
        if missing >= intake.count:
            column = ".".join(intake.mapping[field])
            raise DatasetError(
                f"{intake.source.name}: no record has the column {column!r}, which is mapped to {field}.",
                f"{did_you_mean(column, intake.columns)} The columns are: {', '.join(intake.columns)}.".strip(),
            )


def _no_label(source: str, name: str, columns: Sequence[str]) -> DatasetError:
    if name in columns:
        return DatasetError(
            f"{source}: no record has a label in {name!r}.", "Label some, or name another with --label."
        )
    more = ", …" if len(columns) > _NAMED_AT_MOST else ""
    listed = (
        f"The columns are: {', '.join(columns[:_NAMED_AT_MOST])}{more}." if columns else "It has no column for one."
    )
    return DatasetError(
        f"{source}: there is no label {name!r}.",
        f"{did_you_mean(name, columns)} {listed} Name the column, or the metadata key, with --label.".strip(),
    )
