"""Admit third-party packs to a project: compare a pack with evalsi.lock and confine it to its granted permissions."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalsi_kernel.errors import PackError
from evalsi_kernel.files.paths import is_project_pack
from evalsi_kernel.packs.catalog import MANIFEST
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.supervision.launch import Launch

from .confinement import confined
from .digests import folder_sha256, optional_sha256, pack_sha256
from .pack_layout import LOCK
from .permissions import Permissions, permissions_of, widened
from .project_lock import NAME, Entry, project_of, read_project_lock

if TYPE_CHECKING:
    from evalsi_kernel.supervision.connection import Answer

IsAtWorkOn = Callable[[object, object], bool]
Hold = Callable[[Launch], Launch]
REATTACHED = "+reattached"
"""Suffix that the planner adds to the version of a pack redirected by EVALSI_REATTACH."""
_REMEMBERED = 20_000
_DIGEST = 64


def admit(pack: PackInfo) -> Hold:
    """Return the function that confines the pack's launch (see `hooks.evalsi_admission`).

    A pack in the folder of a project must be in the project's evalsi.lock. A pack elsewhere, such as in its author's
    working folder, is checked only if the current folder's evalsi.lock names it; otherwise it runs unrestricted.

    Raises:
        PackError: `pack.changed`, with the differences; `pack.not_added`; `pack.name`.
        ConfigError: `config.evalsi_lock`; the lock cannot be read.
    """
    is_added = is_project_pack(pack.folder)
    project = project_of(pack.folder) if is_added else Path.cwd()
    entry = read_project_lock(project).packs.get(pack.name)
    if entry is None:
        if not is_added:
            return _as_it_is
        raise PackError(
            f"The pack {pack.name} lies in {pack.folder}, and {project / NAME} does not name it.",
            "Add it, so that it is known what it may do: evalsi plugins add; or remove its folder.",
            code="pack.not_added",
        )
    if pack.is_builtin:
        raise PackError(
            f'{project / NAME} has a pack named "{pack.name}", and plain names are for packs that come with Evals.si.',
            f"Remove it: evalsi plugins remove {pack.name}",
            code="pack.name",
        )
    lines = [*differences(pack, entry), *widened(entry.permissions(), permissions_of(pack))]
    if lines:
        raise PackError(
            "\n  ".join([f"The pack {pack.name} is not what {project / NAME} says:", *lines]),
            f"If you meant that, run `evalsi plugins update {pack.name}`; if not, `evalsi plugins add --locked`.",
            code="pack.changed",
            differences=lines,
        )
    return holding(pack, entry.permissions())


def holding(pack: PackInfo, granted: Permissions) -> Hold:
    """Return the function that confines a launch of the pack to the granted permissions."""

    def hold(launch: Launch) -> Launch:
        rebuild = launch.rebuild
        return launch._replace(
            command=launch.command and confined(launch.command, pack, granted),
            rebuild=rebuild and (lambda: hold(rebuild())),
            guard=lambda answer, is_at_work_on: _guarded(answer, is_at_work_on, pack, granted),
        )

    return hold


def differences(pack: PackInfo, entry: Entry) -> Iterator[str]:
    """Yield a line for each difference between a pack and its entry in evalsi.lock."""
    folder = pack.folder
    digests = {
        MANIFEST: (entry.manifest_sha256, optional_sha256(folder / MANIFEST)),
        LOCK: (entry.lock_sha256, optional_sha256(folder / LOCK)),
    }
    # A reattached pack runs in place of the added one, so its version is compared without the suffix.
    yield from _differing("version", entry.version, pack.version.removesuffix(REATTACHED))
    versions = {one.name: one.version for one in pack.evaluators}
    for name in sorted(entry.evaluators.keys() | versions.keys()):
        yield from _differing(f"evaluator {name}", entry.evaluators.get(name), versions.get(name))
    for name, (before, now) in digests.items():
        yield from _differing(f"SHA-256 of {name}", before, now)
    yield from _differing("SHA-256 of its files", entry.files_sha256, _files(folder))


def _differing(what: str, before: str | None, now: str | None) -> Iterator[str]:
    if before != now:
        yield f"{what}: {_short(before)} → {_short(now)}"


def _short(value: str | None) -> str:
    return "none" if value is None else value if len(value) < _DIGEST else f"{value[:12]}…"


def _files(folder: Path) -> str | None:
    """Return the digest of the pack's files; None if they cannot be read.

    For an added pack it covers every file, because Python would run compiled code in place of its source.
    """
    try:
        return folder_sha256(folder) if is_project_pack(folder) else pack_sha256(folder)
    except OSError:
        return None


def _as_it_is(launch: Launch) -> Launch:
    return launch


def _guarded(answer: Answer, is_at_work_on: IsAtWorkOn, pack: PackInfo, granted: Permissions) -> Answer:
    """Wrap `answer` so that it refuses roles and numbers of judge requests that were not granted."""
    from evalsi_kernel.supervision.connection import RequestFailed  # Imports asyncio, which planning does not need.
    from evalsi_protocol.errors import WireError

    most = _most(granted)
    asked: OrderedDict[tuple[Any, Any], int] = OrderedDict()

    def refuse(why: str) -> RequestFailed:
        hint = f"See {NAME}; `evalsi plugins update {pack.name}` asks again for what its manifest names."
        return RequestFailed(WireError("capability.not_granted", f"The pack {pack.name} {why}.", hint, "pack"))

    async def guarded(method: str, body: dict[str, Any]) -> dict[str, Any]:
        roles = _roles(method, body)
        for role in roles:
            if role not in granted.judge:
                raise refuse(f"asks a model under the role {role!r:.100}, which it was not granted")
        if roles and most is not None:
            # Refuse unknown records, with which a pack could get around the limit per record.
            # Requests about no record, as of dataset evaluators, share one limit across all sessions.
            session, record = body.get("session"), body.get("record", "")
            if record != "" and not is_at_work_on(session, record):
                raise refuse(f"asks about the record {record!r:.100}, which it is not at work on")
            whose = (session, record) if record else (None, "")
            asked[whose] = count = asked.pop(whose, 0) + len(roles)
            while len(asked) > _REMEMBERED:
                asked.popitem(last=False)
            if count > most:
                raise refuse(f"asks more than {most} questions for one record, which it was not granted")
        return await answer(method, body)

    return guarded


def _roles(method: str, body: dict[str, Any]) -> list[Any]:
    if method == "embed.ask":
        return ["embed"]
    requests = body.get("requests") if method == "judge.ask" else None
    # Malformed requests are rejected later, where they are parsed.
    return (
        [one.get("role", "primary") for one in requests if isinstance(one, dict)] if isinstance(requests, list) else []
    )


def _most(granted: Permissions) -> int | None:
    """Return the largest limit of requests per record of any evaluator; None if one has no limit.

    The limits are not enforced per evaluator, because a request names only a session.
    """
    bounds = [most for most in granted.asks_per_record.values() if most is not None]
    return None if len(bounds) < len(granted.asks_per_record) else max(bounds, default=0)
