"""The peer: the published tool of the same name that scores within its own process. A comparator only.

It lives in a throw-away environment; nothing of its code comes in here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import uv

PACKAGE = "evalsi==0.3.1"


def ensure_peer(folder: Path) -> str:
    """Install the peer into `folder` unless it is there; returns the path of its command."""
    return str(ensure_environment(folder, [PACKAGE]) / "evalsi")


def ensure_environment(folder: Path, packages: Sequence[str]) -> Path:
    """Make a throw-away environment with these packages unless it is there; returns the folder of its commands.

    Raises:
        subprocess.CalledProcessError: it cannot be made.
    """
    # Written last, so that one that was cut short is made anew.
    stamp = folder / "packages.txt"
    wanted = "\n".join(packages)
    if not stamp.exists() or stamp.read_text("utf-8") != wanted:
        binary = uv.find_uv_bin()
        subprocess.run([binary, "venv", "--quiet", "--clear", str(folder)], check=True)
        install = [binary, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder / "bin/python")]
        subprocess.run([*install, *packages], check=True)
        stamp.write_text(wanted, "utf-8")
    return folder / "bin"
