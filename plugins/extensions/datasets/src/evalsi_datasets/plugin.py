"""Owns the hook by which the kernel opens data, and the choice of a reader by scheme and by the end of a file's name.

A reader is imported only when its format is opened; this module must stay cheap to import.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING

from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.hooks import hookimpl

if TYPE_CHECKING:
    from pathlib import Path

    from evalsi_kernel.records.sources import Source

    from .file_bytes import FileBytes

COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".xlsx", ".parquet")


@hookimpl
def evalsi_open_source(uri: str, folder: Path | None) -> Source | None:
    """Open a path, `file://…`, `snapshot://…`, `hf://…` or `-`; None for another scheme.

    Raises:
        DatasetError: there is no such data, or it cannot be read.
        UsageError: the URI itself is off.
    """
    if uri == "-":
        from .file_bytes import FileBytes

        if sys.__stdin__ is None:
            # Whatever was opened first has its number, 0, by now.
            raise DatasetError(
                "standard input is closed, so there is no data in it.",
                "Send the data to it through a pipe, or name a file.",
                code="dataset.unreadable",
            )
        return _sniffed(FileBytes(0, "standard input"))
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", uri)
    if scheme is None:
        return _open_file(os.path.join(folder or "", uri))
    if scheme[1].lower() == "file":
        return _open_file(_path_of(uri))
    if scheme[1].lower() == "snapshot":
        from .snapshot import pinned_path

        return _open_file(pinned_path(uri, folder))
    if scheme[1].lower() == "hf":
        from .hugging_face import open_dataset

        return open_dataset(uri, folder)
    return None


def _path_of(uri: str) -> str:
    from urllib.parse import unquote

    path = uri.partition("://")[2].removeprefix("localhost")
    if not path.startswith("/"):
        raise UsageError(f"{uri} does not hold an absolute path.", "Write file:///folder/x.jsonl, or the path alone.")
    return unquote(path)


def _open_file(path: str) -> Source:
    stem, compression = path, ""
    for end, name in COMPRESSIONS.items():
        if path.lower().endswith(end):
            stem, compression = path[: -len(end)], name
    suffix = next((suffix for suffix in FORMATS if stem.lower().endswith(suffix)), "")
    from .file_bytes import FileBytes

    # That there is such a file comes before what its name says.
    data = FileBytes(path, path, compression)
    if suffix:
        return _reader(data, suffix)
    if data.is_plain_file:
        raise DatasetError(
            f"The name of {path} does not say what it holds.",
            f"Give it one of the ends {', '.join(FORMATS)}, each with .gz, .zst or .zstd after it if compressed.",
            code="dataset.unknown_format",
        )
    return _sniffed(data)


def _reader(data: FileBytes, suffix: str) -> Source:
    if suffix == ".json":
        from .json_document import JsonDocument

        return JsonDocument(data)
    if suffix in (".csv", ".tsv"):
        from .delimited import Delimited

        return Delimited(data, "," if suffix == ".csv" else "\t")
    if suffix == ".xlsx":
        from .excel import ExcelRows

        return ExcelRows(data)
    if suffix == ".parquet":
        from .parquet import ParquetRows

        return ParquetRows(data)
    from .jsonl import JsonLines

    return JsonLines(data)


def _sniffed(data: FileBytes) -> Source:
    from .sniffing import SniffedJson

    return SniffedJson(data)
