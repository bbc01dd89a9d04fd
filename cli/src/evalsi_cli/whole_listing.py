"""Every pack's text, kept for as long as no manifest changes: most of a warm listing would be to read and format again
what is as it was.

It must not know how a pack reads as text.
"""

from __future__ import annotations

import os

from evalsi_cli import pack_text
from evalsi_cli.listing import trusts_of
from evalsi_cli.pack_text import PackText, text_of
from evalsi_kernel.files.cache_file import cache_path, read_cached, write_cached
from evalsi_kernel.files.paths import cache_dir, pack_search_path
from evalsi_kernel.packs.catalog import FORMAT, Catalog, default_catalog, find_manifests
from evalsi_kernel.version import VERSION


def whole_listing() -> tuple[list[PackText], Catalog]:
    """The text of every pack, and a catalog for what else is to be told; an empty one where that is nothing."""
    search_path = pack_search_path()
    warnings: list[str] = []
    manifests = find_manifests(search_path, warnings)
    # The file's time is for who works on that module; what was installed differs in its version.
    key = [VERSION, os.stat(pack_text.__file__).st_mtime_ns, FORMAT, manifests]
    path = cache_path(cache_dir(), "listing", os.pathsep.join(map(str, search_path)))
    kept = None if warnings else read_cached(path, key)
    if kept is not None:
        return [PackText(*one) for one in kept], Catalog()
    catalog = default_catalog()
    trusts = trusts_of(catalog.packs)
    texts = [text_of(pack, pack.evaluators, trusts[pack.folder]) for pack in catalog.packs]
    if not catalog.warnings and not catalog.broken:
        # That it cannot be kept costs time only.
        write_cached(path, key, texts)
    return texts, catalog
