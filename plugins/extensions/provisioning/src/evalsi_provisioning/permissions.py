"""Permissions of packs: requested by the manifest, granted by the project, enforced or only declared on this host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, NamedTuple

from evalsi_kernel.packs.pack_info import MEMORY_MB, PYTHON, PackInfo
from evalsi_kernel.planning.launches import HARD_LIMIT_FACTOR
from evalsi_kernel.planning.reattach import SERVICE

KINDS = ("judge", "network", "files", "secrets", "memory")
ENFORCED, DECLARED = "enforced", "declared only"
WASM = "wasm"
HELD_RUNTIMES = frozenset({PYTHON, "program"})
"""Runtimes that run untrusted code in a process, which is confined."""
_ROLE_OF = {"judge": "primary", "embed": "embed"}


class Permissions(NamedTuple):
    """Permissions of a pack.

    Args:
        judge: roles of models that it may ask.
        asks_per_record: evaluator → maximum number of model requests per record; None means no limit.
        network: hosts that it may connect to.
        files: paths that it may read, in addition to its own.
        secrets: environment variables that are passed to it.
        memory_mb: a process that uses more is replaced between records; its address space is limited to four times
            this value.
    """

    judge: tuple[str, ...] = ()
    asks_per_record: Mapping[str, int | None] = MappingProxyType({})
    network: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    memory_mb: int = MEMORY_MB

    def to_dict(self) -> dict[str, Any]:
        """Return the permissions in the form used in evalsi.lock."""
        lists = {kind: list(getattr(self, kind)) for kind in ("judge", "network", "files", "secrets")}
        return {**lists, "asks_per_record": dict(self.asks_per_record), "memory_mb": self.memory_mb}


class Host(NamedTuple):
    """Restrictions that this host can enforce.

    Args:
        network: blocking the network.
        files: restricting file access to certain paths.
        memory: limiting memory.
    """

    network: bool
    files: bool
    memory: bool


def permissions_of(pack: PackInfo) -> Permissions:
    """Return the permissions that a pack's manifest requests."""
    table = pack.permissions
    asking = [one for one in pack.evaluators if not _ROLE_OF.keys().isdisjoint(one.asks)]
    derived = sorted({_ROLE_OF[word] for one in asking for word in one.asks if word in _ROLE_OF}, reverse=True)
    roles = table.get("judge", derived)
    bounds = table.get("asks_per_record", {})
    return Permissions(
        tuple(dict.fromkeys([*roles, *(["embed"] if "embed" in derived else [])])),
        {one.name: bounds.get(one.name) for one in asking} | dict(bounds),
        tuple(sorted(set(table.get("network", ())))),
        tuple(sorted(set(table.get("files", ())))),
        tuple(sorted(set(table.get("secrets", ())))),
        pack.memory_mb,
    )


def widened(granted: Permissions, asked: Permissions) -> list[str]:
    """Return a line for each requested permission that was not granted."""
    return [line for _, line in _wider(granted, asked)]


def widened_kinds(granted: Permissions, asked: Permissions) -> list[str]:
    """Return the kinds of permission for which more is requested than was granted."""
    kinds = {kind for kind, _ in _wider(granted, asked)}
    return [kind for kind in KINDS if kind in kinds]


def _wider(granted: Permissions, asked: Permissions) -> Iterator[tuple[str, str]]:
    """Yield the kind and a line for each requested permission that was not granted."""
    for kind in ("judge", "network", "files", "secrets"):
        covers = _COVERS.get(kind, _is_same)
        for one in getattr(asked, kind):
            if not any(covers(had, one) for had in getattr(granted, kind)):
                yield kind, f"+ {kind}: {one}"
    for evaluator, most in asked.asks_per_record.items():
        before = granted.asks_per_record.get(evaluator, 0)
        if before is not None and (most is None or most > before):
            yield "judge", f"+ judge: {evaluator} asks {_times(most)} a record, granted were {before}"
    if asked.memory_mb > max(granted.memory_mb, MEMORY_MB):
        yield "memory", f"+ memory: {asked.memory_mb:,} MB, granted were {granted.memory_mb:,}"


def _is_same(had: str, asked: str) -> bool:
    return had == asked


def _covers_host(had: str, asked: str) -> bool:
    """Whether a granted host covers a requested one; a host without a port covers all its ports."""
    had, asked = had.lower(), asked.lower()
    return had == asked or (":" not in had and asked.rpartition(":")[0] == had)


def _covers_path(had: str, asked: str) -> bool:
    """Whether a granted path covers a requested one; a folder covers everything below it."""
    if ".." in PurePosixPath(asked).parts or ".." in PurePosixPath(had).parts:
        return had == asked
    return PurePosixPath(asked).is_relative_to(PurePosixPath(had))


_COVERS: Mapping[str, Callable[[str, str], bool]] = MappingProxyType({"network": _covers_host, "files": _covers_path})


def shown(permissions: Permissions, pack: PackInfo, host: Host) -> Iterator[tuple[str, str, str]]:
    """Yield for every kind of permission: kind, what is requested, and whether this host enforces it."""
    # WebAssembly has no access to files and network. Nothing is known about the sandboxes of other runtimes.
    has_files_wall = host.files if pack.runtime in HELD_RUNTIMES else pack.runtime == WASM
    has_network_wall = host.network if pack.runtime in HELD_RUNTIMES else pack.runtime == WASM
    files = ENFORCED if has_files_wall else DECLARED
    network = ENFORCED if has_network_wall and not permissions.network else DECLARED
    roles = ", ".join(permissions.judge)
    asks = ", ".join(f"{name} {_times(most)}" for name, most in permissions.asks_per_record.items())
    yield "judge", f"{roles} (questions a record: {asks})" if roles else "none", ENFORCED
    yield "network", _listed(permissions.network), network
    yield "files", _listed(permissions.files), files
    # Without restricted file access, a process can read the variables of other processes in /proc.
    yield "secrets", _listed(permissions.secrets), files
    # The limits of a service are set where it runs and are unknown here.
    has_memory_wall = host.memory and pack.runtime != SERVICE
    wall = f"{ENFORCED} at {permissions.memory_mb * HARD_LIMIT_FACTOR:,} MB of addresses"
    yield "memory", f"{permissions.memory_mb:,} MB a process", wall if has_memory_wall else DECLARED


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def _times(most: int | None) -> str:
    return "any number" if most is None else f"at most {most}"
