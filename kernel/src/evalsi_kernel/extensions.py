"""The installed extensions: which names they provide, from an index on disk, and their hooks, loaded on use only.

It must not know any extension, nor what a hook does with what it is given.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalsi_kernel.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.data_path import check_path
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extension_info import ONLY_ONE, ExtensionInfo
from evalsi_kernel.paths import cache_dir as default_cache_dir
from evalsi_kernel.suggestions import choose, did_you_mean

if TYPE_CHECKING:
    import pluggy
    from pydantic import BaseModel

    from evalsi_kernel.broker.batches import Batches, KeptReplies
    from evalsi_kernel.broker.connector import BatchConnector, Connector, ConnectorSettings
    from evalsi_kernel.broker.judge_cache import JudgeCache
    from evalsi_kernel.broker.prices import PriceFile
    from evalsi_kernel.commands import Command, Toolkit
    from evalsi_kernel.environment_builder import EnvironmentBuilder
    from evalsi_kernel.gates.baseline import Baseline
    from evalsi_kernel.gates.conditions import ConditionLanguage
    from evalsi_kernel.gates.early_stopping import StoppingRule
    from evalsi_kernel.intervals import IntervalMethod
    from evalsi_kernel.launch import Launch
    from evalsi_kernel.pack_info import PackInfo
    from evalsi_kernel.sources import Source
    from evalsi_kernel.target import Lent, Target, TargetSettings

# Part of the index's key; raise it whenever the index or the rules of extension.toml change.
_FORMAT = 3
MODEL_TARGET = "model"
"""The target that asks a model through any connector."""
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
        what = kind if name == ONLY_ONE else f'"{name}" ({kind})'
        raise ConfigError(f"No extension provides {what}.", mend_for(kind, name, self), code="config.no_extension")

    def load(self, info: ExtensionInfo) -> pluggy.PluginManager:
        """Import an extension and register its hooks, with a caller of their own, so that no other one is asked.

        Raises:
            ConfigError: `config.extension`; it cannot be imported, or implements a hook that there is not.
        """
        if info.manifest not in self._loaded:
            # pluggy imports importlib.metadata, which a command that uses no extension must not pay for.
            from evalsi_kernel.extension_loading import hooks_of

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
        return Extensions(map(ExtensionInfo.from_dict, kept["extensions"]), kept["warnings"])
    # importlib.metadata and pydantic cost more than all the rest of a start.
    from evalsi_kernel.extension_discovery import discover_extensions

    found = discover_extensions()
    value = {
        "read": [[path, _state(path)] for path in found.paths],
        "extensions": [info.to_dict() for info in found.infos],
        "warnings": found.warnings,
    }
    warning = write_cached(index, key, value) if found.is_lasting else ""
    return Extensions(found.infos, [*found.warnings, *([warning] if warning else [])])


def open_source(uri: str, extensions: Extensions) -> Source:
    """Open data by its scheme (`x://`), as standard input (`-`), or by the longest known end of the file's name.

    Raises:
        ConfigError: `config.no_extension`; nothing reads such data. Also as `Extensions.load` raises.
        DatasetError: the reader cannot open it.
    """
    kind, name = _reader_of(uri, extensions)
    return cast("Source", _asked(extensions, kind, name, "evalsi_open_source", uri=uri))


def interval_method(name: str, extensions: Extensions) -> IntervalMethod:
    """The method that makes intervals under a name of `--ci`.

    Raises:
        ConfigError: `config.no_extension`; there is none of that name. Also as `Extensions.load` raises.
    """
    return cast("IntervalMethod", _asked(extensions, "intervals", name, "evalsi_interval_method", name=name))


def gate_warnings(
    gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path, extensions: Extensions
) -> list[str]:
    """What all extensions say of what gates rest on, as `hooks.evalsi_gate_warnings`; raises as `Extensions.load`."""
    asked = [extensions.load(info).hook for info in extensions.infos if info.names("gate_warnings")]
    told = [hook.evalsi_gate_warnings(gated=gated, judge=judge, folder=folder) for hook in asked]
    return [warning for of_extension in told for warnings in of_extension for warning in warnings]


def connector(settings: ConnectorSettings, extensions: Extensions) -> Connector:
    """The connector to a model; within the event loop that will use it.

    Raises:
        ConfigError: no extension provides it, or it cannot be made. Also as `Extensions.load` raises.
    """
    return cast("Connector", _asked(extensions, "connectors", settings.provider, "evalsi_connector", settings=settings))


def target_kind(name: str, extensions: Extensions) -> str:
    """Under which name of `targets` a spec's connector is found: its own, or "model" where it is a model's connector.

    Raises:
        ConfigError: `config.no_extension`; it is neither.
    """
    targets, models = extensions.names("targets"), extensions.names("connectors")
    if name in targets or (name not in models and not targets):
        return name
    if name in models:
        return MODEL_TARGET
    known = [*(kind for kind in targets if kind != MODEL_TARGET), *models]
    raise ConfigError(f"There is no target {name!r}.", choose(name, known), code="config.no_extension")


def target_options(name: str, extensions: Extensions) -> type[BaseModel]:
    """The model of a target's own keys. Raises as `target_kind` and `connector` do."""
    kind = target_kind(name, extensions)
    return cast("type[BaseModel]", _asked(extensions, "targets", kind, "evalsi_target_options", connector=name))


def open_target(settings: TargetSettings, lent: Lent, extensions: Extensions) -> Target:
    """What a run asks for outputs; within the event loop that will use it. Raises as `connector` does."""
    kind = target_kind(settings.connector, extensions)
    return cast("Target", _asked(extensions, "targets", kind, "evalsi_target", settings=settings, lent=lent))


