"""The imports of a guest: `evalsi.log`, and WASI stubs for toolchains that always import WASI.

The stubs give access to no files, variables, arguments, clock or randomness.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from wasmtime import Caller, Engine, FuncType, ImportType, Linker, Memory, ValType

OWN = "evalsi"
LOG = "log"
WASI = "wasi_snapshot_preview1"
MAX_LINE_BYTES = 4_000
MAX_LINES = 1_000
SUCCESS, BAD_DESCRIPTOR, NOT_SUPPORTED = 0, 8, 52
STANDARD_OUTPUTS = (1, 2)
MAX_PIECES = 64
NOW_NS = 1
"""Constant time of the stub clock. Go treats a clock at 0 as broken and exits."""


class Ended(Exception):
    """Raised when the guest calls `proc_exit`."""


class Log:
    """Writes the guest's output to stderr, up to `MAX_LINES` lines."""

    def __init__(self, write: Callable[[str], object] = sys.stderr.write) -> None:
        self._write = write
        self._left = MAX_LINES

    def add(self, text: bytes) -> None:
        """Write the lines of `text`, of which at most `MAX_LINE_BYTES` are used."""
        for line in text[:MAX_LINE_BYTES].decode("utf-8", "backslashreplace").splitlines():
            if self._left > 0:
                self._write(f"{line}\n")
            elif self._left == 0:
                self._write(f"The module wrote more than {MAX_LINES:,} lines; what follows is not shown.\n")
            self._left -= 1


def strangers(imports: Iterable[ImportType]) -> Iterator[str]:
    """Yield the imports that this host does not provide, as `module.name`."""
    for one in imports:
        known = one.module == WASI or (one.module == OWN and one.name == LOG)
        if not known or not isinstance(one.type, FuncType):
            yield f"{one.module}.{one.name}"


def linker_for(engine: Engine, imports: Iterable[ImportType], log: Log) -> Linker:
    """Return a linker for these imports, which must all be provided (see `strangers`)."""
    linker = Linker(engine)
    for one in imports:
        if one.module == OWN:
            kind = FuncType([ValType.i32(), ValType.i32()], [])
            linker.define_func(OWN, LOG, kind, _log(log), access_caller=True)
        else:
            assert isinstance(one.type, FuncType)
            answer = _wasi(one.name or "", log)
            results = len(one.type.results)
            linker.define_func(WASI, one.name or "", one.type, _of_results(answer, results), access_caller=True)
    return linker


def _log(log: Log) -> Callable[..., None]:
    def add(caller: Caller, pointer: int, length: int) -> None:
        memory = _memory(caller)
        start = pointer & 0xFFFFFFFF
        log.add(bytes(memory.read(caller, start, start + min(length & 0xFFFFFFFF, MAX_LINE_BYTES))))

    return add


def _of_results(answer: Callable[..., int], results: int) -> Callable[..., Any]:
    return answer if results else lambda *given: (answer(*given), None)[1]


def _wasi(name: str, log: Log) -> Callable[..., int]:
    """Return the stub of a WASI function: nothing exists, the time is constant, and random bytes are zero."""

    def write(caller: Caller, descriptor: int, pieces: int, count: int, written: int) -> int:
        if descriptor not in STANDARD_OUTPUTS:
            return BAD_DESCRIPTOR
        memory, total = _memory(caller), 0
        for number in range(min(count, MAX_PIECES)):
            place = pieces + 8 * number
            start, length = _u32(memory, caller, place), _u32(memory, caller, place + 4)
            log.add(bytes(memory.read(caller, start, start + min(length, MAX_LINE_BYTES))))
            total += length
        memory.write(caller, total.to_bytes(4, "little"), written)
        return SUCCESS

    def zeros(size: int) -> Callable[..., int]:
        def fill(caller: Caller, *given: int) -> int:
            for pointer in given[-(2 if size == 4 else 1) :]:
                _memory(caller).write(caller, bytes(size), pointer)
            return SUCCESS

        return fill

    def chance(caller: Caller, pointer: int, length: int) -> int:
        _memory(caller).write(caller, bytes(length), pointer)
        return SUCCESS

    def now(caller: Caller, *given: int) -> int:
        _memory(caller).write(caller, NOW_NS.to_bytes(8, "little"), given[-1])
        return SUCCESS

    def end(caller: Caller, code: int) -> int:
        raise Ended(f"it ended itself with the code {code}")

    answers: dict[str, Callable[..., int]] = {
        "fd_write": write,
        "random_get": chance,
        "proc_exit": end,
        "clock_time_get": now,
        "clock_res_get": zeros(8),
        "environ_sizes_get": zeros(4),
        "args_sizes_get": zeros(4),
        "environ_get": lambda caller, *given: SUCCESS,
        "args_get": lambda caller, *given: SUCCESS,
        "sched_yield": lambda caller, *given: SUCCESS,
    }
    refusal = BAD_DESCRIPTOR if name.startswith("fd_") else NOT_SUPPORTED
    return answers.get(name, lambda caller, *given: refusal)


def _memory(caller: Caller) -> Memory:
    memory = caller["memory"]
    assert isinstance(memory, Memory)
    return memory


def _u32(memory: Memory, caller: Caller, place: int) -> int:
    return int.from_bytes(memory.read(caller, place, place + 4), "little")
