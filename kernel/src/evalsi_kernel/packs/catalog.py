"""Which packs and evaluators there are, from static plugin.toml files and one cache of them; no pack is started.

A broken manifest makes its own pack unusable and nothing else. It must not know how a pack runs.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsi_kernel.checking.suggestions import did_you_mean
from evalsi_kernel.errors import ConfigError, PackError
from evalsi_kernel.files.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.files.paths import PACK_PATH_VARIABLE, named_pack_folders, pack_search_path
from evalsi_kernel.files.paths import cache_dir as default_cache_dir
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo
from evalsi_kernel.packs.refs import CustomRef, EvaluatorRef, parse_ref

MANIFEST = "plugin.toml"
# Part of the key of every cache of a catalog; raise it whenever the cache or the rules of a manifest change.
FORMAT = 4
_LISTED_AT_MOST = 12


class BrokenPack(NamedTuple):
    """A pack whose manifest cannot be used.

    Args:
        name: as the manifest says as far as it can be read, else the name of its folder.
        folder: where the manifest lies.
        evaluators: the names that the manifest gives, as far as it can be read.
        message: what is wrong with the manifest, and where.
        hint: what to do about it, or "" where the message says it.
        problems: each problem with its place.
    """

    name: str
    folder: Path
    evaluators: tuple[str, ...]
    message: str
    hint: str
    problems: tuple[dict[str, str], ...]

    def error(self) -> PackError:
        """The error to raise where the pack is asked for."""
        return PackError(self.message, self.hint, code="pack.manifest", problems=list(self.problems))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        lists = {"evaluators": list(self.evaluators), "problems": list(self.problems)}
        return {**self._asdict(), "folder": str(self.folder), **lists}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> BrokenPack:
        """Read what `to_dict` wrote."""
        tuples = {"evaluators": tuple(table["evaluators"]), "problems": tuple(table["problems"])}
        return cls(**{**table, "folder": Path(table["folder"]), **tuples})


class Catalog(NamedTuple):
    """The packs of a search path.

    Args:
        packs: those that can be used, in the order of the search path, then by folder.
        broken: those whose manifest cannot be used.
        warnings: sentences about packs that hide one another, folders and caches.
    """

    packs: tuple[PackInfo, ...] = ()
    broken: tuple[BrokenPack, ...] = ()
    warnings: tuple[str, ...] = ()

    def evaluators(self) -> list[EvaluatorInfo]:
        """Every evaluator, pack after pack."""
        return [evaluator for pack in self.packs for evaluator in pack.evaluators]

    def pack(self, name: str) -> PackInfo:
        """The pack of a full name.

        Raises:
            ConfigError: `config.unknown_pack`; there is none.
            PackError: `pack.manifest`; its manifest is broken.
        """
        for pack in self.packs:
            if pack.name == name:
                return pack
        for broken in self.broken:
            if broken.name == name:
                raise broken.error()
        names = [pack.name for pack in self.packs]
        there_are = f"There are {_listed(names)}." if names else "There is none on the search path."
        hint = f"{did_you_mean(name, names)} {there_are}".strip()
        raise ConfigError(f'There is no pack "{name}".', hint, code="config.unknown_pack", name=name)

    def resolve(self, ref: str | EvaluatorRef) -> EvaluatorInfo:
        """The evaluator that a name means.

        Raises:
            ConfigError: `config.unknown_evaluator`, `config.ambiguous_evaluator`, `config.evaluator_version`, or
                `config.evaluator` for a text that names none of the catalog's.
            PackError: `pack.manifest`; the evaluator is one of a pack whose manifest is broken.
        """
        parsed = parse_ref(ref) if isinstance(ref, str) else ref
        if isinstance(parsed, CustomRef):
            raise ConfigError(
                f'"{parsed}" is code of your own, and the catalog holds only packs.',
                "Name an evaluator of the catalog; `evalsi catalog` lists them.",
                code="config.evaluator",
            )
        named = self._named(parsed)
        if not named:
            raise self._unknown(parsed)
        admitted = [one for one in named if parsed.admits(one.version)]
        if not admitted:
            there = " and ".join(f"{one.ref}@{one.version}" for one in named)
            raise ConfigError(
                f"{parsed} is not there: the version that is installed is {there}.",
                f"Name {parsed._replace(version=named[0].version)}, or install the version you want.",
                code="config.evaluator_version",
            )
        if len(admitted) > 1:
            candidates = [one.ref for one in admitted]
            raise ConfigError(
                f'"{parsed}" is the name of {len(candidates)} evaluators: {", ".join(candidates)}.',
                f"Say which one, such as {candidates[0]}.",
                code="config.ambiguous_evaluator",
                candidates=candidates,
            )
        return admitted[0]

    def _named(self, ref: EvaluatorRef) -> list[EvaluatorInfo]:
        """Those of the ref's name, of any version; a pack of just that name goes before all packs of a publisher.

        A framework's evaluators often have the names of our own, and then are named with their pack.
        """
        within: list[list[PackInfo]]
        if not ref.qualifier:
            within = [[pack for pack in self.packs if not pack.wraps], list(self.packs)]
        elif ref.qualifier == "builtin":
            within = [[pack for pack in self.packs if pack.is_builtin and not pack.wraps]]
        else:
            within = [
                [pack for pack in self.packs if pack.name == ref.qualifier],
                [pack for pack in self.packs if pack.publisher == ref.qualifier],
            ]
        for packs in within:
            if found := [one for pack in packs for one in pack.evaluators if one.name == ref.name]:
                return found
        return []

    def _unknown(self, ref: EvaluatorRef) -> ConfigError | PackError:
        for pack in self.broken:
            if ref.qualifier == pack.name or (not ref.qualifier and ref.name in pack.evaluators):
                return pack.error()
        bare = ref._replace(version="")
        known = [one.ref if ref.qualifier else one.name for one in self.evaluators()]
        hints = [did_you_mean(str(bare), known)]
        owner = next((pack for pack in self.packs if pack.name == ref.qualifier), None)
        if owner is not None:
            names = [one.name for one in owner.evaluators]
            hints = [did_you_mean(ref.name, names), f"{owner.name} has {_listed(names)}."]
        if self.broken:
            hints.append(f"The manifest of {_listed([pack.name for pack in self.broken])} cannot be read.")
        hints.append("`evalsi catalog` lists every evaluator.")
        hint = " ".join(filter(None, hints))
        return ConfigError(f'There is no evaluator "{bare}".', hint, code="config.unknown_evaluator", name=str(bare))


def default_catalog() -> Catalog:
    """The catalog of this machine: its search path for packs, with the cache in the user's cache folder."""
    return load_catalog(pack_search_path(), default_cache_dir(), named=named_pack_folders())


