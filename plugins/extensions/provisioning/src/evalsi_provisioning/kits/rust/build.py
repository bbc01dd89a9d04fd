# /// script
# requires-python = ">=3.11"
# ///
"""Makes the module that plugin.toml names: `uv run build.py`; `uv run build.py test` runs the tests of the source.

Needs Rust with its target: `rustup target add wasm32-unknown-unknown`. It must not know what the pack computes.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = "wasm32-unknown-unknown"


def main() -> int:
    """Build, or test; cargo's exit code."""
    words = ["test"] if sys.argv[1:] == ["test"] else ["build", "--release", "--target", TARGET]
    code = subprocess.run(["cargo", *words], cwd=HERE, check=False).returncode
    if code == 0 and words != ["test"]:
        module = tomllib.loads((HERE / "plugin.toml").read_text("utf-8"))["run"]["module"]
        shutil.copyfile(HERE / "target" / TARGET / "release" / "pack.wasm", HERE / module)
    return code


if __name__ == "__main__":
    sys.exit(main())
