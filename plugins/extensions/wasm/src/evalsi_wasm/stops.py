"""Translate engine errors into faults: timeout, out of fuel, out of memory, or a trap."""

from __future__ import annotations

from typing import NamedTuple

from wasmtime import Trap, TrapCode, WasmtimeError

from evalsi_wasm.faults import GuestFault
from evalsi_wasm.imports import Ended

MIB = 1024**2
WORDS_OF = {
    TrapCode.UNREACHABLE: "it reached code that its author or its language says cannot be reached",
    TrapCode.STACK_OVERFLOW: "its calls nest too deep",
    TrapCode.MEMORY_OUT_OF_BOUNDS: "it reached outside of its memory",
    TrapCode.INTEGER_DIVISION_BY_ZERO: "it divided by zero",
}
# The engine reports traps of a component only as text.
CODES = {
    "wasm trap: interrupt": TrapCode.INTERRUPT,
    "wasm trap: all fuel consumed by WebAssembly": TrapCode.OUT_OF_FUEL,
    "wasm trap: wasm `unreachable` instruction executed": TrapCode.UNREACHABLE,
    "wasm trap: call stack exhausted": TrapCode.STACK_OVERFLOW,
    "wasm trap: out of bounds memory access": TrapCode.MEMORY_OUT_OF_BOUNDS,
    "wasm trap: integer divide by zero": TrapCode.INTEGER_DIVISION_BY_ZERO,
}


class Bounds(NamedTuple):
    """The limits of a call, and the memory that the guest held at its end.

    Args:
        seconds: timeout of the call.
        fuel_per_record: fuel limit per record; 0 means no limit.
        memory_bytes: memory limit.
        held_bytes: memory held; 0 if unknown.
    """

    seconds: float
    fuel_per_record: int
    memory_bytes: int
    held_bytes: int = 0


def fault_of(error: Exception, where: str, bounds: Bounds) -> GuestFault:
    """Return the fault for an exception raised by a call.

    Args:
        error: exception raised by the engine.
        where: the function, as part of a sentence, such as " in evalsi_score".
        bounds: limits of the call.
    """
    code = _code(error)
    if code is TrapCode.INTERRUPT:
        hint = "Correct an endless loop, or raise record_timeout_s in the plugin.toml."
        message = f"The module took longer than {bounds.seconds:g} s{where} and was stopped."
        return GuestFault("pack.timeout", message, hint)
    if code is TrapCode.OUT_OF_FUEL:
        hint = "Correct an endless loop, or raise fuel_per_record in the plugin.toml."
        message = f"The module took more than {bounds.fuel_per_record:,} steps{where}."
        return GuestFault("pack.out_of_fuel", message, hint)
    # An allocator that doubles its memory fails as soon as it holds more than half of the limit.
    if bounds.held_bytes * 2 > bounds.memory_bytes:
        return out_of_memory(f"stopped{where}", bounds)
    if code is not None:
        told = WORDS_OF.get(code, first_line(error).removeprefix("wasm trap: "))
    elif isinstance(error, Ended):
        told = str(error)
    else:
        told = first_line(error) if isinstance(error, (Trap, WasmtimeError)) else f"{type(error).__name__}: {error}"
    return GuestFault("pack.trap", f"The module stopped{where}: {told}.", "Correct it; its stderr may say more.")


def out_of_memory(what: str, bounds: Bounds) -> GuestFault:
    """Return the fault of a guest that has run out of memory."""
    hint = "Have it hold less, or raise memory_mb in the plugin.toml."
    held, most = bounds.held_bytes / MIB, bounds.memory_bytes / MIB
    return GuestFault(
        "pack.out_of_memory", f"The module {what}: it holds {held:,.0f} MiB of the {most:,.0f} it may.", hint
    )


def first_line(error: Exception) -> str:
    """Return the line of an engine error that names the cause, without the backtrace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = lines.index("Caused by:") + 1 if "Caused by:" in lines else 0
    return lines[min(cause, len(lines) - 1)].removeprefix("0: ").rstrip(".") if lines else type(error).__name__


def _code(error: Exception) -> TrapCode | None:
    return error.trap_code if isinstance(error, Trap) else CODES.get(first_line(error))
