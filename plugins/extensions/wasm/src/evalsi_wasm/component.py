"""Load and call WebAssembly components, which exchange JSON text through one function.

They serve languages that include a runtime, such as JavaScript. A component may not import anything.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from wasmtime import Engine, Store, WasmtimeError
from wasmtime.component import Component, Func, Linker

from evalsi_protocol.errors import LocalMisuse
from evalsi_protocol.frames import pack
from evalsi_wasm.answers import read_map
from evalsi_wasm.engine import Clock, make_engine, ticks
from evalsi_wasm.faults import bad_answer, unusable
from evalsi_wasm.module import AGGREGATE, DESCRIBE, MAX_ANSWER_BYTES, PLAN, REDUCE, SCORE, START_S, Limits
from evalsi_wasm.module_cache import compiled
from evalsi_wasm.stops import Bounds, fault_of, first_line

CALL = "call"
OWN = "evalsi_"
EXPORTS = frozenset({DESCRIBE, SCORE, PLAN, REDUCE, AGGREGATE})
"""Functions that a component may support; one that it lacks is only noticed when it is called."""


class ComponentGuest:
    """A live instance. Do not use it after a fatal fault."""

    def __init__(self, name: str, component: Component, linker: Linker, limits: Limits, clock: Clock) -> None:
        """Instantiate the component and look up its `call` function.

        Raises:
            GuestFault: `pack.import`; the component does not start or lacks the function.
        """
        self._limits = limits
        self._clock = clock
        self._store = Store(linker.engine)
        self._store.set_limits(memory_size=limits.memory_bytes)
        self._limit(START_S, 1)
        try:
            with clock.counting():
                instance = linker.instantiate(self._store, component)
        except WasmtimeError as error:
            fault = fault_of(error, "", self._bounds(START_S)).error
            raise unusable(name, f"does not start: {fault.message.rstrip('.')}", fault.hint) from error
        function = instance.get_func(self._store, CALL)
        if function is None or not _is_call(function, self._store):
            hint = "Build it for the world that docs/reference/wasm-abi.md gives."
            raise unusable(name, f"exports no {CALL}: func(name: string, body: string) -> string", hint)
        self._call: Func = function

    def describe(self) -> bytes:
        """Return the answer of `describe` as MessagePack."""
        return self.call(DESCRIBE, pack({}), seconds=START_S)

    def call(self, function: str, body: bytes, *, seconds: float, records: int = 1) -> bytes:
        """Call a function with a body; arguments, result and errors are those of `Guest.call`."""
        text = json.dumps(read_map(body), ensure_ascii=False)
        self._limit(seconds, records)
        try:
            with self._clock.counting():
                answer: Any = self._call(self._store, function.removeprefix(OWN), text)
        except Exception as error:
            raise fault_of(error, f" in {function.removeprefix(OWN)}", self._bounds(seconds)) from error
        return _packed(answer)

    def _limit(self, seconds: float, records: int) -> None:
        self._store.set_epoch_deadline(ticks(seconds))
        if self._limits.fuel_per_record:
            self._store.set_fuel(self._limits.fuel_per_record * records)

    def _bounds(self, seconds: float) -> Bounds:
        return Bounds(seconds, self._limits.fuel_per_record, self._limits.memory_bytes)


class Components:
    """Factory of the instances of one component."""

    exports = EXPORTS

    def __init__(self, path: Path, code: bytes, limits: Limits, cache: Path | None) -> None:
        """Compile the component or load it from the cache.

        Raises:
            GuestFault: `pack.import`; the component cannot be compiled or has imports.
        """
        engine: Engine = make_engine(fuel=limits.fuel_per_record > 0)
        try:
            self._component = compiled(Component, engine, code, cache, f"component, fuel {limits.fuel_per_record > 0}")
        except WasmtimeError as error:
            raise unusable(path.name, f"cannot be compiled: {first_line(error)}", "Build it again.") from error
        imported = sorted(self._component.type.imports(engine))
        if imported:
            hint = "Build it with those switched off, such as with disableFeatures of componentize-js or --stub-wasi."
            raise unusable(path.name, f"imports {', '.join(imported)}, and a component is given nothing", hint)
        self._name = path.name
        self._limits = limits
        self._linker = Linker(engine)
        self.clock = Clock(engine)

    def instance(self) -> ComponentGuest:
        """Return a new instance; raises the errors of `ComponentGuest`."""
        return ComponentGuest(self._name, self._component, self._linker, self._limits, self.clock)


def _is_call(function: Func, store: Store) -> bool:
    kind = function.type(store)
    words = [type(one).__name__ for _, one in kind.params] + [type(kind.result).__name__]
    return words == ["String", "String", "String"]


def _packed(answer: str) -> bytes:
    if len(answer) > MAX_ANSWER_BYTES:
        raise bad_answer(f"of {len(answer):,} characters is over the limit of {MAX_ANSWER_BYTES:,}")
    try:
        return pack(json.loads(answer, parse_constant=_refuse))
    except (ValueError, RecursionError) as error:
        raise bad_answer(f"cannot be read: it is no JSON ({error})") from error
    except LocalMisuse as misuse:
        raise bad_answer(f"cannot be read: {misuse.error.message.rstrip('.')}") from misuse


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
