"""`evalsi plugins new`: write a working, tested and conforming pack as a starting point; uv locks a Python pack."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from evalsi_kernel.commands import Toolkit
from evalsi_kernel.errors import ConfigError, PackEnvironmentError, UsageError
from evalsi_kernel.packs.manifests import RESERVED_NAMES
from evalsi_kernel.packs.refs import PACK_NAME
from evalsi_kernel.version import VERSION

from . import new_pack_files as files
from .build import find_uv
from .new_wasm_pack import next_steps, texts_of

LOCK_S = 300


class Locked(NamedTuple):
    """Whether the lock was created, and if not, why."""

    is_there: bool
    why: str = ""


def run_new(options: argparse.Namespace, _: Toolkit) -> int:
    """Write the pack, lock it if it is a Python pack, and print the next steps."""
    name = _checked(options.name)
    folder = options.dir or Path(name.partition("/")[2])
    write_pack(name, folder, options.wasm)
    print(f"wrote the pack {name} into {folder}/")
    if options.wasm is not None:
        print("\n".join(next_steps(options.wasm, folder)))
        return 0
    locked = lock(folder, offline=options.offline)
    if locked.is_there:
        print(f"next: evalsi plugins check {folder}")
    else:
        print(f"no lock was made: {locked.why}")
        print(f"next: uv lock --project {folder}, where the package index can be reached")
        print(f"then: evalsi plugins check {folder}")
    return 0


def write_pack(name: str, folder: Path, wasm: str | None = None) -> None:
    """Write the files of a new pack.

    Args:
        name: name of the pack, with its publisher.
        folder: the folder to create; may exist if it is empty.
        wasm: language of a WebAssembly pack; None for a Python pack.

    Raises:
        ConfigError: `config.invalid`; the folder is not empty or cannot be written.
    """
    texts = _python_texts(name) if wasm is None else texts_of(name, wasm)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ConfigError(f"{folder} is there and is not empty.", "Name another folder with --dir.")
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise ConfigError(
            f"{folder} cannot be written: {error.strerror}.", "Name another folder with --dir."
        ) from error


def _python_texts(name: str) -> Mapping[str, str]:
    module = re.sub(r"\W", "_", name)
    words = {"name": name, "module": module, "distribution": module.replace("_", "-"), "version": VERSION}
    checkout = _checkout()
    words["sources"] = "" if checkout is None else files.SOURCES.substitute(checkout=checkout.as_posix())
    return {
        "plugin.toml": files.python_manifest(name, module),
        "pyproject.toml": files.PYPROJECT.substitute(words),
        "README.md": files.README.substitute(words),
        "samples.jsonl": files.SAMPLES,
        ".gitignore": files.IGNORED,
        f"src/{module}/__init__.py": files.PACKAGE.substitute(words),
        f"src/{module}/sentence_length.py": files.EVALUATOR,
        "tests/test_sentence_length.py": files.TEST.substitute(words),
    }


def lock(folder: Path, *, offline: bool = False) -> Locked:
    """Lock a pack with uv; a failure is returned, not raised."""
    try:
        argv = [find_uv(), "lock", "--quiet", "--project", str(folder), *(["--offline"] if offline else [])]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LOCK_S, check=False)
    except PackEnvironmentError as error:
        return Locked(False, str(error))
    except subprocess.TimeoutExpired:
        return Locked(False, f"uv did not end within {LOCK_S} s.")
    if done.returncode == 0:
        return Locked(True)
    said = [line.strip(" ╰─▶│×") for line in done.stderr.strip().splitlines() if line.strip()]
    return Locked(False, " ".join(said)[:400] or f"uv ended with code {done.returncode}.")


def _checked(name: str) -> str:
    if not re.fullmatch(PACK_NAME, name):
        raise UsageError(f'"{name}" is no name of a pack.', "Write publisher/name in small letters, such as acme/tone.")
    if "/" not in name:
        hint = f"Write a publisher before it, such as acme/{name}."
        raise UsageError(f'"{name}" is a plain name, and those are of Evals.si\'s own packs.', hint)
    if name.split("/", maxsplit=1)[0] in RESERVED_NAMES:
        raise UsageError(f'"{name}" is reserved.', "Write your own name as the publisher, such as acme.")
    return name


def _checkout() -> Path | None:
    """Return the checkout that the SDK is imported from; None if the SDK is installed from an index."""
    spec = find_spec("evalsi")
    if spec is None or spec.origin is None:
        return None
    sdk = Path(spec.origin).resolve().parents[2]
    return sdk.parent if (sdk / "pyproject.toml").is_file() and sdk.name == "sdk" else None
