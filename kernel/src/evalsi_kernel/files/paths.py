"""Where things lie on this machine: the cache, the user's own folder, and the folders that hold packs.

It must not know what is in them; it creates nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from evalsi_kernel.errors import ConfigError

PROJECT_PACKS = os.path.join(".evalsi", "packs")
"""Where the packs lie that were added to the project, which is the folder that a command is run in."""


def cache_dir() -> Path:
    """The folder of what can be made again: `EVALSI_CACHE_DIR`, else `EVALSI_HOME/cache`, else the user's cache folder.

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
    """The folder of what the user installed: `EVALSI_HOME`, else `evalsi` in the platform's user data folder.

    Raises:
        ConfigError: no variable is set and the user has no home folder.
    """
    if named := os.environ.get("EVALSI_HOME"):
        return _absolute(named)
    return _xdg("XDG_DATA_HOME", ".local/share") / "evalsi"


PACK_PATH_VARIABLE = "EVALSI_PLUGIN_PATH"


def pack_search_path() -> list[Path]:
    """Folders that hold pack folders, first match first; an entry of `EVALSI_PLUGIN_PATH` may be a pack folder itself.

    After `EVALSI_PLUGIN_PATH` come the packs that belong to this kernel (the checkout's when it runs from one, else
    those that the `evalsi` wheel laid under the prefix), those of the project, then the user's own. A folder need not
    exist; the project's is named only where it does, since it would give each folder a cache of its own.

    Raises:
        ConfigError: neither `EVALSI_HOME` nor a home folder of the user is known.
    """
    project = [_absolute(PROJECT_PACKS)] if os.path.isdir(PROJECT_PACKS) else []
    return list(dict.fromkeys([*named_pack_folders(), *bundled_packs(), *project, home_dir() / "packs"]))


def named_pack_folders() -> list[Path]:
    """The entries of `EVALSI_PLUGIN_PATH`."""
    entries = os.environ.get(PACK_PATH_VARIABLE, "").split(os.pathsep)
    return [_absolute(entry) for entry in entries if entry.strip()]


def is_project_pack(folder: Path) -> bool:
    """Whether a pack's folder lies among the packs of a project."""
    return str(folder.parent).endswith(os.sep + PROJECT_PACKS)


def bundled_packs() -> list[Path]:
    """Where the packs that belong to this kernel lie, whose names are plain."""
    package = Path(__file__).resolve().parents[1]
    checkout = package.parents[2]
    if package.parts[-3:] == ("kernel", "src", "evalsi_kernel") and (checkout / "plugins" / "packs").is_dir():
        return [checkout / "plugins" / "packs", checkout / "adapters"]
    # A wheel's data lie under PREFIX where its code lies in PREFIX/lib/pythonX.Y/site-packages, which with --user is
    # not sys.prefix; with --target they lie beside the code.
    prefixes = [*package.parents[3:4], Path(sys.prefix), package.parent]
    return [prefix / "share" / "evalsi" / "packs" for prefix in prefixes]


def _absolute(named: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(named.strip())))


def _xdg(variable: str, fallback: str) -> Path:
    named = os.environ.get(variable, "")
    # The XDG specification says that a relative path is to be ignored.
    return Path(named) if os.path.isabs(named) else _user_home() / fallback


def _user_home() -> Path:
    try:
        return Path.home().absolute()
    except RuntimeError as error:
        raise ConfigError(
            "This user has no home folder, so there is no place for the cache and for packs.",
            "Set EVALSI_HOME to a folder that can be written.",
            code="config.no_home",
        ) from error
