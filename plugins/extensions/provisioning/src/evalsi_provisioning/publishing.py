"""`evalsi plugins publish`: check a release and write it into an index of packs."""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, PackError, UsageError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.packs.manifests import PROTOCOL
from evalsi_kernel.packs.pack_info import PackInfo

from .archives import is_archive
from .digests import file_sha256
from .downloads import check_url, is_url
from .pack_index import FORMAT, Listed, PackIndex, Release, order_of, read_index
from .pack_layout import lay_out

WAIT_S = 30.0


def run_publish(options: argparse.Namespace, _: Toolkit) -> int:
    """`evalsi plugins publish`."""
    archive: Path = options.archive
    if is_url(options.index):
        raise UsageError(
            f"{options.index} is an address, and an index is written as a file.", "Name the file; upload it afterwards."
        )
    pack, is_new = publish(archive, Path(options.index), options.url)
    print(f"{'listed' if is_new else 'already listed:'} {pack.name} {pack.version} in {options.index}")
    return 0


def publish(archive: Path, index: Path, url: str | None) -> tuple[PackInfo, bool]:
    """Write a release into an index file, which is made where it is not there yet.

    Args:
        archive: a wheel or an archive of the pack's folder. Nothing in it is run.
        index: the index file.
        url: the address of the archive; by default its path from the index's folder.

    Returns:
        What its manifest says, and whether the index did not list this release yet.

    Raises:
        PackError: the archive is no pack that could be added; `pack.version` for a version that the index lists with
            another file: a release does not change.
        ConfigError: `config.index`; the index cannot be read or written.
    """
    if not archive.is_file() or not is_archive(archive.name):
        raise PackError(
            f"{archive} is no archive of a pack.", "Build a wheel first: uv build --wheel", code="pack.source"
        )
    if url is not None and is_url(url):
        check_url(url)
    with tempfile.TemporaryDirectory(prefix="evalsi-publish-") as scratch:
        pack = lay_out(archive, Path(scratch, "pack"))
    order_of(pack.version)
    place = url or Path(os.path.relpath(archive.resolve(), index.resolve().parent)).as_posix()
    release = Release(version=pack.version, url=place, sha256=file_sha256(archive), protocol=PROTOCOL)
    try:
        index.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(index.with_name(f".{index.name}.lock"), timeout_s=WAIT_S):
            known = read_index(str(index)) if index.exists() else PackIndex(index=FORMAT, packs=[])
            is_new = _add(known, pack, release)
            if is_new:
                _write(index, known)
    except LockTimeout as error:
        raise ConfigError(
            f"Another process has held the index {index} for {WAIT_S:g} s.", "Try again later.", code="config.index"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"The index {index} cannot be written: {error.strerror or error}.",
            "Make its folder writable, or name another file.",
            code="config.index",
        ) from error
    return pack, is_new


def _add(index: PackIndex, pack: PackInfo, release: Release) -> bool:
    """Add a release; whether the index did not have it yet."""
    listed = next((one for one in index.packs if one.name == pack.name), None)
    if listed is None:
        listed = Listed(name=pack.name, versions=[release])
        index.packs.append(listed)
        index.packs.sort(key=lambda one: one.name)
    else:
        for one in listed.versions:
            if order_of(one.version) != order_of(release.version):
                continue
            if one.sha256 == release.sha256:
                return False
            raise PackError(
                f"The index has another file for {pack.name} {one.version}: its SHA-256 is {one.sha256[:12]}….",
                "Raise the version in plugin.toml and pyproject.toml, and build it again.",
                code="pack.version",
            )
        listed.versions.append(release)
    newest = listed.newest() or release
    if newest is release:
        listed.summary, listed.evaluators = pack.summary, [one.name for one in pack.evaluators]
    return True


def _write(path: Path, index: PackIndex) -> None:
    """Replace an index file at once, so that a reader never sees half of it."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(index.model_dump(), indent=2, ensure_ascii=False) + "\n", "utf-8")
    fresh.replace(path)
