"""Owns hf:// : a dataset of the Hugging Face Hub, or a dataset folder, streamed with the datasets library.

The JSON form of a value belongs to `plain_values`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import DatasetError, UsageError
from evalsi_kernel.records.sources import BrokenRow, Row, Rows

from .extras import require
from .file_source import CHUNK_CHARACTERS, CHUNK_ROWS
from .plain_values import NoJsonFormError, plain

OPTIONS = ("config", "split", "revision")
_EXAMPLE = "hf://org/name?config=main&split=test&revision=main"


@dataclass(frozen=True, slots=True)
class DatasetUri:
    """What an hf:// URI asks for.

    Args:
        repo: `name` or `org/name` on the Hub, or the path of a folder.
        config: None for the dataset's default one.
        split: `test` unless the URI names one.
        revision: a branch, tag or commit; None for the main branch.
    """

    repo: str
    config: str | None = None
    split: str = "test"
    revision: str | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it is a path and never a name on the Hub."""
        return self.repo.startswith(("/", "./", "../", "~"))


def parse_uri(uri: str) -> DatasetUri:
    """Read `hf://repo?config=&split=&revision=`; an option without a value counts as not given.

    Raises:
        UsageError: the repo is missing, an option is unknown or given twice, or there is a fragment.
    """
    rest, hash_sign, _ = uri.partition("://")[2].partition("#")
    if hash_sign:
        raise UsageError(
            f'{uri}: "#" begins a fragment, which no dataset has.', "Take it away, or write %23 where a name holds it."
        )
    path, _, query = rest.partition("?")
    repo = unquote(path).rstrip("/")
    if "\0" in repo:
        raise UsageError(f"{uri!r} holds a NUL, as no name does.", "Take it away.")
    if not repo:
        raise UsageError(f"{uri} names no dataset.", f"Write {_EXAMPLE}, or hf:///path/of/a/folder.")
    options: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        if name not in OPTIONS:
            raise UsageError(
                f'{uri}: there is no option "{name}".',
                f"{did_you_mean(name, OPTIONS)} The options are {', '.join(OPTIONS)}.".strip(),
            )
        if name in options:
            raise UsageError(f"{uri}: {name} is given twice.", "Give it once.")
        options[name] = value
    return DatasetUri(repo, **{name: value for name, value in options.items() if value})


def open_dataset(uri: str, folder: Path | None = None) -> HubRows:
    """Find a dataset and its files, without reading a row.

    Raises:
        UsageError: the URI is off.
        DatasetError: the library is not installed, or the dataset cannot be found or reached.
    """
    wanted = parse_uri(uri)
    require("datasets", "Reading hf://", "hf")
    path = os.path.expanduser(wanted.repo)
    if wanted.is_folder:
        path = os.path.join(folder or "", path)
    if wanted.is_folder and not os.path.isdir(path):
        raise DatasetError(f"There is no folder {path}.", "Check the path.", code="dataset.not_found")
    return HubRows(uri, _load(path, wanted, uri))


class HubRows:
    """Rows of a split.

    Args:
        name: the URI.
        rows: gives them.
    """

    unit = "row"
    may_block = True

    def __init__(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        self.name = name
        self._rows = rows

    def sha256(self) -> str | None:
        """None: the same rows may come from other bytes."""
        return None

    def chunks(self) -> Iterator[Rows | BrokenRow]:
        """Yield the rows, one that JSON cannot carry as a `BrokenRow`; raise `DatasetError` where reading fails."""
        chunk: Rows = []
        size = 0
        for number, values in enumerate(self._read(), 1):
            try:
                row = self._row(values, number)
            except DatasetError as error:
                if chunk:
                    yield chunk
                    chunk, size = [], 0
                yield BrokenRow(number, error)
                continue
            chunk.append((number, row))
            size += len(repr(row))
            if size >= CHUNK_CHARACTERS or len(chunk) >= CHUNK_ROWS:
                yield chunk
                chunk = []
                size = 0
        if chunk:
            yield chunk

    def _read(self) -> Iterator[dict[str, Any]]:
        number = 0
        try:
            for number, values in enumerate(self._rows, 1):  # noqa: B007
                yield values
        except Exception as cause:
            raise DatasetError(
                f"{self.name}, after row {number}: the datasets library cannot go on: {_sentence(cause)}",
                "Check the files of the dataset.",
            ) from cause

    def _row(self, values: dict[str, Any], number: int) -> Row:
        row: Row = {}
        for name, value in values.items():
            try:
                row[name] = plain(value)
            except NoJsonFormError as fault:
                where = f'{self.name}, row {number}: column "{name}"'
                raise DatasetError(f"{where} {fault.message}.", fault.hint) from fault
        return row


def _load(path: str, wanted: DatasetUri, uri: str) -> Iterable[dict[str, Any]]:
    import datasets

    # The run has a progress line of its own.
    datasets.disable_progress_bars()
    # Offline the library finds what an earlier download left in its cache, and it streams nothing from there.
    streaming = wanted.is_folder or not datasets.config.HF_HUB_OFFLINE
    try:
        rows: Iterable[dict[str, Any]] = datasets.load_dataset(
            path, name=wanted.config, split=wanted.split, revision=wanted.revision, streaming=streaming
        )
    except Exception as cause:
        raise refusal(uri, cause, offline=not streaming) from cause
    return rows


def refusal(uri: str, cause: Exception, *, offline: bool) -> DatasetError:
    """What to say where the library cannot open a dataset.

    Args:
        uri: that of the dataset.
        cause: what the library raised.
        offline: whether it was to look into its cache alone.
    """
    from datasets.exceptions import DatasetNotFoundError

    if offline and isinstance(cause, (ConnectionError, DatasetNotFoundError)):
        return DatasetError(
            f"{uri} is not in the cache of the datasets library, and HF_HUB_OFFLINE is set.",
            "Unset HF_HUB_OFFLINE, or load the dataset once while it is not set.",
            code="dataset.unreachable",
        )
    if isinstance(cause, DatasetNotFoundError):
        return DatasetError(
            f"{uri}: there is no such dataset on the Hugging Face Hub, or it is private or gated: {_sentence(cause)}",
            "Check the name; log in with `hf auth login` where it is private.",
            code="dataset.not_found",
        )
    if isinstance(cause, (ConnectionError, TimeoutError)):
        return DatasetError(
            f"{uri} cannot be reached: {_sentence(cause)}",
            "Check the network, or set HF_HUB_OFFLINE=1 to read a dataset from the cache.",
            code="dataset.unreachable",
        )
    return DatasetError(
        f"{uri} cannot be opened: {_sentence(cause)}", "Check config, split and revision, such as ?split=train."
    )


def _sentence(cause: Exception) -> str:
    text = " ".join(str(cause).split()) or type(cause).__name__
    return text if text.endswith((".", "!")) else f"{text}."
