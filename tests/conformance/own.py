"""The kit over a pack of this repository, started as the kernel starts it."""

from __future__ import annotations

from pathlib import Path

from evalsi_conformance.bench import Settings
from evalsi_conformance.findings import Report
from evalsi_conformance.kit import check_pack
from evalsi_conformance.pack_process import Program
from evalsi_kernel.packs.manifests import load_manifest
from evalsi_kernel.planning.launches import launch_pack


def report_on(folder: Path) -> Report:
    """Check a pack of this repository, in the environment of its lock."""
    command = launch_pack(load_manifest(folder / "plugin.toml").to_pack(folder), None).command
    assert command is not None
    return check_pack(folder, Program(tuple(command.argv), dict(command.variables)), settings=Settings(builtin=True))
