"""Owns how these tests read a source to its end, or to its fault."""

from dataclasses import dataclass, field
from pathlib import Path

from evalsi_datasets.plugin import evalsi_open_source
from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import Row, Source, readable_chunks


@dataclass
class Reading:
    """Everything that a source gave."""

    source: Source
    numbered: list[tuple[int, Row]] = field(default_factory=list)
    chunk_lengths: list[int] = field(default_factory=list)
    fault: DatasetError | None = None

    @property
    def rows(self) -> list[Row]:
        return [row for _, row in self.numbered]


def open_source(uri: str | Path) -> Source:
    source = evalsi_open_source(str(uri), None)
    assert source is not None
    return source


def drain(source: Source) -> Reading:
    """Read a source until it ends or refuses something."""
    reading = Reading(source)
    try:
        for chunk in readable_chunks(source):
            reading.numbered.extend(chunk)
            reading.chunk_lengths.append(len(chunk))
    except DatasetError as fault:
        reading.fault = fault
    return reading


def read(uri: str | Path) -> Reading:
    """Open and read data that holds no fault."""
    reading = drain(open_source(uri))
    if reading.fault is not None:
        raise reading.fault
    return reading


def fault_of(path: Path) -> tuple[str, str, list[Row]]:
    """What is wrong, without the folder of the file; what to do; the rows that came before."""
    reading = drain(open_source(path))
    assert reading.fault is not None, f"nothing was refused in {path.read_bytes()[:200]!r}"
    return reading.fault.message.replace(f"{path.parent}/", ""), reading.fault.hint, reading.rows
