"""Owns the database: which files are in it, loading those that are not, and a connection that can read nothing else.

It must not know what is asked.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.errors import ConfigError

from .library import told
from .results_parts import Parts, content_sha256, take_apart
from .tables import CREATE, delete_run, insert_run

if TYPE_CHECKING:
    import duckdb

# Whoever wrote the SQL reads the tables, and no other file, and changes no setting.
_LOCKED: Mapping[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
_LOADING: Mapping[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


class Loaded(NamedTuple):
    """How many files were loaded, and how many were in the database already."""

    new: int
    known: int


@contextmanager
def database(path: Path | None) -> Iterator[Path]:
    """The path of the database: the one that is named, or a new one that is gone with the context."""
    if path is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="evalsi-analyze-") as folder:
        yield Path(folder) / "runs.duckdb"


def load(path: Path, files: Sequence[Path]) -> Loaded:
    """Load files into the database at a path, each once by its content; a file that cannot be read loads nothing.

    Raises:
        ConfigError: a file is no results file; or the database cannot be opened, or is none.
    """
    import duckdb

    new = known = 0
    try:
        with duckdb.connect(str(path), config=dict(_LOADING)) as connection:
            connection.execute(CREATE)
            connection.begin()
            for file in files:
                sha256 = content_sha256(file)
                if connection.execute("SELECT 1 FROM runs WHERE file_sha256 = ?", [sha256]).fetchone():
                    known += 1
                    continue
                with tempfile.TemporaryDirectory(prefix="evalsi-analyze-") as folder:
                    _insert(connection, file, sha256, take_apart(file, Path(folder)))
                new += 1
            connection.commit()
    except duckdb.IOException as error:
        raise _unusable(path, error) from error
    except duckdb.Error as error:
        raise ConfigError(
            f"The results cannot be loaded into {path}: {told(error)}.",
            "Name results files of Evals.si, and a database that `evalsi analyze` made.",
            code="config.results",
        ) from error
    return Loaded(new, known)


@contextmanager
def opened(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that only reads, and only this database; raises `ConfigError` where it cannot be opened."""
    import duckdb

    try:
        connection = duckdb.connect(str(path), read_only=True, config=dict(_LOCKED))
    except duckdb.Error as error:
        raise _unusable(path, error) from error
    with connection:
        yield connection


def _insert(connection: duckdb.DuckDBPyConnection, file: Path, sha256: str, parts: Parts) -> None:
    manifest = parts.head["manifest"]
    run_id = str(manifest.get("run_id") or f"{file.stem}-{sha256[:8]}")
    found = connection.execute("SELECT started_at = ?::TIMESTAMPTZ FROM runs WHERE run_id = ?",
                               [manifest.get("started_at"), run_id]).fetchone()  # fmt: skip
    if found is not None and found[0]:
        # The same run, written again after it went on.
        delete_run(connection, run_id)
    elif found is not None:
        # Ids are counted up on each machine, so two machines have the same ones.
        run_id = f"{run_id}@{sha256[:8]}"
    insert_run(connection, run_id, file, sha256, parts)


def _unusable(path: Path, error: Any) -> ConfigError:
    return ConfigError(
        f"The database {path} cannot be used: {told(error)}.",
        "Name a file that `evalsi analyze` made and no other process has open, or one that is not there yet.",
    )
