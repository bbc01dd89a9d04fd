"""Settings of the wasmtime engine, and the clock that advances its epochs for deadlines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wasmtime import Config, Engine

TICK_S = 0.01
STACK_BYTES = 1024 * 1024


def make_engine(*, fuel: bool) -> Engine:
    """Return an engine with epoch interruption and deterministic results on every machine.

    Args:
        fuel: whether to count fuel, which makes guests slower.
    """
    config: Any = Config()
    config.epoch_interruption = True
    config.consume_fuel = fuel
    config.max_wasm_stack = STACK_BYTES
    # NaN bits, relaxed SIMD and threads would make results depend on the machine.
    config.cranelift_nan_canonicalization = True
    config.wasm_relaxed_simd = False
    config.wasm_threads = False
    return Engine(config)


class Clock:
    """Background thread that increments the engine's epoch while a guest runs, and sleeps otherwise."""

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
        """Advance the epoch during this block."""
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
        """Stop the thread. The epoch must not be incremented while the process exits."""
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
    """Return the number of epochs for a timeout, rounded up so that a guest never gets less time."""
    return int(seconds / TICK_S) + 2
