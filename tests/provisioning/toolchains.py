"""The languages' own tools as they are found here, or brought by uv; and commands typed with them.

It must not know what is built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import uv

BOUND_S = 400.0
TARGET = "wasm32-unknown-unknown"
ZIG = "ziglang==0.17.1"
SCRIPTS = Path(sys.executable).parent


class Shell:
    """Types commands in a folder.

    Args:
        folder: where.
        first: folders that stand first on its PATH, before that of `evalsi` and uv.
    """

    def __init__(self, folder: Path, *first: str | Path) -> None:
        self.folder = folder
        path = os.pathsep.join([*map(str, first), str(SCRIPTS), os.environ["PATH"]])
        self._variables = os.environ | {"PATH": path}

    def types(self, words: str) -> str:
        """What a command prints; it must succeed."""
        done = subprocess.run(
            ["bash", "-c", words],
            cwd=self.folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=BOUND_S,
            check=False,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
        return done.stdout


def brought(folder: Path, *requirements: str) -> Path:
    """The folder of programs of an environment with these, made by uv in `folder` from its cache or the index."""
    need_from_index(*requirements)
    environment = folder / "tools"
    python = str(environment / "bin" / "python")
    for words in (
        ["venv", "--quiet", "--python", sys.executable, str(environment)],
        ["pip", "install", "--quiet", "--python", python, *requirements],
    ):
        subprocess.run([uv.find_uv_bin(), *words], check=True, timeout=BOUND_S)
    return environment / "bin"


def rust() -> str:
    """The first folder on the PATH whose Rust has the target; skips where none has."""
    folder = _rust()
    if folder is None:
        pytest.skip(f"no Rust on the PATH has the target {TARGET}: rustup target add {TARGET}")
    return folder


def need(*programs: str) -> None:
    """Skip where a program is not there."""
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not on the PATH")


@cache
def need_from_index(*requirements: str) -> None:
    """Skip where a tool of another publisher cannot be had from the package index."""
    words = [
        "pip",
        "install",
        "--dry-run",
        "--quiet",
        "--python",
        sys.executable,
        "--no-deps",
        "--only-binary",
        ":all:",
    ]
    done = subprocess.run([uv.find_uv_bin(), *words, *requirements], capture_output=True, check=False, timeout=BOUND_S)
    if done.returncode:
        pytest.skip(f"{', '.join(requirements)} cannot be had from the package index")


@cache
def need_npm(package: str) -> None:
    """Skip where there is no Node.js, or no registry that has the package."""
    need("node", "npm")
    words = ["npm", "view", package, "version", "--fetch-retries", "1", "--fetch-timeout", "20000"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=BOUND_S)
    if done.returncode:
        pytest.skip(f"{package} cannot be had from a registry of npm")


@cache
def _rust() -> str | None:
    for folder in os.environ["PATH"].split(os.pathsep):
        compiler = shutil.which("rustc", path=folder)
        if compiler and shutil.which("cargo", path=folder):
            words = [compiler, "--print", "target-libdir", "--target", TARGET]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode == 0 and any(Path(done.stdout.strip()).glob("libcore-*")):
                return folder
    return None
