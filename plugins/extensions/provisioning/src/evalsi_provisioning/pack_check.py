"""`evalsi plugins check`: the conformance kit over a folder, in the environment of its lock.

It finds how a process of the pack is started, here and for the release to compare with; the kit does the rest. A pack
that is not one of Evals.si's own gets the walls of an added pack.
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
"""What reaches beyond the pack, and is given in a check only to a pack that was granted it."""


def run_check(options: argparse.Namespace, _: Toolkit) -> int:
    """Check the pack; 0 where it conforms."""
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
    """Empty the file for the pack's stderr, so that it has this check only."""
    if path is not None:
        try:
            path.write_bytes(b"")
        except OSError as error:
            raise ConfigError(
                f"The log {path} cannot be written: {error.strerror or error}.", "Name another file with --log."
            ) from error
    return path


def _unpacked(release: Path, folder: Path) -> Path:
    """A wheel has a layout of its own; any other archive holds the pack's folder."""
    if is_archive(release.name) and release.suffix.lower() != ".whl":
        return lay_out(release, folder / "pack").folder
    return lay_out_wheel(release, folder)


def _broken(folder: Path, builtin: bool) -> Report | None:
    """The report on a manifest with which nothing can be started; None where it is whole."""
    manifest, problems = read_manifest(folder, builtin=builtin)
    found = {problem.at: (problem.what, problem.hint) for problem in problems}
    try:
        load_manifest(folder / MANIFEST)
    except PackError as error:
        # The kernel's own reader is the stricter one; what both see is said once.
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
            # Python tells a source from its compiled form by whole seconds and size: what is edited and checked again
            # at once must not be what the check before compiled.
            argv.insert(1, "-B")
        return Program(tuple(argv), dict(command.variables))
    granted = _granted(pack, kinds(options.grant) or ())
    held = confined(command, pack, granted, home="writable")
    # Within the kit's own walls there is no network: sockets of the Internet are let through to be counted there.
    counted = confined(command, pack, granted._replace(network=("any",)), home="writable")
    return Program(tuple(held.argv), dict(held.variables), tuple(counted.argv))


def _granted(pack: PackInfo, names: Sequence[str]) -> Permissions:
    """What the pack asks for, without the kinds that were not granted; says which these are."""
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
