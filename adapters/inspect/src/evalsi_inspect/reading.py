"""`python -m evalsi_inspect.reading LOG`: print the samples of a log as rows, JSON Lines on standard output.

Each line is `{"row": …}`. The last is `{"end": COUNT}` or `{"fault": {"message": …, "hint": …}}`; without either, the
reader stopped early.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from evalsi_inspect.log_fault import LogFault

BUFFER_BYTES = 1 << 16
_encode = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


class Log(Protocol):
    """Interface of both log formats."""

    header: dict[str, Any]

    def samples(self) -> Iterator[dict[str, Any]]: ...


def main(arguments: Sequence[str]) -> int:
    """Print the rows of the log. Return 0, 1 if a fault was printed, or 2 for wrong arguments."""
    if len(arguments) != 1:
        print("usage: python -m evalsi_inspect.reading LOG", file=sys.stderr)
        return 2
    out = _own_output()
    try:
        return _print(Path(arguments[0]), out)
    except BrokenPipeError:
        return 0  # The reader closed the pipe.


def _print(path: Path, out: BinaryIO) -> int:
    count = 0
    last: dict[str, Any]
    try:
        for row in rows(path):
            out.write(_encode({"row": row}).encode() + b"\n")
            count += 1
        last = {"end": count}
    except LogFault as fault:
        last = {"fault": {"message": fault.message, "hint": fault.hint}}
    out.write(_encode(last).encode() + b"\n")
    out.flush()
    return 1 if "fault" in last else 0


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a log.

    Raises:
        LogFault: the log does not exist or cannot be read to its end.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise LogFault(f"{path} cannot be read: {error.strerror}.", "Check the path.") from error
    with file:
        log = open_log(file, path.name)
        # Imported late: Inspect takes a second to load, and an invalid log fails before that.
        from evalsi_inspect.sample_row import row_of

        spec = log.header.get("eval") or {}
        for sample in log.samples():
            try:
                yield row_of(sample, spec)
            except LogFault as fault:
                raise LogFault(f"{path.name}: {fault.message}", fault.hint) from fault


def open_log(file: BinaryIO, name: str) -> Log:
    """Return a reader for the log, chosen by the first bytes of the file and not by its name.

    Raises:
        LogFault: the file is not a log of Inspect.
    """
    begins = file.read(2)
    file.seek(0)
    if begins == b"PK":
        from evalsi_inspect.log_archive import LogArchive

        return LogArchive(file, name)
    from evalsi_inspect.log_document import LogDocument

    return LogDocument(file, name)


def _own_output() -> BinaryIO:
    """Return standard output for the lines only, and redirect what libraries print to standard error."""
    own = os.fdopen(os.dup(1), "wb", buffering=BUFFER_BYTES)
    os.dup2(2, 1)
    return own


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
