"""Convert a pack's folder, wheel or archive into the folder that the pack runs from.

That folder contains `plugin.toml`, the code in `src/`, and for Python packs `uv.lock` (decision 0003).
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from evalsi_conformance.versions import PYPROJECT, is_same_version, project_version
from evalsi_kernel.checking.toml_tables import read_toml
from evalsi_kernel.errors import PackEnvironmentError, PackError
from evalsi_kernel.packs.catalog import MANIFEST
from evalsi_kernel.packs.manifests import manifest_error, parse_manifest
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo

from .archives import unpack
from .digests import pack_files
from .pack_lock import read_lock

LOCK = "uv.lock"


def lay_out(artifact: Path, folder: Path) -> PackInfo:
    """Create the folder of a pack and return the pack's manifest, without running any of its code.

    Args:
        artifact: a folder or an archive.
        folder: the folder to create; must not exist.

    Raises:
        PackError: `pack.archive`; `pack.manifest` with every problem and its location; `pack.name` for a name
            without a publisher.
        PackEnvironmentError: `environment.*`; the lock is missing or cannot be installed from.
    """
    wheel_version = ""
    if artifact.is_dir():
        _copy(artifact, folder, artifact.name)
    else:
        raw = folder.with_name(f"{folder.name}.raw")
        unpack(artifact, raw)
        root = _root(raw, artifact.name)
        wheel_version = _wheel_version(raw)
        _copy(root, folder, artifact.name)
        shutil.rmtree(raw)
    # Errors name the artifact's path, because the copy is deleted after an error.
    tables = read_toml(folder / MANIFEST, manifest_error)
    pack = parse_manifest(tables, artifact / MANIFEST).to_pack(folder)
    _check_name(pack)
    check_versions(pack, wheel_version)
    if pack.runtime == PYTHON:
        read_lock(_lock_bytes(pack), pack.name)
    elif not (folder / pack.module).is_file():
        raise PackError(
            f"{pack.name} names {pack.module} as what it runs, and has no such file.",
            "Ask its publisher to correct run.module, or to put the file beside plugin.toml.",
            code="pack.manifest",
        )
    return pack


def _root(raw: Path, name: str) -> Path:
    """Return the topmost folder that contains a manifest; raises `pack.manifest` if there is none or several."""
    found = sorted(raw.rglob(MANIFEST), key=lambda path: len(path.parts))
    nearest = [path.parent for path in found if len(path.parts) == len(found[0].parts)]
    if not nearest:
        raise _no_pack(name)
    if len(nearest) != 1:
        raise PackError(
            f"{name} holds {len(nearest)} files {MANIFEST} beside one another, where a pack has one.",
            "Ask its publisher for an archive of one pack.",
            code="pack.manifest",
        )
    (root,) = nearest
    is_wheel = any(raw.glob("*.dist-info")) and root != raw and not (root / "src").is_dir()
    return _from_wheel(raw, root) if is_wheel else root


def _from_wheel(raw: Path, package: Path) -> Path:
    """Rearrange an unpacked wheel: take manifest and lock out of its import package, and move the code to `src/`."""
    root = raw / ".pack"
    (root / "src").mkdir(parents=True)
    for name in (MANIFEST, LOCK, "README.md"):
        if (package / name).is_file():
            (package / name).rename(root / name)
    for entry in sorted(raw.iterdir()):
        if entry != root and not entry.name.endswith((".dist-info", ".data")):
            entry.rename(root / "src" / entry.name)
    return root


def _copy(root: Path, folder: Path, name: str) -> None:
    if not (root / MANIFEST).is_file():
        raise _no_pack(name)
    for path in pack_files(root):
        if path.is_symlink() or not path.is_file():
            raise PackError(
                f"{name} holds {path.relative_to(root)}, which is a link or a device.",
                "Put the file itself there.",
                code="pack.archive",
            )
        copy = folder / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        if os.access(path, os.X_OK):
            copy.chmod(0o755)


def _no_pack(name: str) -> PackError:
    return PackError(
        f"{name} holds no {MANIFEST}, so it is no pack.", "Name the folder that holds it.", code="pack.manifest"
    )


def _check_name(pack: PackInfo) -> None:
    if pack.is_builtin:
        raise PackError(
            f'The pack is named "{pack.name}", and plain names are for packs that come with Evals.si.',
            f'Ask its publisher to name it "publisher/{pack.name}".',
            code="pack.name",
        )


def check_versions(pack: PackInfo, wheel_version: str = "") -> None:
    """Check that plugin.toml, pyproject.toml and the wheel have the same version.

    Raises:
        PackError: `pack.manifest`; they differ.
    """
    others = {"its wheel": wheel_version, PYPROJECT: project_version(pack.folder) or ""}
    for where, version in others.items():
        if version and not is_same_version(version, pack.version):
            raise PackError(
                f"The pack {pack.name} is version {pack.version} in {MANIFEST}, and {version} in {where}.",
                "Ask its publisher to write the same version in both and to release it again.",
                code="pack.manifest",
            )


def _wheel_version(raw: Path) -> str:
    """Return the version of an unpacked wheel; "" for another archive."""
    for info in raw.glob("*.dist-info/METADATA"):
        for line in info.read_text("utf-8", "replace").splitlines():
            if line.lower().startswith("version:"):
                return line.partition(":")[2].strip()
    return ""


def _lock_bytes(pack: PackInfo) -> bytes:
    try:
        return (pack.folder / LOCK).read_bytes()
    except OSError as error:
        raise PackEnvironmentError(
            f"The pack {pack.name} has no {LOCK}, so what it would run with is not settled.",
            f"Ask its publisher to ship {LOCK} beside plugin.toml (`uv lock` makes it).",
            code="environment.no_lock",
        ) from error
