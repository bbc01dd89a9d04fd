"""Add packs to a project, update and remove them.

A pack is fetched, checked, granted permissions and started once; the project is only changed if all of it succeeds.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.files.paths import PROJECT_PACKS
from evalsi_kernel.packs.catalog import MANIFEST
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.launches import launch_unrestricted
from evalsi_kernel.planning.reattach import SERVICE
from evalsi_kernel.supervision.pack_description import describe

from .admission import differences, holding
from .archives import is_archive
from .digests import file_sha256, folder_sha256, optional_sha256
from .pack_index import order_of
from .pack_layout import LOCK, lay_out
from .pack_sources import Artifact, Source, obtain
from .permissions import Permissions, permissions_of, widened, widened_kinds
from .project_lock import NAME, Entry, Granted, changing, pack_folder, read_project_lock

_COMPARED = ("version", "scope", "needs", "asks")


class Proposal(NamedTuple):
    """A pack that is about to be added or updated.

    Args:
        pack: the pack's manifest.
        entry: the new entry in evalsi.lock.
        before: the current entry; None if there is none.
        differences: a line for each difference from the current entry.
        wider: a line for each requested permission that is not granted yet.
    """

    pack: PackInfo
    entry: Entry
    before: Entry | None
    differences: tuple[str, ...]
    wider: tuple[str, ...]


class Rules(NamedTuple):
    """What an addition may change, and how it is checked.

    Args:
        may_record: allow new entries in evalsi.lock (False under `--locked`).
        may_change: allow changes to existing entries.
        may_downgrade: allow a version older than the current one.
        start: build the environment, start the pack and compare its description with the manifest.
        key: fingerprint of the key that must have signed the release; "" uses the key in evalsi.lock, if any.
    """

    may_record: bool = True
    may_change: bool = False
    may_downgrade: bool = False
    start: bool = True
    key: str = ""


Settle = Callable[[Proposal], None]
"""Callback that reviews a proposal; raises `PackError` if its permissions are not granted."""


def add(source: Source, project: Path, rules: Rules, settle: Settle, on_progress: Callable[[str], None]) -> Proposal:
    """Add the pack of a source to a project, or update it.

    Raises:
        PackError: `pack.source`, `.archive`, `.manifest`, `.name`, `.not_added` and `.changed` under these rules,
            `.downgrade`, `.version`, `.permissions`, `.signature`, `.store`.
        PackEnvironmentError: the environment cannot be built.
        ConfigError: `config.evalsi_lock`; the lock cannot be read.
    """
    with _staging(project) as staging:
        artifact = obtain(source, project, staging)
        pack = lay_out(artifact.path, staging / "pack")
        if source.name not in ("", pack.name):
            raise PackError(
                f"{source.place} is listed as {source.name}, and its manifest says {pack.name}.",
                "Tell whoever keeps the index.",
                code="pack.manifest",
            )
        if pack.runtime == SERVICE and source.origin != SERVICE:
            # Adding files does not ask for consent to send records to the machine that the manifest names.
            raise PackError(
                f"The pack {pack.name} runs elsewhere as a service, and files do not say where records may go.",
                "Ask its publisher for the address, and attach it: evalsi plugins attach ADDRESS",
                code="pack.source",
            )
        if source.signature is not None:
            from .signatures import verify  # Slow to import, and most releases are unsigned.

            verify(source.signature, pack.name, pack.version, artifact.sha256)
        proposal = _proposal(pack, source, artifact, read_project_lock(project).packs.get(pack.name))
        if source.signature is not None or rules.may_change or rules.key:
            _check_signer(proposal, rules.key)
        _check(proposal, rules, project)
        settle(proposal)
        if rules.start:
            check_process(pack, permissions_of(pack), on_progress)
        with changing(project) as lock:
            now = lock.packs.get(pack.name)
            if now not in (proposal.before, proposal.entry):
                raise ConfigError(
                    f"{project / NAME} has changed meanwhile in what it says of {pack.name}.",
                    "Look at it, and try again.",
                    code="config.evalsi_lock",
                )
            _swap(pack.folder, pack_folder(project, pack.name), staging)
            lock.packs[pack.name] = proposal.entry
    return proposal


def remove(name: str, project: Path) -> None:
    """Remove a pack's folder and its entry in evalsi.lock.

    Raises:
        ConfigError: `config.unknown_pack`; evalsi.lock does not name the pack.
    """
    with changing(project) as lock:
        if lock.packs.pop(name, None) is None:
            raise not_recorded(name, lock.packs, project)
        with _staging(project) as staging:
            folder = pack_folder(project, name)
            if folder.exists():
                folder.rename(staging / "gone")


def not_recorded(name: str, packs: Mapping[str, Entry], project: Path) -> ConfigError:
    """Return the error for a name that is not in evalsi.lock."""
    hint = did_you_mean(name, list(packs)) or (f"It has {', '.join(packs)}." if packs else "It has none.")
    return ConfigError(f"{project / NAME} has no pack {name}.", hint, code="config.unknown_pack")


def check_process(pack: PackInfo, granted: Permissions, on_progress: Callable[[str], None]) -> None:
    """Start a pack with its granted permissions and check that its description matches its manifest.

    Raises:
        PackError: `pack.manifest` if they differ; another code if the pack does not start.
        PackEnvironmentError: the environment cannot be built.
    """
    said = {
        str(table["name"]): table for table in describe(holding(pack, granted)(launch_unrestricted(pack, on_progress)))
    }
    declared = {one.name: one.to_dict() for one in pack.evaluators}
    lines = []
    for name in sorted(said.keys() | declared.keys()):
        if name not in said or name not in declared:
            lines.append(f"{name}: {'only its manifest has it' if name in declared else 'only its process has it'}")
            continue
        for key in _COMPARED:
            if key in said[name] and _plain(said[name][key]) != _plain(declared[name][key]):
                lines.append(f"{name}: {key} is {declared[name][key]!r} in its manifest, and {said[name][key]!r}")
    if lines:
        raise PackError(
            "\n  ".join([f"The process of {pack.name} says other than its plugin.toml:", *lines]),
            "Ask its publisher to write plugin.toml again.",
            code="pack.manifest",
            problems=lines,
        )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, list | tuple) else str(value)


def _proposal(pack: PackInfo, source: Source, artifact: Artifact, before: Entry | None) -> Proposal:
    asked = permissions_of(pack)
    entry = Entry(
        version=pack.version,
        origin=source.origin,
        source=source.place,
        artifact_sha256=artifact.sha256,
        manifest_sha256=file_sha256(pack.folder / MANIFEST),
        lock_sha256=optional_sha256(pack.folder / LOCK),
        files_sha256=folder_sha256(pack.folder),
        evaluators={one.name: one.version for one in pack.evaluators},
        granted=Granted.model_validate(asked.to_dict()),
        options=dict(source.options),
        signer=_signer(source, artifact, before),
    )
    lines: list[str] = []
    if before is not None:
        lines = list(differences(pack, before))
        if before.artifact_sha256 != entry.artifact_sha256:
            lines.append(f"SHA-256 of the artifact: {before.artifact_sha256[:12]}… → {entry.artifact_sha256[:12]}…")
        if before.signer != entry.signer:
            lines.append(f"{signed_by(before.signer)} → {signed_by(entry.signer)}")
    wider = widened(Permissions() if before is None else before.permissions(), asked)
    return Proposal(pack, entry, before, tuple(lines), tuple(wider))


def _signer(source: Source, artifact: Artifact, before: Entry | None) -> str | None:
    """Return the fingerprint of the key that signed an artifact; None if it is unsigned.

    An artifact with the recorded digest keeps its recorded signer, whatever its source.
    """
    if source.signature is not None:
        return source.signature.fingerprint
    return before.signer if before is not None and before.artifact_sha256 == artifact.sha256 else None


def signed_by(signer: str | None) -> str:
    """Return "signed by FINGERPRINT" or "unsigned"."""
    return "unsigned" if signer is None else f"signed by {signer}"


def _check_signer(proposal: Proposal, key: str) -> None:
    """Check that a release is signed by `key`, or if it is "" by the key in evalsi.lock; raises `pack.signature`."""
    pack, signer, before = proposal.pack, proposal.entry.signer, proposal.before
    pinned = key or (before and before.signer)
    if not pinned or pinned == signer:
        return
    whose = "--key names" if key else f"{NAME} has for it"
    if signer is None:
        how = (
            "Add it by its name, from an index that has its signature" if key else "Ask its publisher for a signed one"
        )
        hint = f"{how}. If you trust this one, {'leave out --key' if key else 'remove the pack and add it again'}."
    elif key:
        hint = "Compare it with the fingerprint that its publisher gives."
    else:
        hint = "Ask its publisher. If that key is meant, run `evalsi plugins update` with --key FINGERPRINT."
    raise PackError(
        f"{pack.name} {pack.version} is {signed_by(signer)}, and the key that {whose} is {pinned}.",
        hint,
        code="pack.signature",
    )


def _check(proposal: Proposal, rules: Rules, project: Path) -> None:
    pack, before = proposal.pack, proposal.before
    if before is None:
        if not rules.may_record:
            raise PackError(
                f"{project / NAME} does not name the pack {pack.name}, and --locked records nothing.",
                "Add it without --locked, and keep evalsi.lock with the project.",
                code="pack.not_added",
            )
        # Reject an invalid version now rather than at the first update.
        order_of(pack.version)
        return
    if order_of(pack.version) < order_of(before.version) and not rules.may_downgrade:
        raise PackError(
            f"The pack {pack.name} would go back from {before.version} to {pack.version}.",
            "If you mean that, say --allow-downgrade with `evalsi plugins update`.",
            code="pack.downgrade",
        )
    entry = proposal.entry
    is_release = is_archive(before.source) and is_archive(entry.source)
    is_same_version = order_of(pack.version) == order_of(before.version)
    has_changed = before.files_sha256 != entry.files_sha256
    if rules.may_change and is_release and is_same_version and has_changed:
        raise PackError(
            f"{entry.source} has other files than the version {before.version} of {pack.name} that was added.",
            "Ask its publisher for a new version. If you trust this file, remove the pack and add it again.",
            code="pack.version",
        )
    lines = [*proposal.differences, *proposal.wider]
    if lines and not rules.may_change:
        raise PackError(
            "\n  ".join([f"The pack {pack.name} is not what {project / NAME} says:", *lines]),
            "If you mean the new one, say it again with `evalsi plugins update`.",
            code="pack.changed",
            differences=lines,
        )


def needs_grant(proposal: Proposal) -> list[str]:
    """Return the kinds of permission that the pack requests and that are not granted yet."""
    had = Permissions() if proposal.before is None else proposal.before.permissions()
    return widened_kinds(had, permissions_of(proposal.pack))


@contextmanager
def _staging(project: Path) -> Iterator[Path]:
    """Create a temporary folder next to the packs, which the catalog ignores; it is removed at the end."""
    staging = project / PROJECT_PACKS / f".adding-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        staging.mkdir(parents=True)
        yield staging
    except OSError as error:
        raise PackError(
            f"{staging.parent} cannot be written: {error.strerror or error}.",
            "Make that folder writable, or free some space.",
            code="pack.store",
        ) from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _swap(fresh: Path, folder: Path, staging: Path) -> None:
    """Move a pack to `folder`; the old contents move to the staging folder, or back if the move fails."""
    old = staging / "old"
    if folder.exists():
        folder.rename(old)
    try:
        fresh.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
