"""A cache that is a test's own, except for the environments of packs: to build those anew takes seconds each time.

It must not know what the test puts there.
"""

from __future__ import annotations

from pathlib import Path

from evalsi_kernel.files.paths import cache_dir


def own_cache(folder: Path) -> str:
    """Make the folder, to be named in `EVALSI_CACHE_DIR`, with the environments that are everybody's."""
    shared = cache_dir() / "envs"
    for made in (folder, shared):
        made.mkdir(parents=True, exist_ok=True)
    (folder / "envs").symlink_to(shared)
    return str(folder)
