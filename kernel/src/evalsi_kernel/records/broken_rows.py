"""The rows of a source that cannot be records, gathered so that one error names them all."""

from __future__ import annotations

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.records.sources import BrokenRow, Source

MAX_NAMED = 20
MAX_ROWS_AFTER = 1_000_000
"""Rows read after the first broken one to find others; the error then says "at least"."""
MAX_WAIT_S = 1.0
"""Time to look for others in a source that may block, such as a pipe."""


class BrokenRows:
    """Gathers broken rows in memory that does not grow: the first `MAX_NAMED`, and the number of the others.

    Args:
        source: where the rows come from.

    Attributes:
        count: broken rows so far.
        is_partial: whether there may be more of them.
    """

    def __init__(self, source: Source) -> None:
        self.count = 0
        self.is_partial = False
        self._source = source
        self._named: list[BrokenRow] = []
        self._end: DatasetError | None = None

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def is_full(self) -> bool:
        """Whether further rows are counted only."""
        return self.count >= MAX_NAMED

    def add(self, row: BrokenRow) -> None:
        """Add a row that cannot be a record."""
        self.count += 1
        if len(self._named) < MAX_NAMED:
            self._named.append(row)

    def end_with(self, error: DatasetError) -> None:
        """Add the fault after which nothing more can be read."""
        self.is_partial = True
        self._end = error

    def error(self) -> DatasetError:
        """Return the error that names the rows; that of the row itself where there is only one."""
        ordered = sorted(self._named, key=lambda row: row.number)
        errors = [row.error for row in ordered] + ([self._end] if self._end is not None else [])
        if len(errors) == 1:
            return errors[0]
        name, unit = self._source.name, self._source.unit
        at_least = "at least " if self.is_partial else ""
        lines = [f"{name}: {at_least}{self.count} {unit}s cannot be records:" if self.count > 1 else f"{name}:"]
        hints: set[str] = set()
        for error in errors:
            # The same advice is given once.
            hint = "" if error.hint in hints else error.hint
            hints.add(error.hint)
            lines.append(f"  {error.message.removeprefix(f'{name}, ')} {hint}".rstrip())
        if (others := self.count - len(self._named)) > 0:
            lines.append(f"  … and {at_least}{others} more.")
        codes = {error.code for error in errors}
        return DatasetError(
            "\n".join(lines),
            "Correct the data, and run the same command again.",
            code=codes.pop() if len(codes) == 1 else "dataset.invalid",
            rows=[row.number for row in ordered],
            count=self.count,
        )
