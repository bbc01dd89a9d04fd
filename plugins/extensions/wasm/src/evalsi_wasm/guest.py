"""One instance of a module: bodies into its memory, answers out of it, within a time, a memory and a number of steps.

It belongs to one thread at a time. It must not know what a body says.
"""

from __future__ import annotations

from typing import Any

from wasmtime import Func, Memory, Store, Trap, TrapCode, WasmtimeError

from evalsi_protocol.limits import MAX_FRAME_BYTES
from evalsi_wasm.engine import ticks
from evalsi_wasm.faults import GuestFault, bad_answer, unusable
from evalsi_wasm.imports import Ended
from evalsi_wasm.module import ABI, ALLOC, DESCRIBE, INITIALIZE, MEMORY, Loaded, first_line

VERSION = 1
"""The version of the ABI that this host speaks."""
START_S = 10.0
MAX_ANSWER_BYTES = MAX_FRAME_BYTES // 2
WORDS_OF = {
    TrapCode.UNREACHABLE: "it reached code that its author or its language says cannot be reached",
    TrapCode.STACK_OVERFLOW: "its calls nest too deep",
    TrapCode.MEMORY_OUT_OF_BOUNDS: "it reached outside of its memory",
    TrapCode.INTEGER_DIVISION_BY_ZERO: "it divided by zero",
}


class Guest:
    """A live instance. After a fault that is fatal nothing more may be asked of it."""

    def __init__(self, loaded: Loaded) -> None:
        """Make the instance, and let it prepare itself.

        Raises:
            GuestFault: `pack.import`; it does not start, or speaks another ABI.
        """
        self._loaded = loaded
        self._store = Store(loaded.engine)
        self._store.set_limits(
            memory_size=loaded.limits.memory_bytes, instances=1, memories=1, table_elements=1_000_000
        )
        self._limit(START_S, 1)
        try:
            with loaded.clock.counting():
                exports = loaded.linker.instantiate(self._store, loaded.module).exports(self._store)
        except Exception as error:
            fault = self._fault(error, START_S, None).error
            raise unusable(loaded.name, f"does not start: {fault.message.rstrip('.')}", fault.mend) from error
        memory = exports[MEMORY]
        assert isinstance(memory, Memory)
        self._memory = memory
        self._functions: dict[str, Func] = {}
        for name in loaded.exports:
            function = exports[name]
            assert isinstance(function, Func)
            self._functions[name] = function
        self._prepare()

    def describe(self) -> bytes:
        """What the module says of itself."""
        return self._taken(self._called(DESCRIBE, START_S, 1))

    def call(self, function: str, body: bytes, *, seconds: float, records: int = 1) -> bytes:
        """Hand a body to a function of the module; returns its answer's bytes.

        Args:
            function: an export that takes a body.
            body: in MessagePack.
            seconds: how long it may take.
            records: for how many records it may take its steps.

        Raises:
            GuestFault: it stopped, was stopped, or gave no answer.
        """
        place = self._called(ALLOC, seconds, records, len(body)) & 0xFFFFFFFF
        if not place:
            raise self._out_of_memory(f"has no room for {len(body):,} bytes")
        if place + len(body) > self._memory.data_len(self._store):
            raise bad_answer(f"to {ALLOC} lies outside of its memory")
        self._memory.write(self._store, body, place)
        return self._taken(self._called(function, seconds, records, place, len(body)))

    def _prepare(self) -> None:
        name = self._loaded.name
        try:
            if INITIALIZE in self._functions:
                self._called(INITIALIZE, START_S, 1)
            spoken = self._called(ABI, START_S, 1)
        except GuestFault as fault:
            raise unusable(name, f"does not start: {fault.error.message.rstrip('.')}", fault.error.mend) from fault
        if spoken != VERSION:
            mend = "Upgrade evalsi-wasm." if spoken > VERSION else f"Build the module for version {VERSION}."
            raise unusable(name, f"speaks version {spoken} of the ABI, and this host version {VERSION}", mend)

    def _limit(self, seconds: float, records: int) -> None:
        self._store.set_epoch_deadline(ticks(seconds))
        if self._loaded.limits.fuel_per_record:
            self._store.set_fuel(self._loaded.limits.fuel_per_record * records)

    def _called(self, name: str, seconds: float, records: int, *values: int) -> int:
        self._limit(seconds, records)
        try:
            with self._loaded.clock.counting():
                result: Any = self._functions[name](self._store, *values)
        # Also what a callback meets in the guest's memory is the guest's fault.
        except Exception as error:
            raise self._fault(error, seconds, name) from error
        return int(result) if result is not None else 0

    def _taken(self, packed: int) -> bytes:
        """The bytes that an answer's place and length name."""
        place, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        if not length:
            raise bad_answer("is empty")
        if length > MAX_ANSWER_BYTES:
            raise bad_answer(f"of {length:,} bytes is over the limit of {MAX_ANSWER_BYTES:,}")
        if place + length > self._memory.data_len(self._store):
            raise bad_answer(f"of {length:,} bytes at {place:,} lies outside of its memory")
        return bytes(self._memory.read(self._store, place, place + length))

    def _fault(self, error: Exception, seconds: float, function: str | None) -> GuestFault:
        where = f" in {function}" if function else ""
        code = error.trap_code if isinstance(error, Trap) else None
        if code is TrapCode.INTERRUPT:
            mend = "Mend an endless loop, or raise record_timeout_s in the plugin.toml."
            return GuestFault(
                "pack.timeout", f"The module took longer than {seconds:g} s{where} and was stopped.", mend
            )
        if code is TrapCode.OUT_OF_FUEL:
            fuel = self._loaded.limits.fuel_per_record
            mend = "Mend an endless loop, or raise fuel_per_record in the plugin.toml."
            return GuestFault("pack.out_of_fuel", f"The module took more than {fuel:,} steps{where}.", mend)
        if function and self._is_nearly_full():
            return self._out_of_memory(f"stopped{where}")
        if isinstance(error, Ended):
            told = str(error)
        elif code is not None:
            told = WORDS_OF.get(code, first_line(error).removeprefix("wasm trap: "))
        else:
            told = first_line(error) if isinstance(error, (Trap, WasmtimeError)) else f"{type(error).__name__}: {error}"
        return GuestFault("pack.trap", f"The module stopped{where}: {told}.", "Mend it; its stderr may say more.")

    def _is_nearly_full(self) -> bool:
        # An allocator that doubles is refused when it holds more than half.
        return self._memory.data_len(self._store) * 2 > self._loaded.limits.memory_bytes

    def _out_of_memory(self, what: str) -> GuestFault:
        held, most = self._memory.data_len(self._store), self._loaded.limits.memory_bytes
        mend = "Have it hold less, or raise memory_mb in the plugin.toml."
        message = f"The module {what}: it holds {held / 1024**2:,.0f} MiB of the {most / 1024**2:,.0f} it may."
        return GuestFault("pack.out_of_memory", message, mend)
