"""Resolve the requested evaluators into instances and pools; validate every name, param and file before work starts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError, PackEnvironmentError, PackError, UsageError
from evalsi_kernel.packs.catalog import Catalog
from evalsi_kernel.packs.instances import Instance, qualify_shared_names
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo
from evalsi_kernel.packs.params import check_params
from evalsi_kernel.packs.refs import CustomRef, parse_ref
from evalsi_kernel.packs.wanted import Wanted
from evalsi_kernel.planning.launches import launch_custom, launch_pack
from evalsi_kernel.planning.reattach import reattached
from evalsi_kernel.request import Request
from evalsi_kernel.supervision.launch import Launch, Opening, PoolLimits, ServeInThread
from evalsi_kernel.supervision.spawn import Spawned, spawn

if TYPE_CHECKING:
    from evalsi_kernel.broker.settings import BrokerSettings

Progress = Callable[[str], None]
# Default numbers of records in progress: for functions that wait for something unknown, and the minimum for packs that
# wait for a model, whose provider rejects excess calls.
CONCURRENCY, WIDE_CONCURRENCY = 16, 64
BATCH_CONCURRENCY = 5_000
"""Records in progress with a batch API, where each may add a question to the next batch."""
MAX_REQUESTS = 512
REQUIRED_MODELS = {
    "judge": ("a judge", "Name one: --judge-model MODEL, with --judge-base-url or --judge-provider."),
    "embed": ("an embedding model", "Name one: --embed-model MODEL, with --embed-base-url or --embed-provider."),
}


class LocalPack(NamedTuple):
    """Evaluators of this process, such as functions of a script.

    Args:
        evaluators: description of each, as the answer to `describe`.
        serve: runs its host loop over a channel.
    """

    evaluators: tuple[dict[str, Any], ...]
    serve: ServeInThread


class Plan(NamedTuple):
    """The evaluators, pools and packs of a run."""

    instances: tuple[Instance, ...]
    groups: tuple[Group, ...]
    packs: tuple[PackInfo, ...]

    def abandon(self) -> None:
        """Kill the processes that were started for the plan, because it will not run."""
        for group in self.groups:
            if group.first is not None:
                group.first.kill()


class Group:
    """The evaluators of one pack, and its first process, which starts while the kernel continues."""

    __slots__ = ("first", "launch", "limits", "openings")

    def __init__(self, launch: Launch, limits: PoolLimits) -> None:
        self.launch = launch
        self.limits = limits
        self.openings: list[Opening] = []
        self.first: Spawned | None = None


def make_plan(
    request: Request, catalog: Catalog, local: LocalPack | None = None, on_progress: Progress | None = None
) -> Plan:
    """Resolve, validate and group the evaluators; then build environments and start each pack's first process.

    Args:
        request: evaluators, params and limits; its data is ignored.
        catalog: the catalog of packs.
        local: evaluators of this process that `request` refers to.
        on_progress: receives a line when an environment is built.

    Raises:
        ConfigError: unknown or ambiguous evaluators, or invalid params; all of them in one error.
        UsageError: no evaluator, or two of the same name.
        PackEnvironmentError, PackError: a pack cannot be built or started.
    """
    if not request.evaluators:
        raise UsageError("No evaluator is given.", "Add one, such as exact-match; `evalsi catalog` lists them.")
    found = _with_full_names([one for want in request.evaluators for one in _find(want, catalog, local)])
    found = _with_params(found, request.params)
    found = _with_checked_params(found)
    _check_names(found)
    _check_asks(found, frozenset() if request.models is None else request.models.capabilities)
    groups: dict[str, Group] = {}
    packs: dict[str, PackInfo] = {}
    instances = []
    for session, one in enumerate(found, 1):
        if one.key not in groups:
            asks = {capability for other in found if other.key == one.key for capability in other.info.asks}
            in_flight = request.concurrency or _model_concurrency(asks, request.models)
            groups[one.key] = _group(one, in_flight, request, on_progress)
        if one.pack is not None:
            packs[one.pack.name] = one.pack
        instances.append(Instance(session, one.name, one.info, one.want.params, one.want.when, set()))
        groups[one.key].openings.append(Opening(session, one.info.name, one.want.params, one.info.version))
    qualify_shared_names(
        (one, name) for one in instances for name in [output.name for output in one.info.outputs] or [""]
    )
    plan = Plan(tuple(instances), tuple(groups.values()), tuple(packs.values()))
    try:
        for group in plan.groups:
            if group.launch.command is not None:
                group.first = _spawn(group)
    except BaseException:
        plan.abandon()
        raise
    return plan


def _spawn(group: Group) -> Spawned:
    """Start the first process; rebuild the environment once if its program cannot run."""
    try:
        return spawn(group.launch)
    except PackEnvironmentError as error:
        if group.launch.rebuild is None or error.code != "environment.broken":
            raise
    group.launch = group.launch.rebuild()
    return spawn(group.launch)


class _Found(NamedTuple):
    """A requested evaluator with its description, and the launch of its pack if that is not in the catalog."""

    key: str
    want: Wanted
    info: EvaluatorInfo
    pack: PackInfo | None = None
    launch: Launch | None = None

    @property
    def name(self) -> str:
        return self.want.name or self.info.name


def _find(want: Wanted, catalog: Catalog, local: LocalPack | None) -> list[_Found]:
    """Return one evaluator, or all evaluators of a user's file without an attribute."""
    if want.local is not None:
        assert local is not None
        info = _described(local.evaluators[want.local], "python")
        return [_Found("local", want, info, launch=Launch("this process", serve=local.serve))]
    ref = parse_ref(want.ref)
    if isinstance(ref, CustomRef):
        launch = launch_custom(ref, want.ref)
        described = _describe(launch)
        if want.name is not None and len(described) > 1:
            raise UsageError(
                f"{want.ref} has {len(described)} evaluators, so the name {want.name!r} is ambiguous.", "Select one."
            )
        return [_Found(want.ref, want, info, launch=launch) for info in described]
    info = catalog.resolve(want.ref)
    pack = reattached(catalog.pack(info.pack), [pack.name for pack in catalog.packs])
    return [_Found(info.pack, want, info, pack=pack)]


