"""Whether a file can be written where a user wants it, told before any work.

It must not know what is written.
"""

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
    """`check_output` for results, which replace no file but results: no spec, no data, no evaluator's source.

    Raises:
        UsageError: what stands there holds no results, or is among `read`; or its name ends as another format's does.
        OutputError: as `check_output` says.
    """
    check_output(path, *read)
    if os.access(path, os.R_OK):
        with path.open("rb") as stands:
            head = stands.read(64)
        if not _RESULTS.match(head):
            raise UsageError(f"{path} is there, and holds no results.", "Write to another file, or take it away first.")
    if path.suffix.lower() in _OTHER_FORMS:
        raise UsageError(
            f"{path} would hold JSON, which its name does not say.",
            f"Name it {path.with_suffix('.json')}; of it `evalsi analyze query` makes CSV, and `evalsi report` pages.",
        )


def check_output(path: Path, *read: Path) -> None:
    """See that a file can be written there, before any work.

    Args:
        path: where.
        read: what the same command reads, which the file must not replace.

    Raises:
        UsageError: it is among `read`.
        OutputError: the folder is missing or cannot be written, or the path is a folder, a device or a pipe.
    """
    if path.exists() and any(one.exists() and path.samefile(one) for one in read):
        raise UsageError(f"{path} is read here, and would be lost.", "Write to another file.")
    if path.is_dir():
        raise OutputError(f"{path} is a folder.", "Name a file in it, such as results.json.")
    if path.exists() and not path.is_file():
        # A file is put in the place of what stands there, and none must take the place of /dev/null.
        raise OutputError(f"{path} is no plain file.", "Name a file, such as results.json.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise OutputError(f"There is no folder {folder}.", "Make it, or write elsewhere.")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".evalsi-", suffix=".tmp"):
            pass
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror}.", "Write elsewhere.") from error
