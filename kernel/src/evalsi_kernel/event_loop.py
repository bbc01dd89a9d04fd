"""Runs a coroutine to its end from plain code: in a script, in a notebook whose loop runs already, under Ctrl-C.

It must not know what is run.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

_Result = TypeVar("_Result")


def run_in_loop(start: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run to the end and return the result; a thread of its own is used where this one has a running loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    results: list[_Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(start()))
        except BaseException as error:  # noqa: BLE001 -- raised again in the caller's thread.
            failures.append(error)

    thread = threading.Thread(target=run, name="evalsi-evaluate")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]


@contextmanager
def stopped_by_interrupt(stop: asyncio.Event, on_stop: Callable[[], None]) -> Iterator[None]:
    """While it holds, Ctrl-C sets `stop` and calls `on_stop`; a second one cancels the running task."""
    if threading.current_thread() is not threading.main_thread() or sys.platform == "win32":
        yield
        return
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def interrupted() -> None:
        if stop.is_set():
            if task is not None:
                task.cancel()
            return
        stop.set()
        on_stop()

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        with suppress(RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)