def _describe(launch: Launch) -> list[EvaluatorInfo]:
    """Return the evaluators of a user's file, by starting its process."""
    # Imported only where needed: loads the event loop, which packs of the catalog do not need yet.
    from evalsi_kernel.supervision.pack_description import describe

    return [_described(table, launch.name) for table in describe(launch)]


def _described(table: Mapping[str, Any], pack: str) -> EvaluatorInfo:
    try:
        return EvaluatorInfo.from_dict({**table, "pack": pack})
    except (KeyError, TypeError, ValueError) as error:
        raise PackError(f"{pack} describes an evaluator incorrectly: {error}.", "Fix its description.") from error


def _with_params(found: Sequence[_Found], params: Mapping[str, Mapping[str, Any]]) -> list[_Found]:
    """Assign params to evaluators: by name in this run first, else by the evaluator's own name."""
    given: list[dict[str, Any]] = [{} for _ in found]
    for name, values in params.items():
        fitting = [index for index, one in enumerate(found) if one.name == name]
        fitting = fitting or [
            index for index, one in enumerate(found) if name in (one.info.name, one.info.ref, one.want.ref)
        ]
        if not fitting:
            names = [one.name for one in found]
            raise UsageError(
                f"--param names {name!r}, which is not among the evaluators of this run.",
                f"{did_you_mean(name, names)} Evaluators: {', '.join(names)}.".strip(),
            )
        for index in fitting:
            given[index] |= values
    return [
        one._replace(want=one.want._replace(params=own | dict(one.want.params)))
        for one, own in zip(found, given, strict=True)
    ]


def _with_checked_params(found: Sequence[_Found]) -> list[_Found]:
    """Validate all params and fill in defaults."""
    checked: list[_Found] = []
    problems: list[ConfigError] = []
    for one in found:
        try:
            params = check_params(one.name, one.info.params, one.want.params)
            checked.append(one._replace(want=one.want._replace(params=params)))
        except ConfigError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise ConfigError("\n".join(str(problem) for problem in problems), code=problems[0].code)
    return checked


def _with_full_names(found: Sequence[_Found]) -> list[_Found]:
    """Give evaluators that share a name their full names, such as `ragas/faithfulness`, unless named by the user."""
    names = Counter(one.name for one in found)
    return [
        one._replace(want=one.want._replace(name=_full_name(one))) if names[one.name] > 1 and not one.want.name else one
        for one in found
    ]


def _full_name(one: _Found) -> str:
    if one.launch is None or not one.want.ref:
        return one.info.ref
    return one.want.ref if one.want.ref.endswith(f":{one.info.name}") else f"{one.want.ref}:{one.info.name}"


def _check_names(found: Sequence[_Found]) -> None:
    refs: dict[str, str] = {}
    for one in found:
        ref = one.want.ref or one.info.name
        if one.name in refs:
            raise UsageError(
                f"Two evaluators of this run are named {one.name!r}: {refs[one.name]} and {ref}.",
                "Rename one of them: name=evaluator.",
            )
        refs[one.name] = ref


def _model_concurrency(asks: Set[str], models: BrokerSettings | None) -> int | None:
    """Return the records in progress of a pack that calls models, to match calls or fill a batch; else None."""
    if models is None or not models.capabilities & asks:
        return None
    if models.batch and "judge" in asks:
        return BATCH_CONCURRENCY
    return max(WIDE_CONCURRENCY, *(model.max_in_flight for model in models.roles.values()))


def _with_concurrency(limits: PoolLimits, concurrency: int) -> PoolLimits:
    """Return limits with this concurrency; as many requests, since a request may hold one large record."""
    return limits._replace(
        concurrency=concurrency, max_requests=max(limits.max_requests, min(concurrency, MAX_REQUESTS))
    )


def _check_asks(found: Sequence[_Found], bound: frozenset[str]) -> None:
    """Reject evaluators that need an unconfigured model; no default exists, so nothing is billed unasked."""
    for one in found:
        for capability in one.info.asks:
            if capability in REQUIRED_MODELS and capability not in bound:
                what, hint = REQUIRED_MODELS[capability]
                raise ConfigError(f"{one.name} needs {what}, but none is configured.", hint, code="config.no_model")


def _group(one: _Found, in_flight: int | None, request: Request, on_progress: Progress | None) -> Group:
    pack = one.pack
    if pack is None:
        assert one.launch is not None
        limits = PoolLimits(record_timeout_s=request.record_timeout_s)
        return Group(one.launch, _with_concurrency(limits, in_flight or CONCURRENCY))
    limits = PoolLimits(record_timeout_s=pack.record_timeout_s, memory_bytes=pack.memory_mb * 1024 * 1024)
    if pack.workers == "wide":
        limits = _with_concurrency(limits, in_flight or WIDE_CONCURRENCY)
    else:
        count = request.processes or os.cpu_count() or 1
        limits = limits._replace(processes=count, concurrency=in_flight or CONCURRENCY)
    return Group(launch_pack(pack, on_progress), limits)
