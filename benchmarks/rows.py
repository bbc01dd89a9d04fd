"""A line of the table, and where a benchmark keeps what it needs.

It must not know a case.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.data import write_records
from benchmarks.measure import Comparison
from benchmarks.peer import ensure_peer


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table.

    Args:
        what: the case.
        ours, theirs: what was measured, as text.
        figure: the ratio or the number that the budget is about.
        budget: what it must be, as text.
        holds: whether it is.
    """

    what: str
    ours: str
    theirs: str
    figure: str
    budget: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a benchmark keeps its data and its peer, and how often it runs."""

    folder: Path
    rounds: int

    def records(self, count: int) -> str:
        """The path of so many records."""
        return str(write_records(self.folder / f"records-{count}.jsonl", count))

    def peer(self) -> str:
        """The peer's command."""
        return ensure_peer(self.folder / "peer")


def shown_ms(found: Comparison, side: str) -> str:
    """The median time of a side in milliseconds."""
    return f"{median(one.wall_s for one in getattr(found, side)) * 1000:.0f} ms"


def shown_s(found: Comparison, side: str) -> str:
    """The median time of a side in seconds."""
    return f"{median(one.wall_s for one in getattr(found, side)):.2f} s"


def shown_mb(found: Comparison, side: str) -> str:
    """The most memory of a side's runs."""
    return f"{max(one.peak_mb for one in getattr(found, side)):.0f} MB"
