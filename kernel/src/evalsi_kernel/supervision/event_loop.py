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
from types import FrameType
from typing import Any, Generic, TypeVar

LISTEN_S = 0.2

_Result = TypeVar("_Result")


def run_in_loop(start: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    """Run to the end and return the result; a thread of its own is used where this one has a running loop.

    Raises:
        KeyboardInterrupt: Ctrl-C ended it.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(start)
    thread = _LoopThread(start)
    with _ctrl_c_calls(thread.interrupt):
        thread.start()
        while thread.is_alive():
            # Not for ever: a signal that comes just as a lock begins to wait is acted on only once it ends waiting.
            thread.join(LISTEN_S)
    return thread.result()


def _run(start: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    try:
        return asyncio.run(start())
    except asyncio.CancelledError:
        # Nobody but Ctrl-C cancels what is run here.
        raise KeyboardInterrupt from None


class _LoopThread(threading.Thread, Generic[_Result]):
    """Runs a loop for a thread whose own loop runs already, and which passes on the Ctrl-C that only it hears of."""

    def __init__(self, start: Callable[[], Coroutine[Any, Any, _Result]]) -> None:
        super().__init__(name="evalsi-evaluate")
        self._start_it = start
        self._results: list[_Result] = []
        self._failures: list[BaseException] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_interrupted = False
        self.on_interrupt: Callable[[], object] = lambda: None

    def run(self) -> None:
        try:
            self._results.append(_run(self._run_here))
        except BaseException as error:  # noqa: BLE001 -- raised again in the caller's thread.
            self._failures.append(error)

    async def _run_here(self) -> _Result:
        task = asyncio.current_task()
        assert task is not None
        self.on_interrupt = task.cancel
        self._loop = asyncio.get_running_loop()
        if self._is_interrupted:  # Before there was a loop to tell of it.
            task.cancel()
        return await self._start_it()

    def interrupt(self) -> None:
        """Act on Ctrl-C in the loop; may be called from any thread."""
        self._is_interrupted = True
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed: it is over anyway.
                self._loop.call_soon_threadsafe(self.on_interrupt)

    def result(self) -> _Result:
        """What came out, once the thread is over."""
        if self._failures:
            raise self._failures[0]
        return self._results[0]


@contextmanager
def _ctrl_c_calls(act: Callable[[], None]) -> Iterator[None]:
    """While it holds, Ctrl-C calls `act`; only the main thread ever hears of it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupted(_signal: int, _frame: FrameType | None) -> None:
        act()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def stopped_by_interrupt(stop: asyncio.Event, on_stop: Callable[[], None]) -> Iterator[None]:
    """While it holds, Ctrl-C sets `stop` and calls `on_stop`; a second one cancels the running task.

    So does SIGTERM, by which schedulers and CI systems end what takes too long, unless the program has a use of its own
    for it.
    """
    loop, task, thread = asyncio.get_running_loop(), asyncio.current_task(), threading.current_thread()

    def interrupted() -> None:
        if stop.is_set():
            if task is not None:
                task.cancel()
            return
        stop.set()
        on_stop()

    if isinstance(thread, _LoopThread):
        before, thread.on_interrupt = thread.on_interrupt, interrupted
        try:
            yield
        finally:
            thread.on_interrupt = before
    elif thread is threading.main_thread() and sys.platform != "win32":
        ours = [signal.SIGINT]
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            ours.append(signal.SIGTERM)
        for number in ours:
            loop.add_signal_handler(number, interrupted)
        try:
            yield
        finally:
            for number in ours:
                loop.remove_signal_handler(number)
    else:
        yield


async def finished(work: Coroutine[Any, Any, None], stop: asyncio.Event) -> bool:
    """Do the work unless `stop` is set before it is done; returns whether it is."""
    working, stopping = asyncio.create_task(work), asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({working, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        await working
        return True
    finally:
        for task in (working, stopping):
            task.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)
