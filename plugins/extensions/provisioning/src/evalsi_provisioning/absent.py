"""Which packs a project has added and does not hold: evalsi.lock travels with its code, and their files do not.

It must not know how a pack is fetched.
"""

from __future__ import annotations

from pathlib import Path

from evalsi_kernel.packs.catalog import MANIFEST

from .project_lock import pack_folder, read_project_lock


def absent_packs(project: Path) -> dict[str, tuple[str, ...]]:
    """Full name → evaluators of each pack that the project's evalsi.lock names and whose files are not in its folder.

    Raises:
        ConfigError: `config.evalsi_lock`.
    """
    packs = read_project_lock(project).packs
    return {
        name: tuple(entry.evaluators)
        for name, entry in packs.items()
        if not (pack_folder(project, name) / MANIFEST).is_file()
    }
