"""`evalsi plugins check`: run the conformance kit on a pack's folder, in the environment of its lock.

Packs that do not come with Evals.si are confined like added packs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from evalsi_conformance.bench import Settings
from evalsi_conformance.findings import LEVELS, Finding, Report, as_json, as_text
from evalsi_conformance.kit import Released, Unusable, check_pack
from evalsi_conformance.manifest import MANIFEST, read_manifest
from evalsi_conformance.pack_process import Program
from evalsi_conformance.released import BadWheel, lay_out_wheel
from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.files.paths import bundled_packs
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo
from evalsi_kernel.planning.launches import launch_unrestricted
from evalsi_kernel.results.grid import printable, printable_lines

from .archives import is_archive
from .confinement import confined
from .pack_actions import kinds
from .pack_layout import lay_out
from .permissions import Permissions, permissions_of

OK, ERROR = 0, 1
WITHHELD = ("network", "files", "secrets")
"""Kinds of permission that a pack only gets in a check if `--grant` names them."""


def run_check(options: argparse.Namespace, _: Toolkit) -> int:
    """Check the pack, print the report, and return the exit code: 0 if the pack conforms."""
    folder: Path = options.folder.resolve()
    builtin = folder.parent in bundled_packs()
    report = _broken(folder, builtin) or _checked(folder, options, builtin)
    print(as_json(report) if options.format == "json" else as_text(report))
    return OK if report.conforms else ERROR


def _checked(folder: Path, options: argparse.Namespace, builtin: bool) -> Report:
    settings = Settings(options.timeout_s, builtin=builtin, log=_log_file(options.log))
    with tempfile.TemporaryDirectory(prefix="evalsi-released-") as scratch:
        try:
            against = None
            if options.against is not None:
                where = options.against.resolve()
                released = where if where.is_dir() else _unpacked(where, Path(scratch))
                against = Released(released, _program(_pack(released), options, builtin))
            program = _program(_pack(folder), options, builtin)
            return check_pack(folder, program, level=options.level, against=against, settings=settings)
        except (BadWheel, Unusable) as error:
            raise ConfigError(f"--against {options.against}: {error}") from error


def _log_file(path: Path | None) -> Path | None:
    """Empty the log file, so that it contains the output of this check only."""
    if path is not None:
        try:
            path.write_bytes(b"")
        except OSError as error:
            raise ConfigError(
                f"The log {path} cannot be written: {error.strerror or error}.", "Name another file with --log."
            ) from error
    return path


def _unpacked(release: Path, folder: Path) -> Path:
    """Unpack a release and return the pack's folder; wheels have a different layout from other archives."""
    if is_archive(release.name) and release.suffix.lower() != ".whl":
        return lay_out(release, folder / "pack").folder
    return lay_out_wheel(release, folder)


def _broken(folder: Path, builtin: bool) -> Report | None:
    """Return the report on an invalid manifest, with which nothing can be started; None if it is valid."""
    manifest, problems = read_manifest(folder, builtin=builtin)
    found = {problem.at: (problem.what, problem.hint) for problem in problems}
    try:
        load_manifest(folder / MANIFEST)
    except PackError as error:
        # The kernel's reader finds more problems; report those that both find once.
        for problem in error.details.get("problems", ()):
            found.setdefault(problem["at"], (problem["what"], problem.get("hint", "")))
    if not found:
        return None
    findings = tuple(
        Finding("loads", "manifest", "failed", f"{MANIFEST}: {at} {what}.", hint) for at, (what, hint) in found.items()
    )
    return Report(manifest.name or folder.name, manifest.version, findings, LEVELS[:1])


def _pack(folder: Path) -> PackInfo:
    return load_manifest(folder / MANIFEST).to_pack(folder)


def _program(pack: PackInfo, options: argparse.Namespace, builtin: bool) -> Program:
    command = launch_unrestricted(pack, _note).command
    if command is None:
        raise ConfigError(f"The runtime {pack.runtime} starts no process, and the kit talks to one.")
    if builtin:
        argv = list(command.argv)
        if pack.runtime == PYTHON:
            # -B: Python detects outdated compiled code by size and whole seconds, so an edit right after a check could
            # be missed.
            argv.insert(1, "-B")
        return Program(tuple(argv), dict(command.variables))
    granted = _granted(pack, kinds(options.grant) or ())
    held = confined(command, pack, granted, home="writable")
    # The kit has its own sandbox without network; allow Internet sockets here, so that it can count their use.
    counted = confined(command, pack, granted._replace(network=("any",)), home="writable")
    return Program(tuple(held.argv), dict(held.variables), tuple(counted.argv))


def _granted(pack: PackInfo, names: Sequence[str]) -> Permissions:
    """Return the requested permissions without the kinds that were not granted, and print a note on each of those."""
    asked = permissions_of(pack)
    withheld = [kind for kind in WITHHELD if getattr(asked, kind) and kind not in names]
    for kind in withheld:
        _note(
            f"note: {pack.name} asks for {kind} ({printable(', '.join(getattr(asked, kind)))}), which it does not get "
            f"in this check; --grant {','.join(withheld)} gives it"
        )
    given = {kind: () if kind in withheld else getattr(asked, kind) for kind in WITHHELD}
    return asked._replace(network=given["network"], files=given["files"], secrets=given["secrets"])


def _note(line: str) -> None:
    print(printable_lines(line), file=sys.stderr, flush=True)
