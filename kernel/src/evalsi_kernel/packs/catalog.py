"""The catalog of packs and evaluators, built from plugin.toml files and cached; no pack is started.

A broken manifest only makes its own pack unusable.
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
# Part of the key of every catalog cache. Raise it when the cache format or the rules of a manifest change.
FORMAT = 4
_LISTED_AT_MOST = 12


class BrokenPack(NamedTuple):
    """A pack whose manifest is invalid.

    Args:
        name: name in the manifest if it is readable, else the name of the folder.
        folder: folder of the manifest.
        evaluators: names of the evaluators, as far as they are readable.
        message: what is wrong with the manifest, and where.
        hint: what to do about it; "" where the message includes it.
        problems: each problem with its place.
    """

    name: str
    folder: Path
    evaluators: tuple[str, ...]
    message: str
    hint: str
    problems: tuple[dict[str, str], ...]

    def error(self) -> PackError:
        """Return the error to raise when the pack is used."""
        return PackError(self.message, self.hint, code="pack.manifest", problems=list(self.problems))

    def to_dict(self) -> dict[str, Any]:
        """Return the pack as JSON."""
        lists = {"evaluators": list(self.evaluators), "problems": list(self.problems)}
        return {**self._asdict(), "folder": str(self.folder), **lists}

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> BrokenPack:
        """Return a pack from the output of `to_dict`."""
        tuples = {"evaluators": tuple(table["evaluators"]), "problems": tuple(table["problems"])}
        return cls(**{**table, "folder": Path(table["folder"]), **tuples})


class Catalog(NamedTuple):
    """The packs of a search path.

    Args:
        packs: usable packs, in the order of the search path, then by folder.
        broken: packs with an invalid manifest.
        warnings: sentences about packs of the same name, unreadable folders and caches.
    """

    packs: tuple[PackInfo, ...] = ()
    broken: tuple[BrokenPack, ...] = ()
    warnings: tuple[str, ...] = ()

    def evaluators(self) -> list[EvaluatorInfo]:
        """Return all evaluators, pack by pack."""
        return [evaluator for pack in self.packs for evaluator in pack.evaluators]

    def pack(self, name: str) -> PackInfo:
        """Return the pack of a full name.

        Raises:
            ConfigError: `config.unknown_pack`: there is no such pack.
            PackError: `pack.manifest`: its manifest is invalid.
        """
        for pack in self.packs:
            if pack.name == name:
                return pack
        for broken in self.broken:
            if broken.name == name:
                raise broken.error()
        names = [pack.name for pack in self.packs]
        there_are = f"Known packs: {_listed(names)}." if names else "The search path has no packs."
        hint = f"{did_you_mean(name, names)} {there_are}".strip()
        raise ConfigError(f'Unknown pack "{name}".', hint, code="config.unknown_pack", name=name)

    def resolve(self, ref: str | EvaluatorRef) -> EvaluatorInfo:
        """Return the evaluator that a name refers to.

        Raises:
            ConfigError: `config.unknown_evaluator`, `config.ambiguous_evaluator`, `config.evaluator_version`, or
                `config.evaluator` for a reference to code outside of the catalog.
            PackError: `pack.manifest`: the manifest of the evaluator's pack is invalid.
        """
        parsed = parse_ref(ref) if isinstance(ref, str) else ref
        if isinstance(parsed, CustomRef):
            raise ConfigError(
                f'"{parsed}" is your own code, but the catalog only has packs.',
                "Use an evaluator of the catalog; `evalsi catalog` lists them.",
                code="config.evaluator",
            )
        named = self._named(parsed)
        if not named:
            raise self._unknown(parsed)
        admitted = [one for one in named if parsed.admits(one.version)]
        if not admitted:
            there = " and ".join(f"{one.ref}@{one.version}" for one in named)
            raise ConfigError(
                f"{parsed} is not installed; the installed version is {there}.",
                f"Use {parsed._replace(version=named[0].version)}, or install the version you want.",
                code="config.evaluator_version",
            )
        if len(admitted) > 1:
            candidates = [one.ref for one in admitted]
            raise ConfigError(
                f'"{parsed}" is ambiguous: {", ".join(candidates)}.',
                f"Use a full name, such as {candidates[0]}.",
                code="config.ambiguous_evaluator",
                candidates=candidates,
            )
        return admitted[0]

    def _named(self, ref: EvaluatorRef) -> list[EvaluatorInfo]:
        """Return the evaluators with the name of the ref, of any version.

        A pack with exactly the qualifier as its name precedes all packs of a publisher. Evaluators of wrapped
        frameworks often have the same names as ours, so an unqualified name finds them last.
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
            hints = [did_you_mean(ref.name, names), f"{owner.name} has: {_listed(names)}."]
        if self.broken:
            hints.append(f"The manifest of {_listed([pack.name for pack in self.broken])} is invalid.")
        hints.append("`evalsi catalog` lists every evaluator.")
        hint = " ".join(filter(None, hints))
        return ConfigError(f'Unknown evaluator "{bare}".', hint, code="config.unknown_evaluator", name=str(bare))


def default_catalog() -> Catalog:
    """Return the catalog of this machine's search path, with the cache in the user's cache folder."""
    return load_catalog(pack_search_path(), default_cache_dir(), named=named_pack_folders())


def load_catalog(search_path: Sequence[Path], cache_dir: Path, *, named: Sequence[Path] = ()) -> Catalog:
    """Return the catalog of a search path, from the cache if no manifest has changed.

    Args:
        search_path: folders of pack folders, or pack folders; the first pack of a name wins. Missing folders are
            skipped.
        cache_dir: folder of the cache; errors when reading or writing it become warnings.
        named: entries that the user named. Two packs of the same name in them make that name unusable; a pack in them
            still replaces one of the same name elsewhere.
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
    """Find the manifests of a search path by listing folders.

    Args:
        search_path: as for `load_catalog`.
        warnings: receives a sentence for each place that cannot be read.

    Returns:
        [path, mtime in ns, ctime in ns, size in bytes] of each manifest, without duplicates.
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
                warnings.append(f"{path} cannot be read ({cause.strerror}), so its pack is ignored.")
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
    # Imported only where needed: pydantic is slow, and a cached catalog does not need it.
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
                "Rename one, or remove it from the search path."
            )
    usable = [pack for pack in first.values() if isinstance(pack, PackInfo)]
    return usable, [pack for pack in first.values() if isinstance(pack, BrokenPack)]


def _is_in(folder: Path, entries: Collection[Path]) -> bool:
    return folder in entries or folder.parent in entries


def _ambiguous(one: PackInfo | BrokenPack, other: PackInfo | BrokenPack) -> BrokenPack:
    """Return a broken pack in place of two packs of the same name in places that the user named."""
    evaluators = [
        name
        for pack in (one, other)
        for name in (pack.evaluators if isinstance(pack, BrokenPack) else [each.name for each in pack.evaluators])
    ]
    message = f'Two packs on {PACK_PATH_VARIABLE} are named "{one.name}": {one.folder} and {other.folder}.'
    hint = f"Remove one of them from {PACK_PATH_VARIABLE}, or rename it."
    return BrokenPack(one.name, one.folder, tuple(dict.fromkeys(evaluators)), message, hint, ())


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_LISTED_AT_MOST])
    return f"{shown} and {len(names) - _LISTED_AT_MOST} more" if len(names) > _LISTED_AT_MOST else shown
