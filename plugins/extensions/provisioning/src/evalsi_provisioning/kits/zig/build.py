# /// script
# requires-python = ">=3.11"
# dependencies = ["ziglang==0.17.1"]
# ///
"""Makes the module that plugin.toml names: `uv run build.py`; `uv run build.py test` runs the tests of the source.

uv brings the compiler, from the line above. It must not know what the pack computes.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ZIG = [sys.executable, "-m", "ziglang"]
FLAGS = ["-target", "wasm32-freestanding", "-O", "ReleaseSmall", "-fno-entry", "-rdynamic", "-fstrip"]


def main() -> int:
    """Build, or test; the compiler's exit code."""
    if sys.argv[1:] == ["test"]:
        words = [*ZIG, "test", "src/sentence_length.zig"]
    else:
        module = tomllib.loads((HERE / "plugin.toml").read_text("utf-8"))["run"]["module"]
        words = [*ZIG, "build-exe", "src/pack.zig", *FLAGS, f"-femit-bin={module}"]
    return subprocess.run(words, cwd=HERE, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
