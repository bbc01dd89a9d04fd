"""Cache of compiled modules: each module is compiled once per machine type and version of wasmtime.

A file is written under a temporary name and renamed into place. It starts with the SHA-256 digest of the rest.
"""

from __future__ import annotations

import hashlib
import os
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from wasmtime import Engine, Module, WasmtimeError
from wasmtime.component import Component

LAYOUT = 1
Code = TypeVar("Code", Module, Component)
DIGEST_BYTES = 32


def compiled(kind: type[Code], engine: Engine, code: bytes, folder: Path | None, settings: str) -> Code:
    """Return the compiled module, from the cache if possible.

    Args:
        kind: `Module` or `Component`.
        engine: engine that will run it.
        code: the module's bytes.
        folder: the cache folder; None disables the cache.
        settings: engine settings that affect the compiled code; part of the cache key.

    Raises:
        wasmtime.WasmtimeError: the code cannot be compiled.
    """
    if folder is None:
        return kind(engine, code)
    path = folder / cache_name(code, settings)
    found = _read(kind, engine, path)
    if found is None:
        found = kind(engine, code)
        _write(path, bytes(found.serialize()))
    return found


def cache_name(code: bytes, settings: str) -> str:
    """Return the cache file name for a module, the installed wasmtime, this machine type and the engine settings."""
    parts = [f"layout {LAYOUT}", version("wasmtime"), sys.platform, os.uname().machine, settings]
    made_for = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]
    return f"{hashlib.sha256(code).hexdigest()}-{made_for}.cwasm"


def _read(kind: type[Code], engine: Engine, path: Path) -> Code | None:
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    # wasmtime does not validate serialized code, so never hand it a damaged file.
    if hashlib.sha256(kept[DIGEST_BYTES:]).digest() != kept[:DIGEST_BYTES]:
        return None
    try:
        return kind.deserialize(engine, kept[DIGEST_BYTES:])
    except WasmtimeError:
        return None


def _write(path: Path, compiled_code: bytes) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(hashlib.sha256(compiled_code).digest() + compiled_code)
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            unfinished.unlink()
