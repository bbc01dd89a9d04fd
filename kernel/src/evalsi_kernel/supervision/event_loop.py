"""Run a coroutine from synchronous code: in a script, in a notebook with a running loop, and with Ctrl-C."""

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
    """Run to the end and return the result; uses a thread where this one has a running loop.

    Raises:
        KeyboardInterrupt: Ctrl-C cancelled the coroutine.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(start)
    thread = _LoopThread(start)
    with _ctrl_c_calls(thread.interrupt):
        thread.start()
        while thread.is_alive():
            # With a timeout: a signal that arrives just as a lock begins to wait is handled only once the wait ends.
            thread.join(LISTEN_S)
    return thread.result()


def _run(start: Callable[[], Coroutine[Any, Any, _Result]]) -> _Result:
    try:
        return asyncio.run(start())
    except asyncio.CancelledError:
        # Only Ctrl-C cancels this task.
        raise KeyboardInterrupt from None


class _LoopThread(threading.Thread, Generic[_Result]):
    """Runs a loop for a thread that already has a running one, and that forwards Ctrl-C to it."""

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
        if self._is_interrupted:  # Interrupted before the loop existed.
            task.cancel()
        return await self._start_it()

    def interrupt(self) -> None:
        """Handle Ctrl-C in the loop; callable from any thread."""
        self._is_interrupted = True
        if self._loop is not None:
            with suppress(RuntimeError):  # The loop is closed.
                self._loop.call_soon_threadsafe(self.on_interrupt)

    def result(self) -> _Result:
        """Return the result, once the thread has ended."""
        if self._failures:
            raise self._failures[0]
        return self._results[0]


@contextmanager
def _ctrl_c_calls(act: Callable[[], None]) -> Iterator[None]:
    """Call `act` on Ctrl-C inside of the block; signals only reach the main thread."""
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
    """Inside of the block, Ctrl-C sets `stop` and calls `on_stop`; a second Ctrl-C cancels the running task.

    SIGTERM, with which schedulers and CI systems end a job, does the same unless the program handles it.
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
    """Run the work until it is done or `stop` is set; return whether it is done."""
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
