"""Read and write `evalsi.lock`: the packs of a project, their digests and their granted permissions.

It is a JSON file in the project's folder, to be committed with the project's code.
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
    """Permissions that the project granted to a pack; the fields are those of `Permissions`."""

    judge: list[str]
    asks_per_record: dict[str, int | None]
    network: list[str]
    files: list[str]
    secrets: list[str]
    memory_mb: int


class Entry(_Part):
    """One pack of a project.

    Args:
        version: version of the pack.
        origin: kind of source: `index`, `path`, `url` or `service`.
        source: location of the artifact or service: an address, or a path relative to the project's folder.
        artifact_sha256: digest of the archive, or of the files of a folder.
        manifest_sha256: digest of plugin.toml.
        lock_sha256: digest of uv.lock; None for a pack without an environment.
        files_sha256: digest of all files that the pack runs from.
        evaluators: name → version.
        granted: granted permissions.
        options: options for reaching a service, such as certificate files.
        signer: fingerprint of the key that signed the release; None if it is unsigned.
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
        """Return the granted permissions."""
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
        lock: version of the file format.
        packs: full name → entry.
    """

    lock: int
    packs: dict[Annotated[str, Field(pattern=f"^{PACK_NAME}$")], Entry]


def project_of(folder: Path) -> Path:
    """Return the folder of the project that contains the folder of an added pack."""
    return folder.parents[2]


def pack_folder(project: Path, name: str) -> Path:
    """Return the folder of a pack in a project; it is unique because names contain no plus sign."""
    return project / PROJECT_PACKS / name.replace("/", "+")


def read_project_lock(project: Path) -> ProjectLock:
    """Read the evalsi.lock of a project; without the file, return an empty lock.

    Raises:
        ConfigError: `config.evalsi_lock`; the file cannot be read, is damaged, lacks a digest or has a newer format.
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
    """Lock the project and yield its evalsi.lock for changes; they are written if the block ends without an error.

    Raises:
        ConfigError: as in `read_project_lock`, or `config.evalsi_lock` if another process holds the lock for too long.
        OutputError: evalsi.lock cannot be written.
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
