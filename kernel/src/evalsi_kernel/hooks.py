"""What a host extension can implement: pluggy's specifications, the whole contract between kernel and extensions.

It must not know any extension. docs/reference/hooks.md is written from here by tests/kernel/hooks_page.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

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
    from evalsi_kernel.packs.instances import Instance
    from evalsi_kernel.packs.pack_info import PackInfo
    from evalsi_kernel.records.sources import Source
    from evalsi_kernel.scores.intervals import IntervalMethod
    from evalsi_kernel.supervision.launch import Launch
    from evalsi_kernel.target import Lent, Target, TargetSettings

PROJECT = "evalsi"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def evalsi_open_source(uri: str, folder: Path | None) -> Source | None:
    """Open the data that `--data` names, without reading any of it yet.

    Asked of the extension whose `extension.toml` provides the scheme (`schemes`), the longest fitting end of the file's
    name (`suffixes`) or standard input (`stdin = true`).

    Args:
        uri: as the user wrote it: a path, `scheme://…`, or `-` for standard input.
        folder: where a relative path in it begins; None for the working folder.

    Returns:
        The source of rows, or None where the extension cannot open this after all.

    Raises:
        DatasetError: the data cannot be opened; the message says why, the correct what to do.
    """


@hookspec(firstresult=True)
def evalsi_interval_method(name: str) -> IntervalMethod | None:
    """Give the method that makes confidence intervals under `--ci NAME`.

    Asked of the extension whose `extension.toml` provides the name (`intervals`).

    Args:
        name: as the user wrote it, such as `bootstrap`.

    Returns:
        The method, or None where the name is another's.
    """


@hookspec(firstresult=True)
def evalsi_connector(settings: ConnectorSettings) -> Connector | None:
    """Make the connector to a model, without calling it yet. Called within the event loop that will use it.

    Asked of the extension whose `extension.toml` provides the provider's name (`connectors`).

    Args:
        settings: what the user says of the model; `settings.provider` is the name.

    Returns:
        The connector, or None where the provider is another's.

    Raises:
        ConfigError: it cannot be made: a key is missing (`config.no_key`, naming the variable), or the address is none.
    """


@hookspec(firstresult=True)
def evalsi_prices(provider: str) -> Path | None:
    """Name the file of prices that goes with a connector: TOML, in USD per million tokens.

    Asked of the extension whose `extension.toml` provides the provider's name (`connectors`). What a user gives with
    `--judge-prices` goes before it; a model that is in neither costs "unknown".

    Args:
        provider: the connector's name, such as `anthropic`.

    Returns:
        The path of a file that the extension ships, or None where it knows no prices.
    """


@hookspec(firstresult=True)
def evalsi_judge_cache(on_note: Callable[[str], None], may_write: bool) -> JudgeCache | None:
    """Give what keeps the replies of models from one run to the next.

    Asked of the extension whose `extension.toml` says `judge_cache = true`, within the event loop that will use it,
    unless `--no-cache` is given. Without one a run with a judge goes on, and says that each call is made and paid.

    Args:
        on_note: is told, in the loop's thread, each sentence that the user should know.
        may_write: whether it may be made or changed; a dry run only looks at what is kept.

    Returns:
        The cache, which opens what it needs when it is first used, or None where there can be none after all.
    """


@hookspec(firstresult=True)
def evalsi_batches(
    identity: Mapping[str, str],
    connector: BatchConnector,
    kept: KeptReplies | None,
    on_note: Callable[[str], None],
) -> Batches | None:
    """Give what has the questions to a model answered in batches, under `--judge-batch`.

    Asked of the extension whose `extension.toml` says `batches = true`, within the event loop that will use it, once
    for each model that judges.

    Args:
        identity: of the model, as its connector gives it.
        connector: of the model, which hands batches in and asks after them.
        kept: the replies that are kept of this model, which hold what another run was told meanwhile; None where none
            are kept.
        on_note: gets a sentence for a person, such as how far a batch is.

    Returns:
        The batches, not opened yet, or None where there can be none after all.
    """


@hookspec(firstresult=True)
def evalsi_read_prices(path: Path) -> PriceFile | None:
    """Read a file of prices, a connector's own or the one that `--judge-prices` names.

    Asked of the extension whose `extension.toml` says `price_files = true`.

    Args:
        path: of the file.

    Returns:
        What it says, or None where it is of a form that is not known.

    Raises:
        ConfigError: it cannot be read, or something in it does not fit; the message names each line.
    """


@hookspec(firstresult=True)
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """Give a command of the command line: `evalsi NAME`.

    Asked of the extension whose `extension.toml` provides the name (`commands`, a table of name and the line that
    `evalsi --help` shows).

    Args:
        name: of the command.
        toolkit: what the host's command line lends it: the flags of models, the reading of `--evaluators`, progress.

    Returns:
        The command, or None where the name is another's.
    """


@hookspec(firstresult=True)
def evalsi_environment_builder() -> EnvironmentBuilder | None:
    """Give what builds the environments of packs from their locks.

    Asked of the extension whose `extension.toml` says `environments = true`, and only when an environment is not ready:
    one that is there is found without it.

    Returns:
        The builder, or None where none can be had after all.
    """


@hookspec(firstresult=True)
def evalsi_runtime(pack: PackInfo) -> Launch | None:
    """Say how a pack comes to life whose code is no Python module: what runs it, and speaks the protocol for it.

    Asked of the extension whose `extension.toml` provides the name (`runtimes`) that the pack's manifest gives as
    `runtime` under `[run]`, each time such a pack is about to be used. Nothing of the pack is run by this.

    Args:
        pack: what its manifest says; the code is the file `pack.module` in `pack.folder`.

    Returns:
        The launch, of a process that speaks the protocol over its standard streams or of a stream to one that runs
        already, or None where it is another's.

    Raises:
        PackError: the pack cannot be run: its file is not there, or its options do not fit.
    """


@hookspec(firstresult=True)
def evalsi_admission(pack: PackInfo) -> Callable[[Launch], Launch] | None:
    """Say whether a pack that is not of this product may run, and how it is held to what it may do.

    Asked of the extension whose `extension.toml` says `admission = true`, each time a pack with a publisher's name, or
    one that was added to a project, is about to be used; before its environment is built, and before any of its code
    runs.

    Args:
        pack: what its manifest says, and where it lies.

    Returns:
        What makes of the pack's launch the one that is used: one that holds the process to what was granted, where this
        host can, or the launch as it is. None where packs cannot be admitted at all.

    Raises:
        PackError: it is not what was added to the project.
        ConfigError: what the project says of its packs cannot be read.
    """


@hookspec(firstresult=True)
def evalsi_target_options(connector: str) -> type[BaseModel] | None:
    """Give the model of a target's own keys in a spec: all but `connector` and `max_concurrency`.

    Asked of the extension whose `extension.toml` provides the name (`targets`), before anything of a run is done; what
    the model refuses is told with its place in the spec, and its JSON Schema joins that of `evalsi schema run`.

    Args:
        connector: as the spec writes it; of the target `model` it is a model's connector, such as `anthropic`.

    Returns:
        A pydantic model that forbids other keys, or None where the target is another's.
    """


@hookspec(firstresult=True)
def evalsi_target(settings: TargetSettings, lent: Lent) -> Target | None:
    """Make what a run asks for outputs, without asking yet. Called within the event loop that will use it.

    Asked of the extension whose `extension.toml` provides the name (`targets`).

    Args:
        settings: what the spec says of it; the options have passed the model of `evalsi_target_options`.
        lent: what other extensions bring: connectors to models, readers of files.

    Returns:
        The target, or None where it is another's.

    Raises:
        ConfigError: it cannot be made: a key is missing, a file or a program is not there.
    """


@hookspec(firstresult=True)
def evalsi_condition_language() -> ConditionLanguage | None:
    """Give what reads the conditions of gates and evaluators (`when`).

    Asked of the extension whose `extension.toml` says `conditions = true`, when a run has the first of them.

    Returns:
        The language, or None where it cannot be had after all.

    Raises:
        ConfigError: `config.condition`; no library that reads it is installed.
    """


@hookspec(firstresult=True)
def evalsi_read_baseline(path: Path, name: str, paired: Collection[str]) -> Baseline | None:
    """Read a results file that a gate compares with.

    Asked of the extension whose `extension.toml` says `baselines = true`, before anything is scored.

    Args:
        path: of the file.
        name: as the gate writes it, by which errors call it.
        paired: the metrics for which the values of records are needed.

    Returns:
        What the file says, with the test for its pairs with the run that is gated; None where it is of a form that is
        not known.

    Raises:
        ConfigError: `config.baseline`; it is not there, is cut off, or is no results file of a form that is known.
    """


@hookspec(firstresult=True)
def evalsi_stopping_rule() -> StoppingRule | None:
    """Give what ends a run once its gates are decided, under `stop_when_decided`.

    Asked of the extension whose `extension.toml` says `early_stopping = true`, before anything of a run is done.

    Returns:
        The rule, which makes of a run's gates what is fed a record at a time, or None where there can be none after
        all.
    """


@hookspec(firstresult=True)
def evalsi_trial_advice(
    ranges: Mapping[str, tuple[float, float]], instances: Sequence[Instance], trials: int, level: float
) -> TrialAdvice | None:
    """Give what says how many trials a run would need, from those that it has.

    Asked of the extension whose `extension.toml` says `trial_advice = true`, when a run with several trials is summed
    up. Without one a run goes on, and nothing is said of it.

    Args:
        ranges: metric → (minimum, maximum) of its values, where they are declared; of pass/fail metrics (0, 1).
        instances: the evaluators of the run.
        trials: of each record, at least 2.
        level: confidence level of the run's intervals, between 0 and 1.

    Returns:
        What is fed the outcomes of the run, or None where there can be none after all.
    """


@hookspec
def evalsi_gate_warnings(
    gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path
) -> Sequence[str] | None:
    """Say what a gate rests on that may not bear it, such as a judge that was never held against people.

    Asked of every extension whose `extension.toml` says `gate_warnings = true`, before anything is scored or after it:
    a warning changes no verdict.

    Args:
        gated: the evaluators whose metrics gates look at, each as the manifest of a run has it: `name`, `ref`,
            `params`, `asks`, and `prompts` once they are known.
        judge: the model that judges, as `judge.roles.primary` of the manifest has it: `provider`, `model`, `effort`;
            None where none is named.
        folder: where the spec of the run lies, beside which files about it are looked for.

    Returns:
        A sentence for each warning; none, or None, where all is well.
    """
