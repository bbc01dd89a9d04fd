# /// script
# requires-python = ">=3.11"
# dependencies = ["ziglang==0.17.1"]
# ///
"""Makes the module that plugin.toml names: `uv run build.py`; `uv run build.py test` runs the tests of the source.

uv brings the compiler, from the line above: Zig has clang in it. It must not know what the pack computes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
CC = [sys.executable, "-m", "ziglang", "cc", "-std=c17", "-Wall", "-Wextra", "-O2"]
# No system below and no libc: the module imports nothing.
BARE = ["-target", "wasm32-freestanding", "-ffreestanding", "-mbulk-memory", "-nostdlib", "-Wl,--no-entry"]
SOURCES = ["src/msgpack.c", "src/sentence_length.c"]


def main() -> int:
    """Build, or test; 0 where all of it succeeds."""
    if sys.argv[1:] == ["test"]:
        with tempfile.TemporaryDirectory() as folder:
            codes = [tested(path, Path(folder)) for path in sorted(HERE.glob("tests/*.c"))]
            return int(any(codes))
    module = tomllib.loads((HERE / "plugin.toml").read_text("utf-8"))["run"]["module"]
    return run([*CC, *BARE, "-s", "src/pack.c", *SOURCES, "-o", module])


def tested(source: Path, folder: Path) -> int:
    """Build a program of tests and run it."""
    program = str(folder / f"{source.stem}.exe")
    return run([*CC, str(source), *SOURCES, "-o", program]) or run([program])


def run(words: list[str]) -> int:
    """Run a command in the pack's folder."""
    return subprocess.run(words, cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
