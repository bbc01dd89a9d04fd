"""`evalsi plugins`: list packs and their environments, build, check and remove environments."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import EvalsiError, UsageError
from evalsi_kernel.files.paths import is_project_pack
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.pack_info import PYTHON, PackInfo
from evalsi_kernel.planning.environments import ensure_environment, pack_state
from evalsi_kernel.planning.launches import launch_pack
from evalsi_kernel.results.grid import Grid, printable_lines, text_grid
from evalsi_kernel.supervision.pack_description import describe

from . import authoring, service_actions
from .on_disk import folder_of, remove, size_bytes, unwanted
from .pack_actions import ACTIONS, configure
from .pack_layout import check_versions
from .project_lock import read_project_lock

OK, ERROR = 0, 1
_SHOWN_DIGITS = 16
"""Digits of a fingerprint in a table; `--format json` has all 64."""


class Row(NamedTuple):
    """One pack in the output of `list`.

    `signed_by` is the fingerprint of the publisher's key or "unsigned"; None for a pack that this project did not add.
    """

    pack: str
    version: str
    evaluators: int
    environment: str
    size_bytes: int | None
    signed_by: str | None


_HEADER = ("pack", "version", "evaluators", "environment", "size", "signed by")


class Plugins:
    """The command `evalsi plugins`."""

    def __init__(self, toolkit: Toolkit) -> None:
        self._toolkit = toolkit

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add the actions and their flags."""
        actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
        listing = _action(actions, "list", "show the packs, and what their environments take")
        listing.add_argument("--format", choices=("table", "json"), default="table", help="how to print it")
        sync = _action(actions, "sync", "build the environments of packs from their locks; all packs, or those named")
        sync.add_argument("packs", nargs="*", metavar="PACK", help="only these")
        sync.add_argument("--offline", action="store_true", help="take packages from uv's own cache only")
        doctor = _action(actions, "doctor", "start packs, and compare what they say with their manifests")
        doctor.add_argument("packs", nargs="*", metavar="PACK", help="only these")
        pruning = _action(actions, "prune", "remove environments that no installed pack wants")
        pruning.add_argument("--dry-run", action="store_true", help="say what would go, and remove nothing")
        configure(lambda name, summary: _action(actions, name, summary))
        service_actions.configure(lambda name, summary: _action(actions, name, summary))
        authoring.configure(lambda name, summary: _action(actions, name, summary))

    def run(self, options: argparse.Namespace) -> int:
        """Run the chosen action and return the exit code."""
        if options.action == "list":
            return self._list(options.format)
        if options.action == "sync":
            return _each(options.packs, lambda pack: _sync(pack, offline=options.offline))
        if options.action == "doctor":
            return _each(options.packs, _doctor)
        if options.action == "prune":
            return _prune(dry_run=options.dry_run)
        others = {**ACTIONS, **service_actions.ACTIONS, **authoring.ACTIONS}
        if options.action in others:
            return others[options.action](options, self._toolkit)
        raise UsageError("evalsi plugins needs an action.", f"Use {', '.join(others)}, list, sync, doctor or prune.")

    def _list(self, form: str) -> int:
        catalog = default_catalog()
        signers = _signers()
        rows = [_row(pack, signers) for pack in catalog.packs]
        if form == "json":
            print(self._toolkit.as_json([row._asdict() for row in rows]))
            return OK
        has_added = any(row.signed_by for row in rows)
        cells = [_cells(row) if has_added else _cells(row)[:-1] for row in rows]
        print(text_grid(Grid(_HEADER[: len(cells[0])] if cells else _HEADER, cells, right=(2, 4))))
        for sentence in (*catalog.warnings, *(broken.error() for broken in catalog.broken)):
            _note(f"note: {sentence}")
        return OK


def _action(actions: Any, name: str, summary: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    return parser


def _signers() -> dict[str, str]:
    """Return the packs that this project added: name → fingerprint of the signing key, or "unsigned"."""
    try:
        packs = read_project_lock(Path.cwd()).packs
    except EvalsiError as error:
        # Users run `list` to find out what is wrong, so it must not fail itself.
        _note(f"note: {error}")
        return {}
    return {name: entry.signer or "unsigned" for name, entry in packs.items()}


def _row(pack: PackInfo, signers: Mapping[str, str]) -> Row:
    state = pack_state(pack)
    folder = folder_of(pack)
    size = size_bytes(folder) if state == "ready" and folder is not None else None
    signer = signers.get(pack.name) if is_project_pack(pack.folder) else None
    return Row(pack.name, pack.version, len(pack.evaluators), state, size, signer)


def _cells(row: Row) -> tuple[str, ...]:
    size = "-" if row.size_bytes is None else _size(row.size_bytes)
    signer = (row.signed_by or "-")[:_SHOWN_DIGITS]
    return (row.pack, row.version, str(row.evaluators), row.environment, size, signer)


def _each(names: Sequence[str], do: Any) -> int:
    """Call `do` for these packs, or for all; continue after a failure, and return the exit code."""
    catalog = default_catalog()
    packs = [catalog.pack(name) for name in names] or list(catalog.packs)
    code = OK
    for pack in packs:
        try:
            print(f"ok       {pack.name}: {do(pack)}")
        except EvalsiError as error:
            code = ERROR
            print(printable_lines(f"problem  {pack.name}: {error}"))
    return code


def _sync(pack: PackInfo, *, offline: bool) -> str:
    if pack.runtime != PYTHON:
        return f"runs as {pack.runtime}, which needs no environment"
    check_versions(pack)
    ensure_environment(pack.folder, pack.name, on_progress=_note, offline=offline)
    folder = folder_of(pack)
    assert folder is not None
    return f"environment ready, {_size(size_bytes(folder))}"


def _doctor(pack: PackInfo) -> str:
    said = {table["name"]: str(table["version"]) for table in describe(launch_pack(pack, _note))}
    declared = {evaluator.name: evaluator.version for evaluator in pack.evaluators}
    if said != declared:
        differing = sorted(name for name in said.keys() | declared.keys() if said.get(name) != declared.get(name))
        raise EvalsiError(f"its process and its plugin.toml differ in {', '.join(differing)}.", "Write it again.")
    return f"starts, and its {len(said)} evaluators agree with plugin.toml"


def _prune(*, dry_run: bool) -> int:
    found = unwanted(default_catalog().packs)
    freed, code = 0, OK
    for environment in found:
        whose = environment.pack or "a build that was not finished"
        line = f"{environment.folder.name}  {_size(environment.size_bytes):>8}  {whose}"
        if dry_run or remove(environment):
            freed += environment.size_bytes
            print(line)
        else:
            code = ERROR
            print(f"{line}  (another process builds it; try again later)")
    verb = "would be freed" if dry_run else "freed"
    print(f"{len(found)} environments, {_size(freed)} {verb}" if found else "nothing to remove")
    return code


def _note(line: str) -> None:
    print(printable_lines(line), file=sys.stderr, flush=True)


def _size(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
