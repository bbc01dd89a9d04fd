"""The engine that compiles and stops guests: its settings, and the clock that its deadlines are counted in.

It must not know a guest.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wasmtime import Config, Engine

TICK_S = 0.01
STACK_BYTES = 1024 * 1024


def make_engine(*, fuel: bool) -> Engine:
    """An engine whose guests can be stopped, and give the same answer on every machine.

    Args:
        fuel: count steps too, which takes a part of the speed.
    """
    config: Any = Config()
    config.epoch_interruption = True
    config.consume_fuel = fuel
    config.max_wasm_stack = STACK_BYTES
    # Two machines may differ in the bits of a NaN, in relaxed SIMD, and in how threads meet: none of it is there.
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd = False
    config.wasm_threads = False
    return Engine(config)


class Clock:
    """Counts an engine's epochs while a guest runs, and sleeps while none does."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._running = 0
        self._changed = threading.Condition()
        self._over = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="evalsi-wasm-clock", daemon=True)
        self._thread.start()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Let time pass for guests while this lasts."""
        with self._changed:
            self._running += 1
            if self._running == 1:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1

    def close(self) -> None:
        """Stop for good. An engine must not be told of an epoch while the process ends."""
        with self._changed:
            self._over = True
            self._stop.set()
            self._changed.notify()
        self._thread.join()

    def _tick(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._running or self._over)
                if self._over:
                    return
            self._stop.wait(TICK_S)
            self._engine.increment_epoch()


def ticks(seconds: float) -> int:
    """How many epochs a time is, at least one whole one."""
    return int(seconds / TICK_S) + 2
