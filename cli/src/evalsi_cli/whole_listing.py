"""Cache the formatted listing of all packs until a manifest changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import NamedTuple, TypeVar

from evalsi_cli.listing import Trust, trusts_of
from evalsi_kernel.files.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.files.paths import cache_dir, pack_search_path
from evalsi_kernel.packs.catalog import FORMAT, Catalog, default_catalog, find_manifests
from evalsi_kernel.packs.pack_info import EvaluatorInfo, PackInfo
from evalsi_kernel.version import VERSION

_Entry = TypeVar("_Entry", bound=NamedTuple)


def whole_listing(
    module: ModuleType, kind: type[_Entry], entry_of: Callable[[PackInfo, Iterable[EvaluatorInfo], Trust], _Entry]
) -> tuple[list[_Entry], Catalog]:
    """Return the entries of all packs, and a catalog with its warnings, which is empty if there are none.

    Args:
        module: module of `entry_of`; a change of its file invalidates the cache.
        kind: type of the entries.
        entry_of: formats a pack as an entry.
    """
    search_path = pack_search_path()
    warnings: list[str] = []
    manifests = find_manifests(search_path, warnings)
    # The file's time matters for developers of that module; installed releases differ in their version.
    key = [VERSION, os.stat(module.__file__ or "").st_mtime_ns, sys.stdout.encoding, FORMAT, manifests]
    name = os.pathsep.join([kind.__name__, *map(str, search_path)])
    path = cache_path(cache_dir(), "listing", name)
    kept = None if warnings else read_cached(path, key)
    if kept is not None:
        return [kind(*one) for one in kept], Catalog()
    catalog = default_catalog()
    trusts = trusts_of(catalog.packs)
    packs = [entry_of(pack, pack.evaluators, trusts[pack.folder]) for pack in catalog.packs]
    if not catalog.warnings and not catalog.broken:
        # A failed write of the cache is harmless.
        write_cached(path, key, packs)
    return packs, catalog
