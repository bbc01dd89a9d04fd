"""Print or set the version that all distributions share: `python .ci/version.py [NEW]`.

The root pyproject.toml holds it; this script writes it wherever a tool needs it a second time: the other pyproject.toml
and plugin.toml files, the requirements between the distributions, and the kernel's module.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FORM = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")


def current() -> str:
    """Return the version of the root pyproject.toml."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def places() -> list[Path]:
    """Return every file that repeats the version."""
    patterns = ["pyproject.toml", "plugins/packs/*/plugin.toml", "adapters/*/plugin.toml"]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [ROOT / name for name in tracked if any(Path(name).match(pattern) for pattern in patterns)]


def replaced(text: str, old: str, new: str) -> str:
    """Return the text of a TOML file with its own version and its pins of our distributions changed."""
    text = re.sub(rf'^version = "{re.escape(old)}"$', f'version = "{new}"', text, flags=re.MULTILINE)
    return re.sub(rf'("evalsi[a-z-]*(?:\[[a-z,]+\])?==){re.escape(old)}"', rf'\g<1>{new}"', text)


def main(words: list[str]) -> int:
    """Print the version, or set it; returns the exit code."""
    old = current()
    if not words:
        print(old)
        return 0
    (new,) = words
    if not FORM.fullmatch(new):
        print(f"{new} is no version such as 0.5.0 or 0.5.0rc1", file=sys.stderr)
        return 2
    for path in places():
        path.write_text(replaced(path.read_text("utf-8"), old, new), "utf-8")
    module = ROOT / "kernel/src/evalsi_kernel/version.py"
    module.write_text(module.read_text("utf-8").replace(f'"{old}"', f'"{new}"'), "utf-8")
    print(f"{old} -> {new}; now run `just lock-all` and `just docs`")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
