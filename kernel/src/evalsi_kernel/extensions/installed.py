"""The installed extensions: which names they provide, from an index on disk, and their hooks, loaded on use only.

It must not know any extension, nor what its hooks are asked for.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.info import ONLY_ONE, ExtensionInfo
from evalsi_kernel.files.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.files.paths import cache_dir as default_cache_dir

if TYPE_CHECKING:
    import pluggy

# Part of the index's key; raise it whenever the index or the rules of extension.toml change.
_FORMAT = 3
# What to install for a name of Evals.si's own extensions; "" stands for every other name of the kind.
_BROUGHT_BY = {
    ("schemes", "hf"): "evalsi-datasets[hf]",
    ("schemes", "inspect"): "evalsi-logs",
    ("schemes", "lm-eval"): "evalsi-logs",
    ("suffixes", ".eval"): "evalsi-logs",
    ("suffixes", ""): "evalsi-datasets",
    ("stdin", ""): "evalsi-datasets",
    ("intervals", "bootstrap"): "evalsi-bootstrap",
    ("connectors", "anthropic"): "evalsi-connectors[anthropic]",
    ("connectors", ""): "evalsi-connectors",
    ("environments", ""): "evalsi-provisioning",
    ("conditions", ""): "evalsi-cel",
    ("baselines", ""): "evalsi-comparison",
    ("early_stopping", ""): "evalsi-early-stopping",
    ("batches", ""): "evalsi-batches",
    ("targets", ""): "evalsi-targets",
    ("judge_cache", ""): "evalsi-replies",
    ("price_files", ""): "evalsi-connectors",
    ("runtimes", "wasm"): "evalsi-wasm",
    ("admission", ""): "evalsi-provisioning",
}
# What is missing, as a person who used a name would say it; of other kinds the name and the kind are told.
_MISSING = {
    "suffixes": 'No installed reader knows files that end in "{}".',
    "schemes": 'No installed reader knows addresses that begin with "{}://".',
    "stdin": "No installed reader takes standard input.",
    "intervals": 'There is no interval method "{}".',
    "connectors": 'There is no provider "{}" of models.',
    "commands": 'There is no command "{}".',
    "runtimes": 'Packs of the runtime "{}" cannot be started here.',
    "targets": 'There is no target "{}".',
    "conditions": "Conditions cannot be read here.",
    "baselines": "Baselines cannot be read here.",
    "price_files": "Prices cannot be read here.",
    "early_stopping": "Nothing here can end a run early.",
    "batches": "Questions cannot be asked in batches here.",
    "environments": "Environments of packs cannot be built here.",
    "admission": "Packs of others cannot be admitted here.",
    "judge_cache": "Replies of models cannot be kept here.",
}


class Extensions:
    """The extensions at hand. It remembers which are loaded, and loads each once.

    Args:
        infos: what the extensions say of themselves.
        warnings: a sentence for each that cannot be used, and about the index.
    """

    def __init__(self, infos: Iterable[ExtensionInfo] = (), warnings: Iterable[str] = ()) -> None:
        self.infos = tuple(infos)
        self.warnings = tuple(warnings)
        self._loaded: dict[str, pluggy.PluginManager] = {}

    def names(self, kind: str) -> list[str]:
        """Every name that is provided of a kind, sorted."""
        return sorted({name for info in self.infos for name in info.names(kind)})

    def provider(self, kind: str, name: str) -> ExtensionInfo | None:
        """The extension that provides a name, or None; raises `config.ambiguous_extension` where more than one does."""
        providers = [info for info in self.infos if name in info.names(kind)]
        if len(providers) > 1:
            both = " and ".join(info.distribution for info in providers)
            raise ConfigError(
                f'"{name}" ({kind}) is provided by {both}.',
                f"Uninstall all but one of them, such as: pip uninstall {providers[-1].distribution}",
                code="config.ambiguous_extension",
            )
        return providers[0] if providers else None

    def plugin_manager_for(self, kind: str, name: str) -> pluggy.PluginManager:
        """The hooks of the one extension that provides a name, loaded now if need be.

        Raises:
            ConfigError: `config.no_extension`, none provides it; or as `provider` and `load` raise.
        """
        if info := self.provider(kind, name):
            return self.load(info)
        missing = _MISSING.get(kind, f'No extension provides "{{}}" ({kind}).').format(name)
        raise ConfigError(missing, hint_for(kind, name, self), code="config.no_extension")

    def load(self, info: ExtensionInfo) -> pluggy.PluginManager:
        """Import an extension and register its hooks, with a caller of their own, so that no other one is asked.

        Raises:
            ConfigError: `config.extension`; it cannot be imported, or implements a hook that there is not.
        """
        if info.manifest not in self._loaded:
            # pluggy imports importlib.metadata, which a command that uses no extension must not pay for.
            from evalsi_kernel.extensions.loading import hooks_of

            self._loaded[info.manifest] = hooks_of(info)
        return self._loaded[info.manifest]


def default_extensions() -> Extensions:
    """The extensions installed for this interpreter, with the index in the user's cache."""
    return load_extensions(default_cache_dir())