def load_catalog(search_path: Sequence[Path], cache_dir: Path, *, named: Sequence[Path] = ()) -> Catalog:
    """The catalog of a search path, read from the cache where no manifest has changed.

    Args:
        search_path: folders that hold pack folders, or are one; the first pack of a name wins. One that does not exist
            holds none.
        cache_dir: where the cache is kept; that it cannot be read or written is no error.
        named: the entries that the user named. Two packs of one name there cannot be used; a pack there still
            replaces one of the same name elsewhere.
    """
    warnings: list[str] = []
    manifests = find_manifests(search_path, warnings)
    key = [FORMAT, manifests]
    cache = cache_path(cache_dir, "catalog", os.pathsep.join(map(str, search_path)))
    found = read_cached(cache, key)
    if found is None:
        found = [_read(Path(path)).to_dict() for path, *_ in manifests]
        if manifests and (warning := write_cached(cache, key, found)):
            warnings.append(warning)
    packs = [BrokenPack.from_dict(one) if "message" in one else PackInfo.from_dict(one) for one in found]
    usable, broken = _first_of_each_name(packs, warnings, set(named))
    return Catalog(tuple(usable), tuple(broken), tuple(warnings))


def find_manifests(search_path: Iterable[Path], warnings: list[str]) -> list[list[Any]]:
    """Find the manifests of a search path, by looking at folders only.

    Args:
        search_path: as `load_catalog` takes it.
        warnings: gets a sentence for each place that cannot be looked at.

    Returns:
        [path, mtime and ctime in ns, size in bytes] of each, each once even if found twice.
    """
    found: dict[str, list[Any]] = {}
    for entry in dict.fromkeys(map(os.path.abspath, search_path)):
        for folder in [entry] if os.path.isfile(os.path.join(entry, MANIFEST)) else _folders_in(entry, warnings):
            path = os.path.join(folder, MANIFEST)
            try:
                status = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as cause:
                warnings.append(f"{path} cannot be read ({cause.strerror}), so its pack is left out.")
                continue
            found.setdefault(
                f"{status.st_dev}:{status.st_ino}", [path, status.st_mtime_ns, status.st_ctime_ns, status.st_size]
            )
    return list(found.values())


