"""Resolve what a user names as a pack (folder, archive, address, service or name in an index) and fetch it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from evalsi_kernel.errors import PackError, UsageError
from evalsi_kernel.packs.refs import PACK_NAME, VERSION

from .addresses import is_address, read_address
from .archives import TARS, ZIPS, is_archive
from .attaching import ORIGIN, write_attached
from .digests import file_sha256, pack_sha256
from .downloads import check_url, fetch, is_git, is_url, path_of
from .pack_index import Signature, address_of, find_release, index_place, read_index

_NAME = re.compile(rf"{PACK_NAME}(?:\s*==\s*{VERSION})?")
_PATH_STARTS = (".", "/", "~")


class Source(NamedTuple):
    """Location of an artifact.

    Args:
        origin: kind of location: "index", "path", "url" or "service".
        place: an address, or a path, relative to the project's folder if possible.
        sha256: digest in the index; "" if unknown.
        name: name of the pack in the index; "" for other origins.
        options: options for reaching a service, see `attaching`.
        shown: text to show to the user, if different from `place`.
        signature: the publisher's signature in the index.
    """

    origin: str
    place: str
    sha256: str = ""
    name: str = ""
    options: Mapping[str, str] = MappingProxyType({})
    shown: str = ""
    signature: Signature | None = None


class Artifact(NamedTuple):
    """A local file or folder and its digest."""

    path: Path
    sha256: str


def source_of(word: str, project: Path, index: str | None) -> Source:
    """Resolve the user's word for a pack to a source.

    Args:
        word: the user's input; a path is relative to the current folder.
        project: the project's folder.
        index: place of the index; None uses the environment variable.

    Raises:
        UsageError: the word is not a valid source.
        ConfigError, PackError: the index cannot be read or does not list the pack.
    """
    if is_address(word):
        return Source(ORIGIN, str(read_address(word)))
    if is_git(word):
        raise UsageError(
            f"{word} is a git repository, and packs are added from folders, archives and indexes.",
            "Clone it and name the folder (git clone ADDRESS FOLDER, evalsi plugins add ./FOLDER), "
            "or give the https address of an archive or a wheel of a release.",
        )
    if word.lower().startswith("file:"):
        word = path_of(word)
    if is_url(word):
        return Source("url", word)
    if word.startswith(_PATH_STARTS) or is_archive(word):
        named = os.path.expanduser(word)
        place = Path(os.path.relpath(os.path.abspath(named), project)).as_posix()
        return Source("path", place, shown=named if os.path.isabs(named) else "")
    if not _NAME.fullmatch(word):
        raise UsageError(
            f'"{word}" is neither a pack\'s name nor a path nor an address.',
            "Write publisher/name, publisher/name==1.2, ./FOLDER, ./FILE.whl or https://….",
        )
    place = index_place(index)
    listed, release = find_release(read_index(place), place, word)
    address = address_of(release, place)
    if not is_url(address):
        address = Path(os.path.relpath(os.path.abspath(address), project)).as_posix()
    return Source("index", address, release.sha256, listed.name, signature=release.signature)


def obtain(source: Source, project: Path, folder: Path) -> Artifact:
    """Return the artifact of a source, downloading it if necessary.

    Args:
        source: the location.
        project: folder to which a relative path refers.
        folder: folder for downloads.

    Raises:
        PackError: `pack.source`; the artifact is missing, is not an archive, or does not match the index's digest.
        PackEnvironmentError: a service cannot be reached.
    """
    if source.origin == ORIGIN:
        path = folder / "service"
        path.mkdir()
        write_attached(source.place, source.options, project, path)
    elif is_url(source.place):
        check_url(source.place)
        name = os.path.basename(urlsplit(source.place).path)
        if not is_archive(name):
            raise _no_archive(source.place)
        path = folder / name
        fetch(source.place, path)
    else:
        path = Path(os.path.abspath(project / source.place))
        if not path.exists():
            raise PackError(f"{path} is not there.", "Check the path.", code="pack.source")
        if not path.is_dir() and not is_archive(path.name):
            raise _no_archive(str(path))
    try:
        sha256 = pack_sha256(path) if path.is_dir() else file_sha256(path)
    except OSError as error:
        raise PackError(f"{path} cannot be read: {error.strerror}.", "Check the path.", code="pack.source") from error
    if source.sha256 and sha256 != source.sha256:
        raise PackError(
            f"{source.place} is not what its index says: its SHA-256 is {sha256}, not {source.sha256}.",
            "Tell whoever keeps the index; do not use the file.",
            code="pack.source",
        )
    return Artifact(path, sha256)


def _no_archive(place: str) -> PackError:
    return PackError(
        f"{place} is no archive of a pack.", f"Name one that ends in {', '.join((*ZIPS, *TARS))}.", code="pack.source"
    )
