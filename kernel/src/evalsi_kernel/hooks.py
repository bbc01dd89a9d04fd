"""The hook specifications of host extensions (pluggy): the whole contract between the kernel and extensions.

docs/reference/hooks.md is generated from the docstrings of this module.
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
    from evalsi_kernel.target import Target, TargetServices, TargetSettings

PROJECT = "evalsi"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec(firstresult=True)
def evalsi_open_source(uri: str, folder: Path | None) -> Source | None:
    """Open the data that `--data` names, without reading it yet.

    Called on the extension whose `extension.toml` provides the URI's scheme (`schemes`), the longest matching suffix of
    the file name (`suffixes`), or standard input (`stdin = true`).

    Args:
        uri: the value of `--data`: a path, `scheme://…`, or `-` for standard input.
        folder: base folder of relative paths in it; None means the working folder.

    Returns:
        The source of rows, or None if the extension cannot open the data.

    Raises:
        DatasetError: the data cannot be opened.
    """


@hookspec(firstresult=True)
def evalsi_interval_method(name: str) -> IntervalMethod | None:
    """Return the method that computes confidence intervals for `--ci NAME`.

    Called on the extension whose `extension.toml` provides the name (`intervals`).

    Args:
        name: the value of `--ci`, such as `bootstrap`.

    Returns:
        The method, or None if the extension does not provide it.
    """


@hookspec(firstresult=True)
def evalsi_connector(settings: ConnectorSettings) -> Connector | None:
    """Create the connector to a model, without calling the model.

    Called on the extension whose `extension.toml` provides the provider's name (`connectors`), within the event loop
    that uses the connector.

    Args:
        settings: the user's settings of the model; `settings.provider` is the name.

    Returns:
        The connector, or None if the extension does not provide it.

    Raises:
        ConfigError: the settings are invalid, such as a missing key (`config.no_key`, which names the variable) or a
            malformed URL.
    """


@hookspec(firstresult=True)
def evalsi_prices(provider: str) -> Path | None:
    """Return the price file of a connector: TOML, in USD per million tokens.

    Called on the extension whose `extension.toml` provides the provider's name (`connectors`). A file that the user
    passes with `--judge-prices` overrides it. The cost of a model in neither file is unknown.

    Args:
        provider: name of the connector, such as `anthropic`.

    Returns:
        Path of a file that the extension ships, or None if it has no prices.
    """


@hookspec(firstresult=True)
def evalsi_judge_cache(on_note: Callable[[str], None], may_write: bool) -> JudgeCache | None:
    """Return the cache that keeps model replies between runs.

    Called on the extension whose `extension.toml` sets `judge_cache = true`, within the event loop that uses the cache,
    unless `--no-cache` is given. Without such an extension a run with a judge notes that every call is made and billed.

    Args:
        on_note: receives messages for the user; call it in the loop's thread.
        may_write: whether the cache may be created or changed; a dry run only reads it.

    Returns:
        The cache, which opens its files on first use, or None if there is none.
    """


@hookspec(firstresult=True)
def evalsi_batches(
    identity: Mapping[str, str],
    connector: BatchConnector,
    kept: KeptReplies | None,
    on_note: Callable[[str], None],
) -> Batches | None:
    """Return the batch handler of a model, used with `--judge-batch`.

    Called on the extension whose `extension.toml` sets `batches = true`, within the event loop that uses the handler,
    once for each judge model.

    Args:
        identity: identity of the model, from its connector.
        connector: connector of the model, which submits batches and polls them.
        kept: cached replies of the model, including those that other runs add meanwhile; None without a cache.
        on_note: receives messages for the user, such as the progress of a batch.

    Returns:
        The handler, not opened yet, or None if there is none.
    """


@hookspec(firstresult=True)
def evalsi_read_prices(path: Path) -> PriceFile | None:
    """Read a price file: a connector's own, or the one passed with `--judge-prices`.

    Called on the extension whose `extension.toml` sets `price_files = true`.

    Args:
        path: path of the file.

    Returns:
        The prices, or None if the format is unknown.

    Raises:
        ConfigError: the file cannot be read or is invalid; the message names each line.
    """


@hookspec(firstresult=True)
def evalsi_command(name: str, toolkit: Toolkit) -> Command | None:
    """Return a subcommand of the command line: `evalsi NAME`.

    Called on the extension whose `extension.toml` provides the name (`commands`, a table from names to the lines that
    `evalsi --help` shows).

    Args:
        name: name of the command.
        toolkit: services of the host's command line: flags for models, parsing of `--evaluators`, progress.

    Returns:
        The command, or None if the extension does not provide it.
    """


@hookspec(firstresult=True)
def evalsi_environment_builder() -> EnvironmentBuilder | None:
    """Return the builder that creates the environments of packs from their lock files.

    Called on the extension whose `extension.toml` sets `environments = true`, only when an environment is not ready.
    Existing environments are found without it.

    Returns:
        The builder, or None if there is none.
    """


@hookspec(firstresult=True)
def evalsi_runtime(pack: PackInfo) -> Launch | None:
    """Return how to start a pack whose code is not a Python module.

    Called on the extension whose `extension.toml` provides the name (`runtimes`) that the pack's manifest sets as
    `runtime` under `[run]`, each time such a pack is about to be used. The hook must not run the pack.

    Args:
        pack: the pack's manifest; its code is the file `pack.module` in `pack.folder`.

    Returns:
        The launch of a process that speaks the protocol over its standard streams, or of a stream to one that is
        running already; None if the extension does not provide the runtime.

    Raises:
        PackError: the pack cannot be run: its file is missing, or its options are invalid.
    """


@hookspec(firstresult=True)
def evalsi_admission(pack: PackInfo) -> Callable[[Launch], Launch] | None:
    """Decide whether a third-party pack may run, and enforce its granted permissions.

    Called on the extension whose `extension.toml` sets `admission = true`, each time a pack with a publisher in its
    name, or one added to a project, is about to be used. The call precedes the build of its environment and any
    execution of its code.

    Args:
        pack: the pack's manifest and folder.

    Returns:
        A function from the pack's launch to the launch to use: one that enforces what was granted where the host can,
        or the same one. None if packs cannot be admitted.

    Raises:
        PackError: the pack is not the one that was added to the project.
        ConfigError: the project's file of packs cannot be read.
    """


@hookspec(firstresult=True)
def evalsi_target_options(connector: str) -> type[BaseModel] | None:
    """Return the pydantic model of a target's own keys in a spec: all but `connector` and `max_concurrency`.

    Called on the extension whose `extension.toml` provides the name (`targets`), before a run starts. Validation errors
    are reported with their place in the spec, and the model's JSON Schema becomes part of `evalsi schema run`.

    Args:
        connector: the connector in the spec; for the target `model` it is the connector of a model, such as
            `anthropic`.

    Returns:
        A pydantic model that forbids other keys, or None if the extension does not provide the target.
    """


@hookspec(firstresult=True)
def evalsi_target(settings: TargetSettings, lent: TargetServices) -> Target | None:
    """Create the target of a run, without calling it.

    Called on the extension whose `extension.toml` provides the name (`targets`), within the event loop that uses the
    target.

    Args:
        settings: the target in the spec; its options have passed the model of `evalsi_target_options`.
        lent: services of other extensions: connectors to models, readers of files.

    Returns:
        The target, or None if the extension does not provide it.

    Raises:
        ConfigError: the settings are invalid: a key, a file or a program is missing.
    """


@hookspec(firstresult=True)
def evalsi_condition_language() -> ConditionLanguage | None:
    """Return the language of conditions in gates and evaluators (`when`).

    Called on the extension whose `extension.toml` sets `conditions = true`, when a run has a condition.

    Returns:
        The language, or None if there is none.

    Raises:
        ConfigError: `config.condition`: the library that evaluates conditions is not installed.
    """


@hookspec(firstresult=True)
def evalsi_read_baseline(path: Path, name: str, paired: Collection[str]) -> Baseline | None:
    """Read a results file that a gate uses as its baseline.

    Called on the extension whose `extension.toml` sets `baselines = true`, before anything is scored.

    Args:
        path: path of the file.
        name: the path as the gate writes it, for error messages.
        paired: the metrics whose values are needed per record.

    Returns:
        The content, with the test that compares its records to those of the gated run; None if the format is unknown.

    Raises:
        ConfigError: `config.baseline`: the file is missing, truncated, or not a results file of a known version.
    """


@hookspec(firstresult=True)
def evalsi_stopping_rule() -> StoppingRule | None:
    """Return the rule that ends a run once its gates are decided (`stop_when_decided`).

    Called on the extension whose `extension.toml` sets `early_stopping = true`, before a run starts.

    Returns:
        The rule, which turns the gates of a run into a monitor that receives one record at a time; None if there is
        none.
    """


@hookspec(firstresult=True)
def evalsi_trial_advice(
    ranges: Mapping[str, tuple[float, float]], instances: Sequence[Instance], trials: int, level: float
) -> TrialAdvice | None:
    """Return the advisor that estimates how many trials a run needs, based on those that it has.

    Called on the extension whose `extension.toml` sets `trial_advice = true`, when a run with several trials is
    summarized. Without such an extension the run has no advice.

    Args:
        ranges: metric → (minimum, maximum) of its values, where declared; (0, 1) for pass/fail metrics.
        instances: the evaluators of the run.
        trials: number of trials of each record, at least 2.
        level: confidence level of the run's intervals, between 0 and 1.

    Returns:
        The advisor, which receives the outcomes of the run, or None if there is none.
    """


@hookspec
def evalsi_gate_warnings(
    gated: Sequence[Mapping[str, Any]], judge: Mapping[str, Any] | None, folder: Path
) -> Sequence[str] | None:
    """Warn about weak foundations of a gate, such as a judge that was never calibrated against people.

    Called on every extension whose `extension.toml` sets `gate_warnings = true`, before or after scoring. Warnings do
    not change a verdict.

    Args:
        gated: the evaluators whose metrics are gated, as in the manifest of a run: `name`, `ref`, `params`, `asks`, and
            `prompts` once they are known.
        judge: the judge model, as `judge.roles.primary` in the manifest: `provider`, `model`, `effort`; None without a
            judge.
        folder: folder of the run's spec, in which related files are looked up.

    Returns:
        One sentence for each warning; None or an empty sequence for no warnings.
    """
