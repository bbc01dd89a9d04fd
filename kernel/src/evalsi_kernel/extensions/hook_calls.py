"""Call the hooks of extensions: one typed function per hook, which finds the extension that provides a name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evalsi_kernel.checking.suggestions import choose
from evalsi_kernel.errors import ConfigError
from evalsi_kernel.extensions.info import ONLY_ONE
from evalsi_kernel.extensions.installed import Extensions
from evalsi_kernel.files.data_path import check_path

if TYPE_CHECKING:
    from pydantic import BaseModel

    from evalsi_kernel.broker.batches import Batches, KeptReplies
    from evalsi_kernel.broker.connector import BatchConnector, Connector, ConnectorSettings
    from evalsi_kernel.broker.judge_cache import JudgeCache
    from evalsi_kernel.broker.prices import PriceFile
    from evalsi_kernel.commands import Command, Toolkit
    from evalsi_kernel.gates.baseline import Baseline
    from evalsi_kernel.gates.conditions import ConditionLanguage
    from evalsi_kernel.gates.early_stopping import StoppingRule
    from evalsi_kernel.gates.trial_advice import TrialAdvice
    from evalsi_kernel.packs.environment_builder import EnvironmentBuilder
    from evalsi_kernel.packs.pack_info import PackInfo
    from evalsi_kernel.records.sources import Source
    from evalsi_kernel.scores.intervals import IntervalMethod
    from evalsi_kernel.supervision.launch import Launch
    from evalsi_kernel.target import Target, TargetServices, TargetSettings

MODEL_TARGET = "model"
"""Name of the target that calls a model through any connector."""


def open_source(uri: str, extensions: Extensions, folder: Path | None = None) -> Source:
    """Open data by its scheme (`x://`), as standard input (`-`), or by the longest known suffix of its name.

    Relative paths in it start at `folder`; None means the working folder.

    Raises:
        ConfigError: `config.no_extension`: no extension reads such data. Also as `Extensions.load`.
        DatasetError: the data cannot be opened.
    """
    kind, name = _reader_of(uri, extensions)
    return cast("Source", _asked(extensions, kind, name, "evalsi_open_source", uri=uri, folder=folder))


def interval_method(name: str, extensions: Extensions) -> IntervalMethod:
    """Return the interval method of a `--ci` name.

    Raises:
        ConfigError: `config.no_extension`: there is no such method. Also as `Extensions.load`.
    """
    return cast("IntervalMethod", _asked(extensions, "intervals", name, "evalsi_interval_method", name=name))


def gate_warnings(
    gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path, extensions: Extensions
) -> list[str]:
    """Return the gate warnings of all extensions; see `hooks.evalsi_gate_warnings`. Raise as `Extensions.load`."""
    asked = [extensions.load(info).hook for info in extensions.infos if info.names("gate_warnings")]
    results = [hook.evalsi_gate_warnings(gated=gated, judge=judge, folder=folder) for hook in asked]
    return [warning for of_extension in results for warnings in of_extension for warning in warnings]


def connector(settings: ConnectorSettings, extensions: Extensions) -> Connector:
    """Return the connector to a model; call it within the event loop that uses the connector.

    Raises:
        ConfigError: no extension provides it, or its settings are invalid. Also as `Extensions.load`.
    """
    return cast("Connector", _asked(extensions, "connectors", settings.provider, "evalsi_connector", settings=settings))


def target_kind(name: str, extensions: Extensions) -> str:
    """Return the name in `targets` of a spec's connector: its own, or "model" for a model's connector.

    Raises:
        ConfigError: `config.no_extension`: it is neither.
    """
    targets, models = extensions.names("targets"), extensions.names("connectors")
    if name in targets or (name not in models and not targets):
        return name
    if name in models:
        return MODEL_TARGET
    known = [*(kind for kind in targets if kind != MODEL_TARGET), *models]
    raise ConfigError(f"Unknown target {name!r}.", choose(name, known), code="config.no_extension")


def target_options(name: str, extensions: Extensions) -> type[BaseModel]:
    """Return the pydantic model of a target's own keys. Raise as `target_kind` and `connector`."""
    kind = target_kind(name, extensions)
    return cast("type[BaseModel]", _asked(extensions, "targets", kind, "evalsi_target_options", connector=name))


def open_target(settings: TargetSettings, lent: TargetServices, extensions: Extensions) -> Target:
    """Return the target of a run; call it within the event loop that uses it. Raise as `connector`."""
    kind = target_kind(settings.connector, extensions)
    return cast("Target", _asked(extensions, "targets", kind, "evalsi_target", settings=settings, lent=lent))


def command(name: str, toolkit: Toolkit, extensions: Extensions) -> Command:
    """Return the command of a name. Raise as `connector`."""
    return cast("Command", _asked(extensions, "commands", name, "evalsi_command", name=name, toolkit=toolkit))


