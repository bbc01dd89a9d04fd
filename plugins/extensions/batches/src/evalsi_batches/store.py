"""Batches that were handed in, a file each: what was asked of whom, so that a later run gets what is paid for.

Who looks after a batch holds a lock on its file for as long as it lives, by which others tell one that was left behind.
It must not know a provider, nor how a batch goes on.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Ask
from evalsi_kernel.errors import CacheError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.files.paths import cache_dir

# Raise it when a kernel of before could not read the file any more.
VERSION = 1
WAIT_S = 30.0
"""How long another process may hold the folder."""
MAX_AGE_S = 30 * 24 * 3600.0
"""After so long no provider has the results of a batch any more."""


class BatchFile(NamedTuple):
    """A batch on file.

    Args:
        name: of the file; also the tag under which the batch is handed in.
        identity: of the model.
        asks: by their custom ids.
        created_s: when it was about to be handed in, in seconds of Unix time.
        is_cached: its replies go to the cache. A run without one asks anew, so it shares none with a run that has one.
        batch_id: the provider's; None until it is known.
    """

    name: str
    identity: Mapping[str, str]
    asks: Mapping[str, Ask]
    created_s: float
    is_cached: bool
    batch_id: str | None = None


def default_folder() -> Path:
    """Where batches are noted: `judge/batches` in the cache folder; raises `ConfigError` without a home."""
    return cache_dir() / "judge" / "batches"


class BatchStore:
    """The files of one folder, as one run sees them. Every method waits for a disk, and may raise `CacheError`.

    Args:
        folder: made for its owner alone, since the files hold what is asked.

    Attributes:
        unreadable: files that are no notes of a batch, or of a newer version; they are left alone.
    """

    def __init__(self, folder: Path) -> None:
        self.unreadable: set[Path] = set()
        self._folder = folder
        self._held: dict[str, int] = {}

    def open(self) -> None:
        """Make the folder, and see that it can be used; raises `CacheError` with `cache.unusable`."""
        with self._faults_told():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.alone():
            pass

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep others from noting batches meanwhile."""
        with self._faults_told(), exclusive_lock(self._folder / "lock", timeout_s=WAIT_S):
            yield

    def create(self, identity: Mapping[str, str], asks: Mapping[str, Ask], *, is_cached: bool) -> BatchFile:
        """Note that a batch is about to be handed in."""
        file = BatchFile(f"evalsi-{secrets.token_hex(12)}", identity, asks, time.time(), is_cached)
        self.write(file)
        return file

    def write(self, file: BatchFile) -> None:
        """Write a file as a whole or not at all, and look after it from now on."""
        path = self._path(file.name)
        temporary = path.with_suffix(".tmp")
        with self._faults_told():
            descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                # The lock goes with the file to its name, so that there is no moment without one.
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                with open(descriptor, "wb", closefd=False) as stream:
                    stream.write(_to_bytes(file))
                os.fsync(descriptor)
                os.replace(temporary, path)
            except BaseException:
                os.close(descriptor)
                with suppress(OSError):
                    temporary.unlink()
                raise
        self.let_go(file.name)
        self._held[file.name] = descriptor

    def all(self) -> list[BatchFile]:
        """Every file that can be read; those that are too old to be of use are removed."""
        found = []
        with self._faults_told():
            for path in sorted(self._folder.glob("evalsi-*")):
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > MAX_AGE_S:
                        path.unlink()
                    elif path.suffix == ".json" and (file := self.read(path.stem)) is not None:
                        found.append(file)
        return found

    def read(self, name: str) -> BatchFile | None:
        """One file; None where it is gone or cannot be read."""
        path = self._path(name)
        try:
            with self._faults_told():
                return _from_bytes(name, path.read_bytes())
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.unreadable.add(path)
            return None

    def claim(self, name: str) -> bool:
        """Look after a batch that was left behind; False where someone does, or it is gone."""
        if name in self._held:
            return True
        path = self._path(name)
        try:
            with self._faults_told():
                descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            is_ours = os.path.samestat(os.fstat(descriptor), os.stat(path))
        except (BlockingIOError, FileNotFoundError):
            is_ours = False
        if is_ours:
            self._held[name] = descriptor
        else:
            os.close(descriptor)
        return is_ours

    def remove(self, name: str) -> None:
        """Forget a batch, here and for others."""
        with self._faults_told():
            self._path(name).unlink(missing_ok=True)
        self.let_go(name)

    def let_go(self, name: str) -> None:
        """Leave a batch behind, for whoever asks the same."""
        descriptor = self._held.pop(name, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Leave all batches behind that are not removed."""
        for name in list(self._held):
            self.let_go(name)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        """What goes wrong as an error for the user; that a file is gone is none."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, LockTimeout) as error:
            why = getattr(error, "strerror", None) or "another process holds it"
            raise CacheError(
                f"Batches cannot be noted in {self._folder} ({why}), and an interrupted run could not pick them up.",
                "Correct the folder, or name another with EVALSI_CACHE_DIR.",
            ) from error


def _to_bytes(file: BatchFile) -> bytes:
    asks = {name: ask._asdict() for name, ask in file.asks.items()}
    return json.dumps(file._asdict() | {"version": VERSION, "asks": asks}).encode()


def _from_bytes(name: str, content: bytes) -> BatchFile:
    """Raises whatever a file of another form leads to."""
    body: dict[str, Any] = json.loads(content)
    if body.pop("version") != VERSION:
        raise ValueError("another version")
    asks = {custom_id: Ask(**ask) for custom_id, ask in body["asks"].items()}
    return BatchFile(**{**body, "asks": asks, "name": name})
