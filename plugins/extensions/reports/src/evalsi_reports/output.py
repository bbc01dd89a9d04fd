"""Owns where a report goes: files written whole or not at all, or standard output, each in its form.

It must not know how a form looks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.errors import UsageError
from evalsi_kernel.files.atomic_file import atomic_file
from evalsi_kernel.files.output_check import check_output

FORMATS = ("html", "md", "json", "junit")
_ENDS = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".markdown": "md",
    ".json": "json",
    ".xml": "junit",
}


class Output(NamedTuple):
    """One report to write; `path` is None for standard output."""

    path: Path | None
    form: str


def parse_outputs(names: Sequence[str], form: str | None, *read: Path) -> list[Output]:
    """Where the flags want reports, each place checked before any work.

    Args:
        names: of `--output`; none means standard output.
        form: of `--format`; None takes the form from a name's end, and Markdown for standard output.
        read: the results files that are read, which none may replace.

    Raises:
        UsageError: a form is not known, or an output is a results file that is read.
        OutputError: a file cannot be written there.
    """
    outputs = [_output(name, form) for name in names or ["-"]]
    for output in outputs:
        if output.path is not None:
            check_output(output.path, *read)
    return outputs


def write_whole(path: Path, text: str) -> int:
    """Write a text beside its place and rename it there; a link is followed. Returns its size in bytes.

    Raises:
        OutputError: it cannot be written; whatever stood at `path` still does.
    """
    data = text.encode("utf-8", "replace")
    with atomic_file(path) as file:
        file.write(data)
    return len(data)


def _output(name: str, form: str | None) -> Output:
    if not name:
        raise UsageError("--output is empty.", "Name a file, or - for standard output.")
    if name == "-":
        return Output(None, form or "md")
    known = form or _ENDS.get(Path(name).suffix.lower())
    if known is None:
        raise UsageError(
            f"{name} does not say which form the report has.",
            "Name it .html, .md, .json or .junit.xml, or say --format html, md, json or junit.",
        )
    return Output(Path(name), known)
