"""Get a released pack as a folder, from a folder or a wheel.

A wheel has plugin.toml and uv.lock in its import package.
"""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath
from typing import Final

from evalsi_conformance.manifest import MANIFEST

LOCK: Final = "uv.lock"
MOST_BYTES: Final = 200_000_000
_LINK: Final = 0o120000


class BadWheel(Exception):
    """A file is not a wheel of a pack. The message includes a hint."""


def lay_out_wheel(wheel: Path, folder: Path) -> Path:
    """Extract a wheel's pack into a folder, and return the folder.

    Raises:
        BadWheel: it is not a wheel, has no plugin.toml in its package, or has a path outside of the archive.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = archive.infolist()
            _check(members, wheel)
            manifests = [one.filename for one in members if PurePosixPath(one.filename).name == MANIFEST]
            if len(manifests) != 1:
                raise BadWheel(f"{wheel.name} has {len(manifests)} plugin.toml. Name the wheel of a pack.")
            package = PurePosixPath(manifests[0]).parent
            for member in members:
                _write(archive, member, package, folder)
    except (OSError, zipfile.BadZipFile) as error:
        raise BadWheel(f"{wheel} cannot be read as a wheel: {error}. Name a .whl file or a folder.") from error
    return folder


def _check(members: list[zipfile.ZipInfo], wheel: Path) -> None:
    if sum(one.file_size for one in members) > MOST_BYTES:
        raise BadWheel(f"{wheel.name} unpacks to more than {MOST_BYTES / 1e6:g} MB. Name the wheel of a pack.")
    for one in members:
        path = PurePosixPath(one.filename)
        if path.is_absolute() or ".." in path.parts or "\\" in one.filename or one.external_attr >> 16 & _LINK == _LINK:
            raise BadWheel(
                f"{wheel.name} holds {one.filename!r:.80}, a path outside of itself or a link. Do not use it."
            )


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, package: PurePosixPath, folder: Path) -> None:
    path = PurePosixPath(member.filename)
    if member.is_dir():
        return
    inside = path.parent == package and path.name in (MANIFEST, LOCK, "conformance.toml", "samples.jsonl")
    target = folder / path.name if inside else folder / "src" / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(archive.read(member))
