"""Owns how a log of Inspect AI is read: by the adapter `inspect`, in a process of its environment.

Its archives are compressed in ways that this Python may not know, and change with Inspect; so only the adapter knows
their form. It must not know what a row says.
"""

from __future__ import annotations

import os
import sys

from evalsi_kernel.errors import DatasetError
from evalsi_kernel.packs.catalog import default_catalog
from evalsi_kernel.packs.pack_info import PackInfo
from evalsi_kernel.planning.environments import ensure_environment, sdk_paths
from evalsi_kernel.supervision.launch import Command

from .reader_rows import ReaderRows

ADAPTER = "inspect"
READER = "evalsi_inspect.reading"
HARD_LIMIT_FACTOR = 4
_START = (
    "import runpy, sys; sys.path[:0] = {paths!r}; sys.argv[1:] = {arguments!r}; "
    "runpy.run_module({module!r}, None, '__main__')"
)


def open_inspect_log(path: str, uri: str) -> ReaderRows:
    """The log at a path; nothing is read yet.

    Args:
        path: of an `.eval` or `.json` log.
        uri: as the user wrote it.

    Raises:
        DatasetError: there is no such file, or the adapter is not there.
    """
    if not os.path.isfile(path):
        raise DatasetError(
            f"There is no log {path or uri}.",
            "Write inspect://folder/log.eval, or inspect:///folder/log.eval for a path from the root.",
            code="dataset.unreadable",
        )
    adapter = next((pack for pack in default_catalog().packs if pack.name == ADAPTER), None)
    if adapter is None:
        raise DatasetError(
            f"Logs of Inspect are read by the adapter {ADAPTER}, which is not installed.",
            "Put its folder on EVALSI_PLUGIN_PATH, or install evalsi with it.",
            code="dataset.unreadable",
        )
    log = os.path.abspath(path)
    return ReaderRows(log, uri, ADAPTER, lambda: _command(adapter, log))


def _command(adapter: PackInfo, log: str) -> Command:
    environment = ensure_environment(adapter.folder, adapter.name, on_progress=_tell)
    paths = [str(adapter.folder / "src"), *map(str, sdk_paths(environment))]
    start = _START.format(paths=paths, arguments=[log], module=READER)
    memory_bytes = adapter.memory_mb * 1024 * 1024 * HARD_LIMIT_FACTOR
    # -I as for a pack: neither the caller's PYTHONPATH nor the user's site-packages reach it.
    return Command([str(environment.python), "-I", "-c", start], memory_limit_bytes=memory_bytes)


def _tell(line: str) -> None:
    """One line before and after the adapter's environment is built, which takes a while and happens once."""
    print(line, file=sys.stderr, flush=True)
