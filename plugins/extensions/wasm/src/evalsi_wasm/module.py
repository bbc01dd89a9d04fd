"""Read a core module, compile it and check its imports and exports against the ABI, without running it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from wasmtime import Engine, ExportType, FuncType, Linker, MemoryType, Module, ValType, WasmtimeError

from evalsi_protocol.limits import MAX_FRAME_BYTES
from evalsi_wasm.engine import Clock, make_engine
from evalsi_wasm.faults import unusable
from evalsi_wasm.imports import Log, linker_for, strangers
from evalsi_wasm.module_cache import compiled
from evalsi_wasm.stops import first_line

MAGIC = b"\0asm"
CORE = b"\1\0\0\0"
COMPONENT = b"\x0d\0\1\0"
MAX_MODULE_BYTES = 256 * 1024**2
START_S = 10.0
MAX_ANSWER_BYTES = MAX_FRAME_BYTES // 2
MEMORY = "memory"
ALLOC, ABI, DESCRIBE, SCORE = "evalsi_alloc", "evalsi_abi", "evalsi_describe", "evalsi_score"
PLAN, REDUCE, AGGREGATE = "evalsi_plan", "evalsi_reduce", "evalsi_aggregate"
INITIALIZE = "_initialize"
_I32, _I64 = "i32", "i64"
BODY_IN = ((_I32, _I32), (_I64,))
"""Signature of a function called with the address and length of a body; its result packs those of the answer."""
MUST_EXPORT = {ALLOC: ((_I32,), (_I32,)), ABI: ((), (_I32,)), DESCRIBE: ((), (_I64,))}
MAY_EXPORT = {SCORE: BODY_IN, PLAN: BODY_IN, REDUCE: BODY_IN, AGGREGATE: BODY_IN, INITIALIZE: ((), ())}
PAIRS = ((PLAN, REDUCE),)


class Limits(NamedTuple):
    """Resource limits of an instance.

    Args:
        memory_bytes: maximum size of its linear memory.
        fuel_per_record: maximum number of instructions (fuel) per record; 0 means no limit.
    """

    memory_bytes: int
    fuel_per_record: int = 0


class Loaded(NamedTuple):
    """A compiled module, ready to be instantiated.

    Args:
        name: file name, for error messages.
        engine: engine that compiled the module.
        module: the compiled code.
        linker: provides the module's imports.
        exports: names of the exported functions that belong to the ABI.
        limits: limits of each instance.
        clock: advances the engine's epoch while an instance runs.
    """

    name: str
    engine: Engine
    module: Module
    linker: Linker
    exports: frozenset[str]
    limits: Limits
    clock: Clock


def load_module(path: Path, code: bytes, limits: Limits, cache: Path | None = None, log: Log | None = None) -> Loaded:
    """Compile a core module or load it from the cache, and check its imports and exports.

    Args:
        path: the `.wasm` file, for error messages.
        code: contents of the file.
        limits: limits of each instance.
        cache: folder of compiled modules; None disables the cache.
        log: receives the guest's output; stderr by default.

    Raises:
        GuestFault: `pack.import`; the module cannot be compiled or does not follow the ABI.
    """
    engine = make_engine(fuel=limits.fuel_per_record > 0)
    try:
        module = compiled(Module, engine, code, cache, f"fuel {limits.fuel_per_record > 0}")
    except WasmtimeError as error:
        raise unusable(path.name, f"cannot be compiled: {first_line(error)}", "Build it again.") from error
    _check_imports(path.name, module)
    exports = _exports(path.name, module)
    linker = linker_for(engine, module.imports, log or Log())
    return Loaded(path.name, engine, module, linker, exports, limits, Clock(engine))


def read_code(path: Path) -> bytes:
    """Return the bytes of a core module or component.

    Raises:
        GuestFault: `pack.import`; the file cannot be read, is too large, or is not WebAssembly.
    """
    try:
        if path.stat().st_size > MAX_MODULE_BYTES:
            raise unusable(path.name, f"is larger than {MAX_MODULE_BYTES:,} bytes", "Strip it.")
        code = path.read_bytes()
    except OSError as error:
        raise unusable(
            path.name, f"cannot be read: {error.strerror}", "Build it, or install the pack again."
        ) from error
    if not code:
        raise unusable(path.name, "is empty", "Build it again, or install the pack again.")
    if code[:4] != MAGIC:
        raise unusable(path.name, "is no WebAssembly module", "Name a .wasm file in run.module of the plugin.toml.")
    if code[4:8] not in (CORE, COMPONENT):
        raise unusable(path.name, "is of another version of WebAssembly", "Build a core module or a component.")
    return code


def _check_imports(name: str, module: Module) -> None:
    unknown = list(strangers(module.imports))
    if unknown:
        raise unusable(
            name,
            f"imports {', '.join(unknown)}, and a host gives evalsi.log and an empty wasi_snapshot_preview1 only",
            "Build it without what needs that.",
        )


def _exports(name: str, module: Module) -> frozenset[str]:
    found = {one.name: one for one in module.exports}
    problems = list(_export_problems(found))
    if problems:
        hint = "Export what docs/reference/wasm-abi.md lists, and mark it so that the linker keeps it."
        raise unusable(name, "; ".join(problems), hint)
    return frozenset(found) & frozenset([*MUST_EXPORT, *MAY_EXPORT])


def _export_problems(found: dict[str, ExportType]) -> Iterator[str]:
    if MEMORY not in found:
        yield f"exports no {MEMORY}"
    elif not isinstance(found[MEMORY].type, MemoryType):
        yield f"exports a {MEMORY} that is none"
    for name, signature in {**MUST_EXPORT, **MAY_EXPORT}.items():
        if name not in found:
            if name in MUST_EXPORT:
                yield f"exports no {name}"
            continue
        kind = found[name].type
        if not isinstance(kind, FuncType) or _signature(kind) != signature:
            yield f"exports {name} {_told(kind)}, not as {_written(*signature)}"
    if SCORE not in found and PLAN not in found and AGGREGATE not in found:
        yield f"exports neither {SCORE} nor {PLAN}"
    for one, other in PAIRS:
        if (one in found) != (other in found):
            yield f"exports only one of {one} and {other}"


def _signature(kind: FuncType) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(map(_word, kind.params)), tuple(map(_word, kind.results))


def _word(kind: ValType) -> str:
    return str(kind)


def _told(kind: object) -> str:
    return f"as {_written(*_signature(kind))}" if isinstance(kind, FuncType) else "as what is no function"


def _written(params: tuple[str, ...], results: tuple[str, ...]) -> str:
    return f"({', '.join(params)}) -> ({', '.join(results)})"
