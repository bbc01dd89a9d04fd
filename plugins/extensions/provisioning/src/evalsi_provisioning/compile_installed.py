"""Compile the Python files below a folder on all cores, without running the Python environment in it.

Run as `python -I -S compile_installed.py FOLDER`. It uses `fork`, because the workers of `compileall -j` communicate
over Unix sockets, which the sandbox blocks.
"""

from __future__ import annotations

import compileall
import os
import sys


def main(folder: str) -> None:
    """Compile all Python files below the folder; skip those that do not compile."""
    paths = sorted(
        os.path.join(where, name) for where, _, names in os.walk(folder) for name in names if name.endswith(".py")
    )
    workers = min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, len(paths))
    children = []
    for number in range(1, workers):
        child = os.fork()
        if child == 0:
            _compile(paths[number::workers])
            os._exit(0)
        children.append(child)
    _compile(paths[:: max(workers, 1)])
    for child in children:
        os.waitpid(child, 0)


def _compile(paths: list[str]) -> None:
    for path in paths:
        # A crafted file may raise any exception in the compiler; compile the others anyway.
        try:
            compileall.compile_file(path, quiet=2)
        except Exception:  # noqa: BLE001, S112 - as above
            continue


if __name__ == "__main__":
    main(sys.argv[1])
