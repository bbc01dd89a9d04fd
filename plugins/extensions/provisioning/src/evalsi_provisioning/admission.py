"""Whether a third party's pack may run in a project: it is what evalsi.lock says, and is held to what it was granted.

It must not know how a pack is added.
"""

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
"""How the planner ends the version of a pack that EVALSI_REATTACH redirects."""
_REMEMBERED = 20_000
_DIGEST = 64


def admit(pack: PackInfo) -> Hold:
    """What holds a pack; `hooks.evalsi_admission` says when it is asked for.

    A pack that lies in the folder of a project must be in its evalsi.lock. One that lies elsewhere, such as in the
    working folder of its author, is compared where the current folder's evalsi.lock names it, and else the user's own.

    Raises:
        PackError: `pack.changed`, with the differences; `pack.not_added`; `pack.name`.
        ConfigError: `config.evalsi_lock`.
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
    """What holds a pack to what it was granted."""

    def hold(launch: Launch) -> Launch:
        rebuild = launch.rebuild
        return launch._replace(
            command=launch.command and confined(launch.command, pack, granted),
            rebuild=rebuild and (lambda: hold(rebuild())),
            guard=lambda answer, is_at_work_on: _guarded(answer, is_at_work_on, pack, granted),
        )

    return hold


def differences(pack: PackInfo, entry: Entry) -> Iterator[str]:
    """A line for each thing that is other than evalsi.lock says."""
    folder = pack.folder
    digests = {
        MANIFEST: (entry.manifest_sha256, optional_sha256(folder / MANIFEST)),
        LOCK: (entry.lock_sha256, optional_sha256(folder / LOCK)),
    }
    # What a developer has under his debugger is named as such, and is asked in place of what was added.
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
    """Of an added pack every file counts: also compiled code, which would be run in the place of its source."""
    try:
        return folder_sha256(folder) if is_project_pack(folder) else pack_sha256(folder)
    except OSError:
        return None


def _as_it_is(launch: Launch) -> Launch:
    return launch


def _guarded(answer: Answer, is_at_work_on: IsAtWorkOn, pack: PackInfo, granted: Permissions) -> Answer:
    """Serve only the roles that were granted, and so many questions a record that it was given."""
    from evalsi_kernel.supervision.connection import RequestFailed  # The event loop, which planning need not wait for.
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
            # Whoever asked about records that there are not would have as many questions as it likes.
            # What is about no record, as of all of them together, is one for all sessions.
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
    # What cannot be read is refused by whoever reads it.
    return (
        [one.get("role", "primary") for one in requests if isinstance(one, dict)] if isinstance(requests, list) else []
    )


def _most(granted: Permissions) -> int | None:
    """The most questions for one record that any evaluator was granted; on the wire an evaluator is a number only."""
    bounds = [most for most in granted.asks_per_record.values() if most is not None]
    return None if len(bounds) < len(granted.asks_per_record) else max(bounds, default=0)
