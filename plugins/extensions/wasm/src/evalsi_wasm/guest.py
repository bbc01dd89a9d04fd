"""One instance of a module: bodies into its memory, answers out of it, within a time, a memory and a number of steps.

It belongs to one thread at a time. It must not know what a body says.
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
"""The version of the ABI that this host speaks."""


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
        """What the module says of itself."""
        with self._bounded(START_S, 1):
            return self._taken(self._called(DESCRIBE, START_S))

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
        """What is called within may take so long, and the steps of so many records."""
        self._store.set_epoch_deadline(ticks(seconds))
        if self._loaded.limits.fuel_per_record:
            self._store.set_fuel(self._loaded.limits.fuel_per_record * records)
        return self._loaded.clock.counting()

    def _called(self, name: str, seconds: float, *values: int) -> int:
        try:
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
        # An instance that did not start has no memory to look at.
        return fault_of(
            error, f" in {function}" if function else "", self._bounds(seconds, is_live=function is not None)
        )

    def _bounds(self, seconds: float, *, is_live: bool = True) -> Bounds:
        limits = self._loaded.limits
        held = self._memory.data_len(self._store) if is_live else 0
        return Bounds(seconds, limits.fuel_per_record, limits.memory_bytes, held)


class Modules:
    """Makes instances of one core module."""

    def __init__(self, loaded: Loaded) -> None:
        self.exports = loaded.exports
        self.clock = loaded.clock
        self._loaded = loaded

    def instance(self) -> Guest:
        """A fresh instance; raises as `Guest` does."""
        return Guest(self._loaded)