def command(name: str, toolkit: Toolkit, extensions: Extensions) -> Command:
    """The command of a name; `toolkit` is what it is lent. Raises as `connector` does."""
    return cast("Command", _asked(extensions, "commands", name, "evalsi_command", name=name, toolkit=toolkit))


def judge_cache(on_note: Callable[[str], None], extensions: Extensions, *, may_write: bool) -> JudgeCache:
    """The cache of replies. Raises as `connector` does."""
    given = {"on_note": on_note, "may_write": may_write}
    return cast("JudgeCache", _asked(extensions, "judge_cache", ONLY_ONE, "evalsi_judge_cache", **given))


def batches_of(
    identity: Mapping[str, str],
    connector: BatchConnector,
    kept: KeptReplies | None,
    on_note: Callable[[str], None],
    extensions: Extensions,
) -> Batches:
    """The batches of a model, which are not opened yet. Raises as `connector` does."""
    given = {"identity": identity, "connector": connector, "kept": kept, "on_note": on_note}
    return cast("Batches", _asked(extensions, "batches", ONLY_ONE, "evalsi_batches", **given))


def environment_builder(extensions: Extensions) -> EnvironmentBuilder:
    """What builds the environments of packs. Raises as `connector` does."""
    return cast("EnvironmentBuilder", _asked(extensions, "environments", ONLY_ONE, "evalsi_environment_builder"))


def runtime_launch(pack: PackInfo, extensions: Extensions) -> Launch:
    """How a pack comes to life that is no Python code. Raises as `connector` does."""
    return cast("Launch", _asked(extensions, "runtimes", pack.runtime, "evalsi_runtime", pack=pack))


def admission(pack: PackInfo, extensions: Extensions) -> Callable[[Launch], Launch]:
    """What holds a third party's pack to what it may do. Raises as `connector` does, and where it is not admitted."""
    return cast("Callable[[Launch], Launch]", _asked(extensions, "admission", ONLY_ONE, "evalsi_admission", pack=pack))


def condition_language(extensions: Extensions) -> ConditionLanguage:
    """What reads the conditions of gates and evaluators. Raises as `connector` does."""
    return cast("ConditionLanguage", _asked(extensions, "conditions", ONLY_ONE, "evalsi_condition_language"))


def read_baseline(extensions: Extensions, path: Path, name: str, paired: Collection[str]) -> Baseline:
    """A results file that a gate compares with. Raises as `connector` does, and where it cannot be used."""
    hook = "evalsi_read_baseline"
    return cast("Baseline", _asked(extensions, "baselines", ONLY_ONE, hook, path=path, name=name, paired=paired))


def stopping_rule(extensions: Extensions) -> StoppingRule:
    """What ends a run once its gates are decided. Raises as `connector` does."""
    return cast("StoppingRule", _asked(extensions, "early_stopping", ONLY_ONE, "evalsi_stopping_rule"))


def price_file(provider: str, extensions: Extensions) -> Path | None:
    """The file of prices that goes with a provider's connector; None where none is. Raises as `connector` does."""
    path: Path | None = extensions.plugin_manager_for("connectors", provider).hook.evalsi_prices(provider=provider)
    return path


def read_prices(path: Path, extensions: Extensions) -> PriceFile:
    """What a file of prices says. Raises as `connector` does."""
    return cast("PriceFile", _asked(extensions, "price_files", ONLY_ONE, "evalsi_read_prices", path=path))


def mend_for(kind: str, name: str, extensions: Extensions) -> str:
    """What to do where no extension provides a name: the nearest name, those there are, what to install."""
    known = extensions.names(kind)
    mends = [did_you_mean(name, known)]
    if known and known != [ONLY_ONE]:
        mends.append(f"There are: {', '.join(known)}.")
    brought_by = _BROUGHT_BY.get((kind, name)) or (not known and _BROUGHT_BY.get((kind, "")))
    if extensions.warnings:
        # What is installed and left out is nearer than what could be installed.
        mends.extend(extensions.warnings)
    elif brought_by:
        mends.append(f"Install it: pip install '{brought_by}'")
    elif not known:
        mends.append("Install an extension that provides it.")
    return " ".join(mend for mend in mends if mend)


def _reader_of(uri: str, extensions: Extensions) -> tuple[str, str]:
    if uri == "-":
        return "stdin", ONLY_ONE
    if scheme := re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", uri):
        return "schemes", scheme[1].lower()
    if os.path.exists(uri) and not os.path.isfile(uri):
        # A named pipe, /dev/stdin or <(…): a stream whose name says nothing of its format.
        return "stdin", ONLY_ONE
    file_name = os.path.basename(uri).lower()
    fitting = [suffix for suffix in extensions.names("suffixes") if file_name.endswith(suffix)]
    if fitting:
        return "suffixes", max(fitting, key=len)
    check_path(uri)
    return "suffixes", os.path.splitext(file_name)[1] or file_name


def _asked(extensions: Extensions, kind: str, name: str, hook: str, /, **given: Any) -> Any:
    """What a hook of the one extension that provides a name gives for it, which must not be nothing."""
    found = getattr(extensions.plugin_manager_for(kind, name).hook, hook)(**given)
    if found is None:
        info = extensions.provider(kind, name)
        assert info is not None
        raise ConfigError(
            f'{info.distribution} {info.version} says that it provides "{name}" ({kind}), and its {hook} returned '
            "nothing.",
            f"Upgrade {info.distribution}, or tell its authors.",
            code="config.extension",
        )
    return found


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