def _folders_in(entry: str, warnings: list[str]) -> list[str]:
    try:
        names = os.listdir(entry)
    except FileNotFoundError:
        return []
    except OSError as cause:
        warnings.append(f"{entry} cannot be searched for packs ({cause.strerror}).")
        return []
    return [os.path.join(entry, name) for name in sorted(names) if not name.startswith(".")]


def _read(path: Path) -> PackInfo | BrokenPack:
    # The manifest's models cost an import of pydantic, which a warm catalog never needs.
    from evalsi_kernel.packs.manifests import load_manifest, readable_names

    try:
        return load_manifest(path).to_pack(path.parent)
    except PackError as error:
        name, evaluators = readable_names(path)
        problems = tuple(error.details["problems"])
        return BrokenPack(name or path.parent.name, path.parent, evaluators, error.message, error.hint, problems)


def _first_of_each_name(
    packs: Iterable[PackInfo | BrokenPack], warnings: list[str], named: Collection[Path]
) -> tuple[list[PackInfo], list[BrokenPack]]:
    first: dict[str, PackInfo | BrokenPack] = {}
    for pack in packs:
        winner = first.setdefault(pack.name, pack)
        if winner is pack:
            continue
        if _is_in(winner.folder, named) and _is_in(pack.folder, named):
            first[pack.name] = _ambiguous(winner, pack)
        else:
            warnings.append(
                f'Two packs are named "{pack.name}": {winner.folder} is used, and {pack.folder} is not. '
                "Rename one, or take it off the search path."
            )
    usable = [pack for pack in first.values() if isinstance(pack, PackInfo)]
    return usable, [pack for pack in first.values() if isinstance(pack, BrokenPack)]


def _is_in(folder: Path, entries: Collection[Path]) -> bool:
    return folder in entries or folder.parent in entries


def _ambiguous(one: PackInfo | BrokenPack, other: PackInfo | BrokenPack) -> BrokenPack:
    """Return what stands for two packs of one name of which the user named both places."""
    evaluators = [
        name
        for pack in (one, other)
        for name in (pack.evaluators if isinstance(pack, BrokenPack) else [each.name for each in pack.evaluators])
    ]
    message = f'Two packs on {PACK_PATH_VARIABLE} are named "{one.name}": {one.folder} and {other.folder}.'
    hint = f"Take one of them off {PACK_PATH_VARIABLE}, or rename it."
    return BrokenPack(one.name, one.folder, tuple(dict.fromkeys(evaluators)), message, hint, ())


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_LISTED_AT_MOST])
    return f"{shown} and {len(names) - _LISTED_AT_MOST} more" if len(names) > _LISTED_AT_MOST else shown
