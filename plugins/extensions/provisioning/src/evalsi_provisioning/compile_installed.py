"""Runs in the child: compiles the Python files below a folder, on every core, without starting a Python among them.

Started as `python -I -S compile_installed.py FOLDER`. It forks where `compileall -j` starts processes that talk over
Unix sockets, which the walls refuse.
"""

from __future__ import annotations

import compileall
import os
import sys


def main(folder: str) -> None:
    """Compile all of it; a file that is no Python is passed over."""
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
        # A crafted file may make the compiler fail in any way; the others are compiled all the same.
        try:
            compileall.compile_file(path, quiet=2)
        except Exception:  # noqa: BLE001, S112 - as above
            continue


if __name__ == "__main__":
    main(sys.argv[1])
