"""Paths of this machine: the cache, the user's folder, and the folders of packs. Nothing is created here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evalsi_kernel.errors import ConfigError

PROJECT_PACKS = os.path.join(".evalsi", "packs")
"""Folder of the packs added to the project, relative to the working folder."""


def cache_dir() -> Path:
    """Return the cache folder: `EVALSI_CACHE_DIR`, else `EVALSI_HOME/cache`, else the platform's cache folder.

    Raises:
        ConfigError: no variable is set and the user has no home folder.
    """
    if named := os.environ.get("EVALSI_CACHE_DIR"):
        return _absolute(named)
    if named := os.environ.get("EVALSI_HOME"):
        return _absolute(named) / "cache"
    if sys.platform == "darwin":
        return _user_home() / "Library" / "Caches" / "evalsi"
    return _xdg("XDG_CACHE_HOME", ".cache") / "evalsi"


def home_dir() -> Path:
    """Return the folder of the user's packs: `EVALSI_HOME`, else `evalsi` in the platform's data folder.

    Raises:
        ConfigError: no variable is set and the user has no home folder.
    """
    if named := os.environ.get("EVALSI_HOME"):
        return _absolute(named)
    return _xdg("XDG_DATA_HOME", ".local/share") / "evalsi"


PACK_PATH_VARIABLE = "EVALSI_PLUGIN_PATH"


def pack_search_path() -> list[Path]:
    """Return the folders of packs in order of precedence.

    First the entries of `EVALSI_PLUGIN_PATH`, which may also be pack folders themselves, then the packs of this kernel
    (the checkout's, or those that the `evalsi` wheel installed under the prefix), those of the project, and the user's.
    Folders need not exist, except that the project's is only included if it does, because each search path has a cache
    of its own.

    Raises:
        ConfigError: neither `EVALSI_HOME` nor the user's home folder is known.
    """
    project = [_absolute(PROJECT_PACKS)] if os.path.isdir(PROJECT_PACKS) else []
    return list(dict.fromkeys([*named_pack_folders(), *bundled_packs(), *project, home_dir() / "packs"]))


def named_pack_folders() -> list[Path]:
    """Return the entries of `EVALSI_PLUGIN_PATH`."""
    entries = os.environ.get(PACK_PATH_VARIABLE, "").split(os.pathsep)
    return [_absolute(entry) for entry in entries if entry.strip()]


def is_project_pack(folder: Path) -> bool:
    """Return whether a pack's folder is in the packs folder of a project."""
    return str(folder.parent).endswith(os.sep + PROJECT_PACKS)


def bundled_packs() -> list[Path]:
    """Return the folders of the packs that ship with this kernel, whose names have no publisher."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[2]
    if package.parts[-3:] == ("kernel", "src", "evalsi_kernel") and (checkout / "plugins" / "packs").is_dir():
        return [checkout / "plugins" / "packs", checkout / "adapters"]
    # The data files of a wheel are in PREFIX, its code in PREFIX/lib/pythonX.Y/site-packages. With --user, PREFIX is
    # not sys.prefix; with --target, the data files are next to the code.
    prefixes = [*package.parents[3:4], Path(sys.prefix), package.parent]
    return [prefix / "share" / "evalsi" / "packs" for prefix in prefixes]


def _absolute(named: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(named.strip())))


def _xdg(variable: str, fallback: str) -> Path:
    named = os.environ.get(variable, "")
    # The XDG specification requires that relative paths are ignored.
    return Path(named) if os.path.isabs(named) else _user_home() / fallback


def _user_home() -> Path:
    try:
        return Path.home().absolute()
    except RuntimeError as error:
        raise ConfigError(
            "This user has no home folder, so there is no folder for the cache and for packs.",
            "Set EVALSI_HOME to a writable folder.",
            code="config.no_home",
        ) from error
