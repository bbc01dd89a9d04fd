"""Provide the host's SDK to pack processes whose environment has none: its two packages and nothing else."""

from __future__ import annotations

import hashlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.files.paths import cache_dir

PACKAGES = ("evalsi", "evalsi_protocol")


def ensure_runtime() -> list[Path]:
    """Return folders for the front of a pack's import path that contain only `evalsi` and `evalsi_protocol`.

    Folders that contain nothing else (such as `sdk/src` of a checkout) are used directly. Otherwise both packages are
    linked into a folder of the cache, because the host's `site-packages` would expose every package of the host.

    Raises:
        PackEnvironmentError: the SDK is not installed next to the kernel, or the cache is not writable.
    """
    packages = [_package_dir(name) for name in PACKAGES]
    parents = [package.parent for package in packages]
    if all(_lies_alone(package) for package in packages):
        return list(dict.fromkeys(parents))
    return [_linked(packages)]


def _package_dir(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        distribution = "evalsi-sdk" if name == "evalsi" else "evalsi-protocol"
        raise PackEnvironmentError(
            f"The package {name}, which packs need, is not installed next to the kernel.",
            f"Run `{sys.executable} -m pip install {distribution}`.",
            code="environment.no_sdk",
        )
    return Path(os.path.realpath(os.path.dirname(spec.origin)))


def _lies_alone(package: Path) -> bool:
    if package.parent.name != "src":
        return False
    with os.scandir(package.parent) as entries:
        return all(entry.name == package.name or not _importable(entry.name) for entry in entries)


def _importable(name: str) -> bool:
    return not name.startswith((".", "__pycache__")) and not name.endswith((".egg-info", ".dist-info"))


def _linked(packages: list[Path]) -> Path:
    key = hashlib.sha256("\0".join(map(str, packages)).encode()).hexdigest()[:16]
    folder = cache_dir() / "runtime" / key
    try:
        for package in packages:
            _link(folder / package.name, package)
    except OSError as error:
        raise PackEnvironmentError(
            f"Cannot link the SDK for packs in {folder}: {error.strerror or error}.",
            "Make that folder writable, or set EVALSI_CACHE_DIR to a writable folder.",
            code="environment.cache_unwritable",
        ) from error
    return folder


def _link(link: Path, target: Path) -> None:
    try:
        if os.readlink(link) == str(target):
            return
    except FileNotFoundError:
        link.parent.mkdir(parents=True, exist_ok=True)
    # Created under another name and renamed: the link never disappears, and concurrent processes create the same link.
    fresh = link.with_name(f".{link.name}-{os.urandom(8).hex()}")
    os.symlink(target, fresh)
    os.replace(fresh, link)
