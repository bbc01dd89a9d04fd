"""The peer: the published tool of the same name that scores within its own process. A comparator only.

It lives in a throw-away environment; nothing of its code comes in here.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import uv

PACKAGE = "evalsi==0.3.1"


def ensure_peer(folder: Path) -> str:
    """Install the peer into `folder` unless it is there; returns the path of its command."""
    program = folder / "bin" / "evalsi"
    if not program.exists():
        binary = uv.find_uv_bin()
        subprocess.run([binary, "venv", "--quiet", "--clear", str(folder)], check=True)
        install = [binary, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(folder / "bin/python")]
        subprocess.run([*install, PACKAGE], check=True)
    return str(program)
