"""Check that an output file can be written, before any work."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from evalsi_kernel.errors import OutputError, UsageError

_OTHER_FORMS = frozenset(
    {".csv", ".tsv", ".xlsx", ".xls", ".parquet", ".jsonl", ".html", ".htm", ".md", ".yaml", ".yml"}
)
_RESULTS = re.compile(rb'\s*(\{\s*"schema_version"|$)')


def check_results_output(path: Path, *read: Path) -> None:
    """Check the path of a results file, which may only replace another results file.

    Raises:
        UsageError: the file exists and has no results, or is among `read`; or its suffix belongs to another format.
        OutputError: as `check_output`.
    """
    check_output(path, *read)
    if os.access(path, os.R_OK):
        with path.open("rb") as stands:
            head = stands.read(64)
        if not _RESULTS.match(head):
            raise UsageError(f"{path} exists and is not a results file.", "Write to another file, or remove it first.")
    if path.suffix.lower() in _OTHER_FORMS:
        raise UsageError(
            f"Results are JSON, but {path} has the suffix {path.suffix}.",
            f"Use {path.with_suffix('.json')}; `evalsi analyze query` converts it to CSV, `evalsi report` to pages.",
        )


def check_output(path: Path, *read: Path) -> None:
    """Check that a file can be written, before any work.

    Args:
        path: the file.
        read: files that the same command reads, which must not be overwritten.

    Raises:
        UsageError: the path is among `read`.
        OutputError: the folder is missing or not writable, or the path is a folder, a device or a pipe.
    """
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise UsageError(f"{path} is an input of this command and would be overwritten.", "Write to another file.")
    if path.is_dir():
        raise OutputError(f"{path} is a folder.", "Use a file in it, such as results.json.")
    if path.exists() and not path.is_file():
        # Writing replaces the path by rename, which must not replace /dev/null.
        raise OutputError(f"{path} is not a regular file.", "Use a file, such as results.json.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OutputError(f"No such folder: {folder}.", "Create it, or write elsewhere.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".evalsi-", suffix=".tmp"):
            pass
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}.", "Write elsewhere.") from error