def judge_cache(on_note: Callable[[str], None], extensions: Extensions, *, may_write: bool) -> JudgeCache:
    """Return the reply cache. Raise as `connector`."""
    given = {"on_note": on_note, "may_write": may_write}
    return cast("JudgeCache", _asked(extensions, "judge_cache", ONLY_ONE, "evalsi_judge_cache", **given))


def batches_of(
    identity: Mapping[str, str],
    connector: BatchConnector,
    kept: KeptReplies | None,
    on_note: Callable[[str], None],
    extensions: Extensions,
) -> Batches:
    """Return the batch handler of a model, not opened yet. Raise as `connector`."""
    given = {"identity": identity, "connector": connector, "kept": kept, "on_note": on_note}
    return cast("Batches", _asked(extensions, "batches", ONLY_ONE, "evalsi_batches", **given))


def environment_builder(extensions: Extensions) -> EnvironmentBuilder:
    """Return the builder of pack environments. Raise as `connector`."""
    return cast("EnvironmentBuilder", _asked(extensions, "environments", ONLY_ONE, "evalsi_environment_builder"))


def runtime_launch(pack: PackInfo, extensions: Extensions) -> Launch:
    """Return how to start a pack that is not Python code. Raise as `connector`."""
    return cast("Launch", _asked(extensions, "runtimes", pack.runtime, "evalsi_runtime", pack=pack))


def admission(pack: PackInfo, extensions: Extensions) -> Callable[[Launch], Launch]:
    """Return the function that restricts the launch of a third-party pack. Raise as `connector`, or if not admitted."""
    return cast("Callable[[Launch], Launch]", _asked(extensions, "admission", ONLY_ONE, "evalsi_admission", pack=pack))


def condition_language(extensions: Extensions) -> ConditionLanguage:
    """Return the language of conditions in gates and evaluators. Raise as `connector`."""
    return cast("ConditionLanguage", _asked(extensions, "conditions", ONLY_ONE, "evalsi_condition_language"))


def read_baseline(extensions: Extensions, path: Path, name: str, paired: Collection[str]) -> Baseline:
    """Return a results file that a gate compares with. Raise as `connector`, or if it is invalid."""
    hook = "evalsi_read_baseline"
    return cast("Baseline", _asked(extensions, "baselines", ONLY_ONE, hook, path=path, name=name, paired=paired))


def stopping_rule(extensions: Extensions) -> StoppingRule:
    """Return the rule that ends a run once its gates are decided. Raise as `connector`."""
    return cast("StoppingRule", _asked(extensions, "early_stopping", ONLY_ONE, "evalsi_stopping_rule"))


def trial_advice(extensions: Extensions, trials: int, **about: Any) -> TrialAdvice | None:
    """Return the advisor on the number of trials; None with a single trial or without such an extension."""
    info = extensions.provider("trial_advice", ONLY_ONE) if trials > 1 else None
    return info and cast("TrialAdvice", extensions.load(info).hook.evalsi_trial_advice(trials=trials, **about))


def price_file(provider: str, extensions: Extensions) -> Path | None:
    """Return the path of a connector's price file; None where it has none. Raise as `connector`."""
    path: Path | None = extensions.plugin_manager_for("connectors", provider).hook.evalsi_prices(provider=provider)
    return path


def read_prices(path: Path, extensions: Extensions) -> PriceFile:
    """Return the content of a price file. Raise as `connector`."""
    return cast("PriceFile", _asked(extensions, "price_files", ONLY_ONE, "evalsi_read_prices", path=path))


def _reader_of(uri: str, extensions: Extensions) -> tuple[str, str]:
    if uri == "-":
        return "stdin", ONLY_ONE
    if scheme := re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", uri):
        return "schemes", scheme[1].lower()
    if os.path.exists(uri) and not os.path.isfile(uri):
        # A named pipe, /dev/stdin or <(…): a stream whose name does not show its format.
        return "stdin", ONLY_ONE
    file_name = os.path.basename(uri).lower()
    fitting = [suffix for suffix in extensions.names("suffixes") if file_name.endswith(suffix)]
    if fitting:
        return "suffixes", max(fitting, key=len)
    check_path(uri)
    return "suffixes", os.path.splitext(file_name)[1] or file_name


def _asked(extensions: Extensions, kind: str, name: str, hook: str, /, **given: Any) -> Any:
    """Call a hook of the one extension that provides a name; a result of None is an error."""
    found = getattr(extensions.plugin_manager_for(kind, name).hook, hook)(**given)
    if found is None:
        info = extensions.provider(kind, name)
        assert info is not None
        raise ConfigError(
            f'{info.distribution} {info.version} declares "{name}" ({kind}), but its hook {hook} returned None.',
            f"Upgrade {info.distribution}, or report it to its authors.",
            code="config.extension",
        )
    return found
