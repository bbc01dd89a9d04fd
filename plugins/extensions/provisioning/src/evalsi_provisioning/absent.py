"""Find packs that evalsi.lock names but whose files are missing, as after cloning a project's repository."""

from __future__ import annotations

from pathlib import Path

from evalsi_kernel.packs.catalog import MANIFEST

from .project_lock import pack_folder, read_project_lock


def absent_packs(project: Path) -> dict[str, tuple[str, ...]]:
    """Return the packs in evalsi.lock whose files are missing: full name → names of the evaluators.

    Raises:
        ConfigError: `config.evalsi_lock`; the lock cannot be read.
    """
    packs = read_project_lock(project).packs
    return {
        name: tuple(entry.evaluators)
        for name, entry in packs.items()
        if not (pack_folder(project, name) / MANIFEST).is_file()
    }
