"""What every pack reads as, kept for as long as no manifest changes: most of a warm listing would be to read and format
again what is as it was.

It must not know how a pack reads as text, or as JSON.
"""

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

_Told = TypeVar("_Told", bound=NamedTuple)


def whole_listing(
    module: ModuleType, kind: type[_Told], told: Callable[[PackInfo, Iterable[EvaluatorInfo], Trust], _Told]
) -> tuple[list[_Told], Catalog]:
    """What every pack reads as, and a catalog for what else is to be told; an empty one where that is nothing.

    Args:
        module: holds `told`.
        kind: what `told` gives.
        told: makes of a pack what it reads as.
    """
    search_path = pack_search_path()
    warnings: list[str] = []
    manifests = find_manifests(search_path, warnings)
    # The file's time is for who works on that module; what was installed differs in its version.
    key = [VERSION, os.stat(module.__file__ or "").st_mtime_ns, sys.stdout.encoding, FORMAT, manifests]
    name = os.pathsep.join([kind.__name__, *map(str, search_path)])
    path = cache_path(cache_dir(), "listing", name)
    kept = None if warnings else read_cached(path, key)
    if kept is not None:
        return [kind(*one) for one in kept], Catalog()
    catalog = default_catalog()
    trusts = trusts_of(catalog.packs)
    packs = [told(pack, pack.evaluators, trusts[pack.folder]) for pack in catalog.packs]
    if not catalog.warnings and not catalog.broken:
        # That it cannot be kept costs time only.
        write_cached(path, key, packs)
    return packs, catalog
