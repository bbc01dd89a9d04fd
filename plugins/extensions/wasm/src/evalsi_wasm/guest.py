"""An instance of a core module, called with limits on time, memory and fuel.

An instance may be used by one thread at a time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from wasmtime import Func, Memory, Store

from evalsi_wasm.engine import ticks
from evalsi_wasm.faults import GuestFault, bad_answer, unusable
from evalsi_wasm.module import ABI, ALLOC, DESCRIBE, INITIALIZE, MAX_ANSWER_BYTES, MEMORY, START_S, Loaded
from evalsi_wasm.stops import Bounds, fault_of, out_of_memory

VERSION = 1
"""Version of the ABI that this host implements."""


class Guest:
    """A live instance. Do not use it after a fatal fault."""

    def __init__(self, loaded: Loaded) -> None:
        """Instantiate and initialize the module.

        Raises:
            GuestFault: `pack.import`; the module does not start or implements another version of the ABI.
        """
        self._loaded = loaded
        self._store = Store(loaded.engine)
        self._store.set_limits(
            memory_size=loaded.limits.memory_bytes, instances=1, memories=1, table_elements=1_000_000
        )
        try:
            with self._bounded(START_S, 1):
                exports = loaded.linker.instantiate(self._store, loaded.module).exports(self._store)
        except Exception as error:
            fault = self._fault(error, START_S, None).error
            raise unusable(loaded.name, f"does not start: {fault.message.rstrip('.')}", fault.hint) from error
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
        """Return the answer of `evalsi_describe`."""
        with self._bounded(START_S, 1):
            return self._taken(self._called(DESCRIBE, START_S))

    def call(self, function: str, body: bytes, *, seconds: float, records: int = 1) -> bytes:
        """Call a function of the module with a body and return the bytes of its answer.

        Args:
            function: name of an export that takes a body.
            body: MessagePack.
            seconds: timeout.
            records: number of records in the body; multiplies the fuel limit.

        Raises:
            GuestFault: the call trapped, hit a limit, or gave an invalid answer.
        """
        with self._bounded(seconds, records):
            place = self._called(ALLOC, seconds, len(body)) & 0xFFFFFFFF
            if not place:
                raise out_of_memory(f"has no room for {len(body):,} bytes", self._bounds(seconds))
            if place + len(body) > self._memory.data_len(self._store):
                raise bad_answer(f"to {ALLOC} lies outside of its memory")
            self._memory.write(self._store, body, place)
            return self._taken(self._called(function, seconds, place, len(body)))

    def _prepare(self) -> None:
        name = self._loaded.name
        try:
            with self._bounded(START_S, 1):
                if INITIALIZE in self._functions:
                    self._called(INITIALIZE, START_S)
                spoken = self._called(ABI, START_S)
        except GuestFault as fault:
            raise unusable(name, f"does not start: {fault.error.message.rstrip('.')}", fault.error.hint) from fault
        if spoken != VERSION:
            hint = "Upgrade evalsi-wasm." if spoken > VERSION else f"Build the module for version {VERSION}."
            raise unusable(name, f"speaks version {spoken} of the ABI, and this host version {VERSION}", hint)

    def _bounded(self, seconds: float, records: int) -> AbstractContextManager[None]:
        """Set the deadline and the fuel for the calls in this block, and keep the clock running."""
        self._store.set_epoch_deadline(ticks(seconds))
        if self._loaded.limits.fuel_per_record:
            self._store.set_fuel(self._loaded.limits.fuel_per_record * records)
        return self._loaded.clock.counting()

    def _called(self, name: str, seconds: float, *values: int) -> int:
        try:
            result: Any = self._functions[name](self._store, *values)
        # Includes errors in host callbacks: they come from invalid addresses that the guest passed.
        except Exception as error:
            raise self._fault(error, seconds, name) from error
        return int(result) if result is not None else 0

    def _taken(self, packed: int) -> bytes:
        """Read an answer: its address is in the upper 32 bits, its length in the lower 32."""
        place, length = (packed >> 32) & 0xFFFFFFFF, packed & 0xFFFFFFFF
        if not length:
            raise bad_answer("is empty")
        if length > MAX_ANSWER_BYTES:
            raise bad_answer(f"of {length:,} bytes is over the limit of {MAX_ANSWER_BYTES:,}")
        if place + length > self._memory.data_len(self._store):
            raise bad_answer(f"of {length:,} bytes at {place:,} lies outside of its memory")
        return bytes(self._memory.read(self._store, place, place + length))

    def _fault(self, error: Exception, seconds: float, function: str | None) -> GuestFault:
        # An instance that did not start has no memory to measure.
        return fault_of(
            error, f" in {function}" if function else "", self._bounds(seconds, is_live=function is not None)
        )

    def _bounds(self, seconds: float, *, is_live: bool = True) -> Bounds:
        limits = self._loaded.limits
        held = self._memory.data_len(self._store) if is_live else 0
        return Bounds(seconds, limits.fuel_per_record, limits.memory_bytes, held)


class Modules:
    """Factory of the instances of one core module."""

    def __init__(self, loaded: Loaded) -> None:
        self.exports = loaded.exports
        self.clock = loaded.clock
        self._loaded = loaded

    def instance(self) -> Guest:
        """Return a new instance; raises the errors of `Guest`."""
        return Guest(self._loaded)