def load_extensions(cache_dir: Path) -> Extensions:
    """The extensions on `sys.path`, read from the index where nothing was installed, removed or edited since.

    Args:
        cache_dir: where the index is kept; that it cannot be read or written is no error.
    """
    places = _installed_places()
    key = [_FORMAT, places]
    index = cache_path(cache_dir, "extensions", os.pathsep.join(place for place, _ in places))
    kept = read_cached(index, key)
    # An extension that is being developed is edited in place, which changes no folder of installed distributions.
    if kept is not None and all(_state(path) == state for path, state in kept["read"]):
        return Extensions([ExtensionInfo(**one) for one in kept["extensions"]], kept["warnings"])
    # importlib.metadata and pydantic cost more than all the rest of a start.
    from evalsi_kernel.extensions.discovery import discover_extensions

    found = discover_extensions()
    value = {
        "read": [[path, _state(path)] for path in found.paths],
        "extensions": [info._asdict() for info in found.infos],
        "warnings": found.warnings,
    }
    warning = write_cached(index, key, value) if found.is_lasting else ""
    return Extensions(found.infos, [*found.warnings, *([warning] if warning else [])])


def hint_for(kind: str, name: str, extensions: Extensions) -> str:
    """What to do where no extension provides a name: the nearest name, those there are, what to install."""
    known = extensions.names(kind)
    hints = [did_you_mean(name, known)]
    if known and kind == "suffixes":
        hints.append(_formats(known))
    elif known and known != [ONLY_ONE]:
        hints.append(f"There are: {', '.join(known)}.")
    brought_by = _BROUGHT_BY.get((kind, name)) or (not known and _BROUGHT_BY.get((kind, "")))
    if extensions.warnings:
        # What is installed and left out is nearer than what could be installed.
        hints.extend(extensions.warnings)
    elif brought_by:
        hints.append(f"Install it: pip install '{brought_by}'")
    elif not known:
        hints.append("Install an extension that provides it.")
    return " ".join(hint for hint in hints if hint)


def _formats(suffixes: list[str]) -> str:
    """What to do with a file that nobody reads: the ends of names that are read, how files may be packed told once."""
    plain = [one for one in suffixes if one.rpartition(".")[0] not in suffixes]
    packed = sorted({f".{one.rpartition('.')[2]}" for one in suffixes if one not in plain})
    behind = f", also with {' or '.join(packed)} behind it" if packed else ""
    return f"Convert it, or rename it to what it holds: {', '.join(plain)}{behind}."


def _installed_places() -> list[list[Any]]:
    """[folder, mtime in ns] of each entry of sys.path that holds installed distributions.

    An entry that holds none, as the current folder mostly does, says nothing of what is installed, and changes often.
    """
    places: list[list[Any]] = []
    for entry in dict.fromkeys(map(os.path.abspath, sys.path)):
        try:
            if any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(entry)):
                places.append([entry, os.stat(entry).st_mtime_ns])
        except OSError:
            # A missing folder or a zip file, as sys.path may hold.
            continue
    return places


def _state(path: str) -> list[Any] | None:
    """[mtime and ctime in ns, size in bytes], or None where there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size]
