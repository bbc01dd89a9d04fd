"""The installed extensions: their names, from an index on disk, and their hooks, loaded on first use."""

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

# Part of the index's key. Raise it when the index or the rules of extension.toml change.
_FORMAT = 3
# Distribution that provides a name; "" covers all other names of the kind.
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
# Messages for a missing name; other kinds have a generic one.
_MISSING = {
    "suffixes": 'Unrecognized file extension: "{}".',
    "schemes": 'Unrecognized URI scheme: "{}://".',
    "stdin": "No installed extension reads standard input.",
    "intervals": 'Unknown interval method "{}".',
    "connectors": 'Unknown model provider "{}".',
    "commands": 'Unknown command "{}".',
    "runtimes": 'No installed extension runs packs of the runtime "{}".',
    "targets": 'Unknown target "{}".',
    "conditions": "No installed extension evaluates conditions.",
    "baselines": "No installed extension reads baselines.",
    "price_files": "No installed extension reads price files.",
    "early_stopping": "No installed extension supports early stopping.",
    "batches": "No installed extension supports batch APIs.",
    "environments": "No installed extension builds pack environments.",
    "admission": "No installed extension admits third-party packs.",
    "judge_cache": "No installed extension caches model replies.",
}


class Extensions:
    """The available extensions; each is loaded at most once.

    Args:
        infos: the extensions.
        warnings: one sentence for each unusable extension, and for problems with the index.
    """

    def __init__(self, infos: Iterable[ExtensionInfo] = (), warnings: Iterable[str] = ()) -> None:
        self.infos = tuple(infos)
        self.warnings = tuple(warnings)
        self._loaded: dict[str, pluggy.PluginManager] = {}

    def names(self, kind: str) -> list[str]:
        """Return all provided names of a kind, sorted."""
        return sorted({name for info in self.infos for name in info.names(kind)})

    def provider(self, kind: str, name: str) -> ExtensionInfo | None:
        """Return the extension that provides a name, or None.

        Raise `config.ambiguous_extension` where several do.
        """
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
        """Return the hooks of the one extension that provides a name, loading it first if needed.

        Raises:
            ConfigError: `config.no_extension`: none provides it. Also as `provider` and `load`.
        """
        if info := self.provider(kind, name):
            return self.load(info)
        missing = _MISSING.get(kind, f'No extension provides "{{}}" ({kind}).').format(name)
        raise ConfigError(missing, hint_for(kind, name, self), code="config.no_extension")

    def load(self, info: ExtensionInfo) -> pluggy.PluginManager:
        """Import an extension and register its hooks in a plugin manager of its own.

        Raises:
            ConfigError: `config.extension`: it cannot be imported, or implements an unknown hook.
        """
        if info.manifest not in self._loaded:
            # Imported only where needed: pluggy imports importlib.metadata, which is slow.
            from evalsi_kernel.extensions.loader import hooks_of

            self._loaded[info.manifest] = hooks_of(info)
        return self._loaded[info.manifest]


def default_extensions() -> Extensions:
    """Return the extensions of this interpreter, with the index in the user's cache."""
    return load_extensions(default_cache_dir())


def load_extensions(cache_dir: Path) -> Extensions:
    """Return the extensions on `sys.path`, from the index if nothing was installed, removed or edited since.

    Args:
        cache_dir: folder of the index; errors when reading or writing it are ignored.
    """
    places = _installed_places()
    key = [_FORMAT, places]
    index = cache_path(cache_dir, "extensions", os.pathsep.join(place for place, _ in places))
    kept = read_cached(index, key)
    # Editable installs change in place, without a change of any installation folder.
    if kept is not None and all(_state(path) == state for path, state in kept["read"]):
        return Extensions([ExtensionInfo(**one) for one in kept["extensions"]], kept["warnings"])
    # Imported only where needed: importlib.metadata and pydantic are slow.
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
    """Return a hint for a missing name: the nearest name, the known ones, and what to install."""
    known = extensions.names(kind)
    hints = [did_you_mean(name, known)]
    if known and kind == "suffixes":
        hints.append(_formats(known))
    elif known and known != [ONLY_ONE]:
        hints.append(f"Known names: {', '.join(known)}.")
    brought_by = _BROUGHT_BY.get((kind, name)) or (not known and _BROUGHT_BY.get((kind, "")))
    if extensions.warnings:
        # An extension that is installed but ignored is a likelier cause than a missing one.
        hints.extend(extensions.warnings)
    elif brought_by:
        hints.append(f"Install it: pip install '{brought_by}'")
    elif not known:
        hints.append("Install an extension that provides it.")
    return " ".join(hint for hint in hints if hint)


def _formats(suffixes: list[str]) -> str:
    """Return a hint for an unrecognized file: the known suffixes, with compressed forms named once."""
    plain = [one for one in suffixes if one.rpartition(".")[0] not in suffixes]
    packed = sorted({f".{one.rpartition('.')[2]}" for one in suffixes if one not in plain})
    behind = f", optionally followed by {' or '.join(packed)}" if packed else ""
    return f"Convert the file, or rename it to a known extension: {', '.join(plain)}{behind}."


def _installed_places() -> list[list[Any]]:
    """Return [folder, mtime in ns] of each entry of sys.path with installed distributions.

    Entries without distributions, such as the working folder, are skipped because they change often.
    """
    places: list[list[Any]] = []
    for entry in dict.fromkeys(map(os.path.abspath, sys.path)):
        try:
            if any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(entry)):
                places.append([entry, os.stat(entry).st_mtime_ns])
        except OSError:
            # A missing folder or a zip file.
            continue
    return places


def _state(path: str) -> list[Any] | None:
    """Return [mtime in ns, ctime in ns, size in bytes], or None where there is no such file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_ctime_ns, status.st_size]
