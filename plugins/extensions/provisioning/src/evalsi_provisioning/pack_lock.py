"""Read and check a pack's `uv.lock` (uv's format, version 1).

It must contain only wheels with hashes and something that implements the protocol, and match `pyproject.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalsi_kernel.checking.toml_text import parse_toml
from evalsi_kernel.errors import PackEnvironmentError

HOST_PACKAGES = frozenset({"evalsi-sdk", "evalsi-protocol"})
LOCAL_SOURCES = frozenset({"editable", "directory", "virtual", "path"})
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?\s*([^;@]*)")


@dataclass(frozen=True, slots=True)
class PackLock:
    """A checked lock.

    Args:
        project: name of the locked project.
        requires_python: Python versions that it was resolved for, such as ">=3.11".
        uses_host_sdk: the lock refers to the SDK by path, so the host's SDK is used.
        requires_dist: requirements of `pyproject.toml` at the time of locking, in uv's form.
    """

    project: str
    requires_python: str
    uses_host_sdk: bool
    requires_dist: tuple[dict[str, Any], ...]


def read_lock(lock: bytes, pack: str) -> PackLock:
    """Read a lock and check that it can be installed reproducibly.

    Raises:
        PackEnvironmentError: `environment.lock_unreadable`, `environment.lock_unhashed`, `environment.lock_local`,
            `environment.no_sdk`.
    """
    data = _parsed(lock, pack)
    try:
        return _promised(data, pack)
    except (AttributeError, KeyError, TypeError) as error:
        # Valid TOML that does not have the structure of a lock.
        raise _unreadable(pack, f"it is not as uv writes one ({type(error).__name__}: {error})") from error


def _promised(data: dict[str, Any], pack: str) -> PackLock:
    root = _root(data, pack)
    closure = list(_closure(data, root))
    for package in closure:
        _check_source(package, pack)
    names = {package["name"] for package in closure}
    sdk_is_own = any(package["name"] == "evalsi-sdk" and not _is_local(package) for package in closure)
    if not sdk_is_own and "msgpack" not in names:
        raise PackEnvironmentError(
            f"The lock of the pack {pack} holds neither evalsi-sdk nor msgpack: nothing in it can talk to the kernel.",
            "Add evalsi-sdk to the dependencies in its pyproject.toml and run `uv lock`.",
            code="environment.no_sdk",
        )
    requires_dist = tuple(root.get("metadata", {}).get("requires-dist", ()))
    for entry in requires_dist:
        _asked_by(entry)
    return PackLock(root["name"], str(data.get("requires-python", ">=3.11")), not sdk_is_own, requires_dist)


def check_agreement(lock: PackLock, pyproject: bytes, pack: str) -> None:
    """Check that the lock was made for the current dependencies in `pyproject.toml`.

    Names, extras and version ranges are compared; markers are not, because uv rewrites them.

    Raises:
        PackEnvironmentError: `environment.lock_stale`; the dependencies differ.
    """
    try:
        project = parse_toml(pyproject.decode()).get("project", {})
    except (ValueError, RecursionError) as error:
        raise _stale(pack, f"its pyproject.toml cannot be read ({error})") from error
    if "dependencies" in project.get("dynamic", ()):
        return
    asked: dict[str, set[frozenset[str]]] = {}
    for requirement in project.get("dependencies", ()):
        name, terms = _terms(requirement)
        asked.setdefault(name, set()).add(terms)
    locked: dict[str, set[frozenset[str]]] = {}
    fixed_elsewhere = set()
    for entry in lock.requires_dist:
        if (asked_by := _asked_by(entry)) is None:
            continue
        name, terms = asked_by
        locked.setdefault(name, set()).add(terms)
        if not entry.keys() <= {"name", "specifier", "marker", "extras", "index"}:
            # The lock has a path or URL in place of the version range in pyproject.toml.
            fixed_elsewhere.add(name)
    for name in sorted(asked.keys() | locked.keys()):
        if name not in locked:
            raise _stale(pack, f"{name} is in its pyproject.toml and not in its lock")
        if name not in asked:
            raise _stale(pack, f"{name} is in its lock and no longer in its pyproject.toml")
        if asked[name] != locked[name] and name not in fixed_elsewhere:
            raise _stale(pack, f"its pyproject.toml asks for another range of {name} than its lock was made for")


def _asked_by(entry: dict[str, Any]) -> tuple[str, frozenset[str]] | None:
    """Return the name and terms of a requirement in uv's form; None if it belongs to an extra."""
    if "extra ==" in entry.get("marker", ""):
        return None
    return _terms(f"{entry['name']}[{','.join(entry.get('extras', ()))}]{entry.get('specifier', '')}")


