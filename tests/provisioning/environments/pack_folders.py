"""What tests of environments do with a pack's folder: write it, ask for its environment, look into the result."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsi_kernel.errors import PackEnvironmentError
from evalsi_kernel.planning.environments import ensure_environment
from tests.provisioning.environments.package_index import PackageIndex

ROOT = Path(__file__).parents[3]
MakePack = Callable[..., Path]

# A process that asks for the environment of sys.argv[1] and prints each line of progress, a line in one write.
ASK = """
import os, sys
from pathlib import Path
from evalsi_kernel.planning.environments import ensure_environment
say = lambda line: os.write(1, f"{line}\\n".encode())
environment = ensure_environment(Path(sys.argv[1]), "tiny", on_progress=say)
say(f"has {environment.key}")
"""


def project(*dependencies: str) -> str:
    sources = f'[tool.uv.sources]\nevalsi-sdk = {{ path = "{ROOT / "sdk"}", editable = true }}\n'
    names = ", ".join(f'"{one}"' for one in dependencies)
    return (
        f'[project]\nname = "tiny"\nversion = "1.0"\nrequires-python = ">=3.11"\ndependencies = [{names}]\n'
        f"{sources if 'evalsi-sdk' in dependencies else ''}"
    )


def edit(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text().replace(old, new))


def built_mark(index: PackageIndex) -> Path:
    """A file that is there once a source has been built."""
    return index.folder / "built"


def called_mark(index: PackageIndex) -> Path:
    """A file that is there once a Python has started in whose environment the package `caller` is."""
    return index.folder / "called"


def says(python: Path, code: str) -> str:
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def refusal(pack: Path, *, rebuild: bool = False, offline: bool = False) -> PackEnvironmentError:
    with pytest.raises(PackEnvironmentError) as caught:
        ensure_environment(pack, "tiny", rebuild=rebuild, offline=offline)
    assert caught.value.hint, "an error says what to do"
    return caught.value


def left_overs(cache: Path) -> list[str]:
    return [path.name for path in (cache / "envs").glob(".tmp-*")]
