"""The target asked about items: at its pace, within the budget, tried again, and each answer written down at once.

It must not know what an answer is worth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.caller import Caller, CallFailed
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.records.intake import MAX_RECORD_BYTES
from evalsi_kernel.runs.answers import answered, failed
from evalsi_kernel.runs.items import Items
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.target import Bounds, Generated, Target, TargetInput
from evalsi_protocol.errors import WireError


class _Timed(NamedTuple):
    """An answer, and how long the call took that brought it."""

    made: Generated
    latency_ms: float

    @property
    def tokens(self) -> Tokens:
        return self.made.tokens


class Halt:
    """Why no further call to the target is made, once there is a reason; what is in flight is still waited for.

    Attributes:
        error: an error that ends the run; None where it ends for another reason.
        reason: a sentence; "" as long as calls are made.
        on_halt: is called once there is a reason.
    """

    def __init__(self) -> None:
        self.error: WireError | None = None
        self.reason = ""
        self.on_halt: Callable[[], None] = lambda: None

    def __bool__(self) -> bool:
        return bool(self.reason)

    def by(self, reason: str, error: WireError | None = None) -> None:
        """Make no more calls; the first reason stands."""
        if not self.reason:
            self.reason, self.error = reason, error
            self.on_halt()


class Generation:
    """Asks the target about the items that it has not answered yet.

    Args:
        target: what is asked.
        caller: makes its calls within pace and budget.
        items: of the run.
        progress: where answers are written down.
        is_bounded: whether the budget has a limit, so that the most that a call can take must be known.
        halt: stops it.
        is_in_vain: tells whether an answer would not be judged any more, so that none is paid for.
        on_answer: gets each answer once it is written down, and is waited for.
    """

    def __init__(
        self,
        target: Target,
        caller: Caller,
        items: Items,
        progress: Progress,
        *,
        is_bounded: bool,
        halt: Halt,
        is_in_vain: Callable[[], bool],
        on_answer: Callable[[int, dict[str, Any]], Awaitable[None]],
    ) -> None:
        self._target = target
        self._caller = caller
        self._items = items
        self._progress = progress
        self._is_bounded = is_bounded
        self._halt = halt
        self._is_in_vain = is_in_vain
        self._on_answer = on_answer
        self._waiting: set[asyncio.Task[Any]] = set()

    async def run(self, items: Iterator[int], at_once: int) -> None:
        """Ask about these items, so many at once, until there are none left or a reason to halt."""
        self._halt.on_halt = self._wait_no_longer
        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(self._ask_in_turn(items))

    def _wait_no_longer(self) -> None:
        """End what waits for room in the budget, for its turn or for another try: it would make a call."""
        for task in self._waiting:
            task.cancel()

    async def _ask_in_turn(self, items: Iterator[int]) -> None:
        while not self._halt and not self._is_in_vain():
            item = next(items, None)
            if item is None:
                return
            answer = await self._answer(item)
            if answer is None:
                return
            self._progress.add_generated(item, answer)
            await self._on_answer(item, answer)

    async def _answer(self, item: int) -> dict[str, Any] | None:
        """What the target answers, or how it fails; None where the item is left for another time."""
        given = self._items.asked(item)
        bounds = self._target.bounds(given) if self._is_bounded else Bounds()
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            timed, spent = await self._caller.call(
                lambda: self._timed(given, task),
                bounds.input_tokens or 0,
                bounds.output_tokens or 0,
                lambda timed: timed.made.fallback,
            )
        except CallFailed as failure:
            if failure.error.code == "run.budget" or self._caller.broken is not None:
                self._halt.by(failure.error.message, failure.error)
                return None
            return failed(failure.error, failure.spent)
        finally:
            self._waiting.discard(task)
        room_bytes = MAX_RECORD_BYTES - self._items.size_bytes(item)
        return answered(timed.made, spent, timed.latency_ms, room_bytes)

    async def _timed(self, given: TargetInput, task: asyncio.Task[Any]) -> _Timed:
        loop = asyncio.get_running_loop()
        self._waiting.discard(task)
        started = loop.time()
        try:
            made = await self._target.generate(given)
        except ProviderError:
            if self._halt:
                task.cancel()  # Another try would be another call.
            self._waiting.add(task)
            raise
        return _Timed(made, (loop.time() - started - made.waited_s) * 1000)
