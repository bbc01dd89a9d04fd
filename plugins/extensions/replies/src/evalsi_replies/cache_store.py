"""The file of the cache of model replies: its table, how it is opened, and what is wrong where it cannot be.

It must not know who reads or writes replies, nor what a run does when there is no cache.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from evalsi_kernel.errors import CacheError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.files.paths import cache_dir

# Kept in the file's `user_version`. Raise it when a kernel of before could not read or write the file any more.
VERSION = 1
WAIT_S = 10.0
"""How long a file that another process holds is waited for."""

# The narrow columns come first, so that reading them does not follow a long reply through its pages. The index holds
# all that is counted and pruned by, so that neither reads a reply at all. `created` is in seconds, `used` in hours.
_SCHEMA = """
CREATE TABLE replies (
    digest TEXT PRIMARY KEY NOT NULL,
    model TEXT NOT NULL,
    created INTEGER NOT NULL,
    used INTEGER NOT NULL,
    size INTEGER NOT NULL,
    fields BLOB NOT NULL,
    reply BLOB NOT NULL
);
CREATE INDEX replies_by_use ON replies (used, size, model, created);
"""


def default_cache_path() -> Path:
    """Where replies are kept: `judge/replies.sqlite` in the cache folder; raises `ConfigError` without a home."""
    return cache_dir() / "judge" / "replies.sqlite"


def _create_private(path: Path) -> None:
    """Create the file for its owner alone, if there is none; SQLite gives its side files the same mode.

    A file that exists is not even opened: closing it would release the locks that this process holds on it.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))


def connect(path: Path, *, wait_s: float = WAIT_S, may_create: bool = True) -> sqlite3.Connection:
    """A connection in which each statement is a transaction of its own, unless one is begun.

    Args:
        path: of the file; its folder is made for its owner alone, since replies hold what was asked about.
        wait_s: how long a statement waits for another process.
        may_create: whether a file that is absent is made.

    Raises:
        CacheError: the file is damaged (cache.corrupt), was written by a newer version (cache.newer), or cannot be
            opened, locked or written, or holds something else (cache.unusable).
    """
    try:
        if may_create:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _create_private(path)
        where = f"{path.absolute().as_uri()}?mode={'rwc' if may_create else 'rw'}"
        connection = sqlite3.connect(where, uri=True, timeout=wait_s, isolation_level=None, check_same_thread=False)
    except (sqlite3.Error, OSError) as error:
        raise fault_of(path, error) from error
    try:
        _prepare(connection, path, wait_s)
    except (sqlite3.Error, OSError, LockTimeout) as error:
        connection.close()
        raise fault_of(path, error) from error
    except CacheError:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path, *, wait_s: float = WAIT_S) -> sqlite3.Connection | None:
    """A connection that cannot write; None where there is no file, or one that nothing was ever written to.

    Raises:
        CacheError: as `connect` does.
    """
    try:
        if not path.exists():
            return None
        where = f"{path.absolute().as_uri()}?mode=ro"
        connection = sqlite3.connect(where, uri=True, timeout=wait_s, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise fault_of(path, error) from error
    try:
        version = _version(connection)
        _check_version(version, path)
    except sqlite3.Error as error:
        connection.close()
        raise fault_of(path, error) from error
    except CacheError:
        connection.close()
        raise
    if version == 0:
        connection.close()
        return None
    return connection


def lock_path(path: Path) -> Path:
    """The file whose lock guards that a cache file is made, or set aside, by one process only."""
    return path.with_name(f"{path.name}.lock")


def is_busy(error: Exception) -> bool:
    """Whether another process held the file for too long."""
    return isinstance(error, LockTimeout) or _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def fault_of(path: Path, error: Exception, *, done: str = "used") -> CacheError:
    """The sentence, the hint and the code for what SQLite or the system says of a cache file that was to be `done`."""
    code = _code(error)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        message = f"The cache of model replies is damaged: {path} ({error})."
        return CacheError(
            message, "The next run that asks a model sets it aside and begins a new one.", code="cache.corrupt"
        )
    if is_busy(error):
        reason, hint = "another process holds it", "Wait until it is done, or end it."
    elif code == sqlite3.SQLITE_FULL:
        reason, hint = "the disk is full", "Free some space, or set EVALSI_CACHE_DIR to a folder elsewhere."
    else:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        hint = "Make it and its folder writable, or set EVALSI_CACHE_DIR to a folder elsewhere."
    return CacheError(f"The cache of model replies cannot be {done}: {path} ({reason}).", hint)


def _code(error: Exception) -> int | None:
    """SQLite's primary error code; the extended one has details in its higher bytes."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _prepare(connection: sqlite3.Connection, path: Path, wait_s: float) -> None:
    if _version(connection) == 0:
        _create(connection, path, wait_s)
    _check_version(_version(connection), path)
    # A commit then survives a crash of the process, though not always one of the machine; it never damages the file.
    connection.execute("PRAGMA synchronous=NORMAL")
    # Both trees, so that a file that was cut off is known at once.
    connection.execute("SELECT reply FROM replies ORDER BY digest DESC LIMIT 1").fetchall()
    connection.execute("SELECT used FROM replies ORDER BY used DESC LIMIT 1").fetchall()


def _check_version(version: int, path: Path) -> None:
    if version > VERSION:
        raise CacheError(
            f"The cache of model replies was written by a newer version: {path} has version {version}, this evalsi "
            f"knows {VERSION}.",
            "Update evalsi, or set EVALSI_CACHE_DIR to another folder.",
            code="cache.newer",
        )


def _create(connection: sqlite3.Connection, path: Path, wait_s: float) -> None:
    # Two connections that turn one file to a write-ahead log at once fail without waiting; so they come in turn here.
    with exclusive_lock(lock_path(path), timeout_s=wait_s):
        if _version(connection) != 0:
            return
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
            raise CacheError(
                f"The cache of model replies cannot be used: {path} is a database of something else.",
                "Move it elsewhere, or set EVALSI_CACHE_DIR to another folder.",
            )
        # Before anything is written: pruning then gives back pages in steps, and never has to copy the whole file.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL").fetchall()
        connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(version)


def files_of(path: Path) -> list[Path]:
    """What makes up a cache: the database and its write-ahead log, which comes and goes with those who use it."""
    return [path, path.with_name(f"{path.name}-wal")]
