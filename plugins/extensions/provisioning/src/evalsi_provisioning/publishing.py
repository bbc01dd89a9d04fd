"""`evalsi plugins publish`: check a release and write it into an index of packs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, PackError, UsageError
from evalsi_kernel.files.file_lock import LockTimeout, exclusive_lock
from evalsi_kernel.packs.manifests import PROTOCOL
from evalsi_kernel.packs.pack_info import PackInfo

from .adding import signed_by
from .archives import is_archive
from .digests import file_sha256
from .downloads import check_url, is_url
from .pack_index import FORMAT, Listed, PackIndex, Release, order_of, read_index
from .pack_layout import lay_out
from .signatures import read_key, sign

WAIT_S = 30.0


def run_publish(options: argparse.Namespace, _: Toolkit) -> int:
    """Run `evalsi plugins publish`."""
    archive: Path = options.archive
    if is_url(options.index):
        raise UsageError(
            f"{options.index} is an address, and an index is written as a file.", "Name the file; upload it afterwards."
        )
    done = publish(archive, Path(options.index), options.url, options.sign)
    verb = "listed" if done.is_new else "signed" if done.is_changed else "already listed:"
    print(f"{verb} {done.pack.name} {done.pack.version} in {options.index}, {signed_by(done.signer)}")
    if done.other_signer:
        print(
            f"note: earlier versions are {signed_by(done.other_signer)}: whoever has one of them will refuse this one",
            file=sys.stderr,
        )
    return 0


class Published(NamedTuple):
    """The result of publishing a release.

    Args:
        pack: the pack's manifest.
        is_new: the index did not list this release before.
        is_changed: the index file was written.
        signer: fingerprint of the key that signed the release; None if it is unsigned.
        other_signer: fingerprint of a different key that signed another version; None if there is none.
    """

    pack: PackInfo
    is_new: bool
    is_changed: bool
    signer: str | None
    other_signer: str | None


def publish(archive: Path, index: Path, url: str | None, key_file: Path | None = None) -> Published:
    """Write a release into an index file; create the file if it does not exist.

    Args:
        archive: a wheel or an archive of the pack's folder; its code is not run.
        index: the index file.
        url: address of the archive; by default its path relative to the index's folder.
        key_file: private key to sign the release with; None adds no signature and keeps an existing one.

    Raises:
        PackError: the archive is not a valid pack; `pack.version` if the index lists another file for this version;
            `pack.signature` if another key has signed this release.
        ConfigError: `config.index` if the index cannot be read or written; `config.signing_key`, see `read_key`.
    """
    if not archive.is_file() or not is_archive(archive.name):
        raise PackError(
            f"{archive} is no archive of a pack.", "Build a wheel first: uv build --wheel", code="pack.source"
        )
    if url is not None and is_url(url):
        check_url(url)
    key = None if key_file is None else read_key(key_file)
    with tempfile.TemporaryDirectory(prefix="evalsi-publish-") as scratch:
        pack = lay_out(archive, Path(scratch, "pack"))
    order_of(pack.version)
    place = url or Path(os.path.relpath(archive.resolve(), index.resolve().parent)).as_posix()
    sha256 = file_sha256(archive)
    release = Release(
        version=pack.version,
        url=place,
        sha256=sha256,
        protocol=PROTOCOL,
        signature=None if key is None else sign(key, pack.name, pack.version, sha256),
    )
    try:
        index.parent.mkdir(parents=True, exist_ok=True)
        with exclusive_lock(index.with_name(f".{index.name}.lock"), timeout_s=WAIT_S):
            known = read_index(str(index)) if index.exists() else PackIndex(index=FORMAT, packs=[])
            before = known.model_dump()
            listed, is_new = _add(known, pack, release)
            is_changed = known.model_dump() != before
            if is_changed:
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
    signers = {one.version: one.signature.fingerprint for one in listed.versions if one.signature is not None}
    signer = signers.pop(pack.version, None)
    other = next((one for one in reversed(signers.values()) if one != signer), None)
    return Published(pack, is_new, is_changed, signer, other if is_changed else None)


def _add(index: PackIndex, pack: PackInfo, release: Release) -> tuple[Listed, bool]:
    """Add a release; return its pack, and whether the release is new to the index."""
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
                _sign_again(one, release, pack)
                return listed, False
            raise PackError(
                f"The index has another file for {pack.name} {one.version}: its SHA-256 is {one.sha256[:12]}….",
                "Raise the version in plugin.toml and pyproject.toml, and build it again.",
                code="pack.version",
            )
        listed.versions.append(release)
    newest = listed.newest() or release
    if newest is release:
        listed.summary, listed.evaluators = pack.summary, [one.name for one in pack.evaluators]
    return listed, True


def _sign_again(listed: Release, release: Release, pack: PackInfo) -> None:
    """Add a signature to a listed release; raises `pack.signature` if another key has signed it."""
    if release.signature is None:
        return
    if listed.signature is not None and listed.signature.fingerprint != release.signature.fingerprint:
        raise PackError(
            f"The index has {pack.name} {pack.version} {signed_by(listed.signature.fingerprint)}, another key.",
            "Sign it with that key, or publish a new version.",
            code="pack.signature",
        )
    listed.signature = release.signature


def _write(path: Path, index: PackIndex) -> None:
    """Replace an index file atomically."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(index.model_dump(), indent=2, ensure_ascii=False) + "\n", "utf-8")
    fresh.replace(path)
