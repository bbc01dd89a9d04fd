"""`evalsi.lock`: which packs a project has added, of which bytes, and what it granted each of them.

One file of JSON in the project's folder, meant to be kept with the project's code. It must not know how a pack is
fetched, laid out or run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.files.atomic_file import atomic_file
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.files.paths import PROJECT_PACKS
from evalsi_kernel.packs.refs import PACK_NAME, VERSION

from . import PROJECT_LOCK
from .permissions import Permissions

NAME = PROJECT_LOCK
FORMAT = 1
MAX_BYTES = 4 * 1024 * 1024
WAIT_S = 120.0
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class Granted(_Part):
    """What the project granted a pack; the fields are those of `Permissions`."""

    judge: list[str]
    asks_per_record: dict[str, int | None]
    network: list[str]
    files: list[str]
    secrets: list[str]
    memory_mb: int


class Entry(_Part):
    """One pack of a project.

    Args:
        version: of the pack.
        origin: how it was named when it was added: an `index`, a `path`, a `url` or a `service`.
        source: where its artifact lies, or where it runs: an address, or a path from the project's folder.
        artifact_sha256: digest of the archive; of a folder that of its files.
        manifest_sha256: digest of its plugin.toml.
        lock_sha256: digest of its uv.lock; None for a pack that needs no environment.
        files_sha256: digest of all the files that it is run from.
        evaluators: name → version.
        granted: what it may do.
        options: how a service is reached: files and names that were given beside its address.
        signer: fingerprint of the key that signed the release; None for one that is unsigned.
    """

    version: Annotated[str, Field(pattern=f"^{VERSION}$")]
    origin: Annotated[str, Field(pattern="^(index|path|url|service)$")]
    source: Annotated[str, Field(min_length=1)]
    artifact_sha256: _Sha256
    manifest_sha256: _Sha256
    lock_sha256: _Sha256 | None
    files_sha256: _Sha256
    evaluators: dict[str, str]
    granted: Granted
    options: dict[str, str] = Field(default_factory=dict, exclude_if=lambda options: not options)
    signer: _Sha256 | None = Field(default=None, exclude_if=lambda signer: signer is None)

    def permissions(self) -> Permissions:
        """What was granted."""
        one = self.granted
        return Permissions(
            tuple(one.judge),
            one.asks_per_record,
            tuple(one.network),
            tuple(one.files),
            tuple(one.secrets),
            one.memory_mb,
        )


class ProjectLock(_Part):
    """The whole file.

    Args:
        lock: the format of the file.
        packs: full name → what was added under it.
    """

    lock: int
    packs: dict[Annotated[str, Field(pattern=f"^{PACK_NAME}$")], Entry]


def project_of(folder: Path) -> Path:
    """The folder of the project whose pack lies in a folder."""
    return folder.parents[2]


def pack_folder(project: Path, name: str) -> Path:
    """Where a pack of a project lies; no two names share a folder, since no name has a plus."""
    return project / PROJECT_PACKS / name.replace("/", "+")


def read_project_lock(project: Path) -> ProjectLock:
    """What the project's folder says; nothing where it has no evalsi.lock.

    Raises:
        ConfigError: `config.evalsi_lock`; it cannot be read, is damaged, lacks a digest, or is of a newer version.
    """
    path = project / NAME
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ProjectLock(lock=FORMAT, packs={})
    except OSError as error:
        raise _fault(path, f"cannot be read: {error.strerror}", "Check that it is a file that you may read.") from error
    if len(raw) > MAX_BYTES:
        raise _fault(path, f"is larger than {MAX_BYTES // 1_000_000} MB", "Take it from your version control again.")
    try:
        tables = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _fault(path, f"is damaged: {error}", "Take it from your version control again.") from error
    number = tables.get("lock") if isinstance(tables, dict) else None
    if type(number) is int and number > FORMAT:
        raise _fault(path, f"is of format {number}, and this version knows {FORMAT}", "Upgrade Evals.si.")
    try:
        return ProjectLock.model_validate(tables)
    except ValidationError as error:
        told = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'it'}: {one['msg']}" for one in error.errors())
        raise _fault(path, f"is damaged: {told}", "Take it from your version control again.") from error


@contextmanager
def changing(project: Path) -> Iterator[ProjectLock]:
    """What the project's folder says, to be changed by one process at a time; written when the block ends well.

    Raises:
        ConfigError: as `read_project_lock`, or `config.evalsi_lock` where another process does not come to an end.
        OutputError: it cannot be written.
        PackError: `pack.store`; the folder of packs cannot be written.
    """
    packs = project / PROJECT_PACKS
    try:
        packs.mkdir(parents=True, exist_ok=True)
        held = exclusive_lock(packs / ".lock", timeout_s=WAIT_S)
        with held:
            lock = read_project_lock(project)
            before = lock.model_dump()
            yield lock
            if lock.model_dump() != before:
                _write(project / NAME, lock.model_dump())
    except LockTimeout as error:
        raise _fault(project / NAME, "is held by another process that adds packs", "Try again later.") from error
    except OSError as error:
        raise PackError(
            f"{packs} cannot be written: {error.strerror or error}.",
            "Make that folder writable, or free some space.",
            code="pack.store",
        ) from error


def _write(path: Path, tables: Mapping[str, Any]) -> None:
    ordered = {**tables, "packs": dict(sorted(tables["packs"].items()))}
    with atomic_file(path) as file:
        file.write(json.dumps(ordered, indent=2, ensure_ascii=False).encode() + b"\n")


def _fault(path: Path, why: str, hint: str) -> ConfigError:
    return ConfigError(f"{path} {why}.", hint, code="config.evalsi_lock")
