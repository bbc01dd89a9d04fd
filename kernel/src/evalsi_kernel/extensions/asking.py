"""What the kernel asks of extensions: a function for each hook, which finds who provides it and takes no for no answer.

It must not know any extension, nor what a hook does with what it is given.
"""

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
    from evalsi_kernel.target import Lent, Target, TargetSettings

MODEL_TARGET = "model"
"""The target that asks a model through any connector."""


def open_source(uri: str, extensions: Extensions, folder: Path | None = None) -> Source:
    """Open data by its scheme (`x://`), as standard input (`-`), or by the longest known end of the file's name.

    A relative path in it begins at the folder, which is the working one unless given.

    Raises:
        ConfigError: `config.no_extension`; nothing reads such data. Also as `Extensions.load` raises.
        DatasetError: the reader cannot open it.
    """
    kind, name = _reader_of(uri, extensions)
    return cast("Source", _asked(extensions, kind, name, "evalsi_open_source", uri=uri, folder=folder))


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


def trial_advice(extensions: Extensions, trials: int, **about: Any) -> TrialAdvice | None:
    """What says how many trials a run would need; None where it has one, or nothing here does."""
    info = extensions.provider("trial_advice", ONLY_ONE) if trials > 1 else None
    return info and cast("TrialAdvice", extensions.load(info).hook.evalsi_trial_advice(trials=trials, **about))


def price_file(provider: str, extensions: Extensions) -> Path | None:
    """The file of prices that goes with a provider's connector; None where none is. Raises as `connector` does."""
    path: Path | None = extensions.plugin_manager_for("connectors", provider).hook.evalsi_prices(provider=provider)
    return path


def read_prices(path: Path, extensions: Extensions) -> PriceFile:
    """What a file of prices says. Raises as `connector` does."""
    return cast("PriceFile", _asked(extensions, "price_files", ONLY_ONE, "evalsi_read_prices", path=path))


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
