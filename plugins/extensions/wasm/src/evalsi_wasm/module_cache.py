"""Compiled modules in the cache folder, so that a module is compiled once for a machine and a version of wasmtime.

A file is whole or not there: it is written aside, renamed into place, and begins with the digest of the rest. What
cannot be kept is compiled again. It must not know what a module exports.
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
    """The module of some code, from the cache where it is there.

    Args:
        kind: what the code is: a core module or a component.
        engine: that will run it.
        code: the module's bytes.
        folder: where compiled modules are kept; None keeps none.
        settings: of the engine, as far as they change what is compiled.

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
    """The name of the file: of one module, one wasmtime, one kind of machine and one kind of engine."""
    parts = [f"layout {LAYOUT}", version("wasmtime"), sys.platform, os.uname().machine, settings]
    made_for = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]
    return f"{hashlib.sha256(code).hexdigest()}-{made_for}.cwasm"


def _read(kind: type[Code], engine: Engine, path: Path) -> Code | None:
    try:
        kept = path.read_bytes()
    except OSError:
        return None
    # wasmtime trusts what it is given back: only what was written as a whole may reach it.
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