def _parsed(lock: bytes, pack: str) -> dict[str, Any]:
    try:
        return parse_toml(lock.decode())
    except (ValueError, RecursionError) as error:
        raise _unreadable(pack, str(error)) from error


def _root(data: dict[str, Any], pack: str) -> dict[str, Any]:
    roots = [one for one in data.get("package", ()) if "." in {one.get("source", {}).get(key) for key in LOCAL_SOURCES}]
    if len(roots) != 1:
        raise _unreadable(pack, f"it is the lock of {len(roots)} projects, where one is needed")
    root: dict[str, Any] = roots[0]
    return root


def _closure(data: dict[str, Any], root: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every runtime dependency of the project on any platform; development dependencies are left out."""
    packages: dict[str, list[dict[str, Any]]] = {}
    for package in data["package"]:
        packages.setdefault(package["name"], []).append(package)
    waiting: list[tuple[str, str | None]] = [(root["name"], None)]
    seen: set[tuple[str, str | None]] = set()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for package in packages.get(name, ()):
            if extra is None and package is not root:
                yield package
            needs = (
                package.get("dependencies", ())
                if extra is None
                else package.get("optional-dependencies", {}).get(extra, ())
            )
            for need in needs:
                waiting += [(need["name"], None), *((need["name"], one) for one in need.get("extra", ()))]


def _check_source(package: dict[str, Any], pack: str) -> None:
    name = package["name"]
    if _is_local(package):
        if name not in HOST_PACKAGES:
            raise PackEnvironmentError(
                f"The lock of the pack {pack} takes {name} from a folder, which does not travel with the pack.",
                f"Publish {name}, or move its code into the pack's src/, and run `uv lock`.",
                code="environment.lock_local",
            )
        return
    if "git" in package["source"]:
        raise PackEnvironmentError(
            f"The lock of the pack {pack} takes {name} from a git repository, which would have to be built here.",
            f"Depend on a released wheel of {name} and run `uv lock`.",
            code="environment.lock_unhashed",
        )
    if any("hash" not in wheel for wheel in package.get("wheels", ())):
        raise PackEnvironmentError(
            f"The lock of the pack {pack} has no hash for {name} {package.get('version', '')} to check it by.",
            "Run `uv lock` against an index that states hashes.",
            code="environment.lock_unhashed",
        )


def _is_local(package: dict[str, Any]) -> bool:
    return not LOCAL_SOURCES.isdisjoint(package.get("source", {}))


def _terms(requirement: str) -> tuple[str, frozenset[str]]:
    """Return a requirement's normalized name, and its extras and version clauses as one set."""
    match = _REQUIREMENT.match(requirement)
    if match is None:
        return requirement, frozenset()
    name, extras, ranges = match.groups(default="")
    clauses = {re.sub(r"[\s()]", "", clause) for clause in ranges.split(",")}
    clauses |= {f"[{_normal(extra)}]" for extra in extras.split(",") if extra.strip()}
    return _normal(name), frozenset(clauses - {""})


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()


def _unreadable(pack: str, why: str) -> PackEnvironmentError:
    return PackEnvironmentError(
        f"The lock of the pack {pack} cannot be read: {why}.",
        "Run `uv lock` in the pack's folder, or install the pack again.",
        code="environment.lock_unreadable",
    )


def _stale(pack: str, why: str) -> PackEnvironmentError:
    return PackEnvironmentError(
        f"The lock of the pack {pack} is out of date: {why}.",
        "Run `uv lock` in the pack's folder.",
        code="environment.lock_stale",
    )
