"""The target asked about items: at its pace, within the budget, tried again, and each answer written down at once.

It must not know what an answer is worth.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.broker.model_client import NOTHING, CallFailed, ModelClient, Spent
from evalsi_kernel.broker.retries import UNREACHABLE
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
        served: an item that the target answered in an earlier attempt; None where there is none.
        is_in_vain: tells whether an answer would not be judged any more, so that none is paid for.
        on_answer: gets each answer once it is written down, and is waited for.
    """

    def __init__(
        self,
        target: Target,
        caller: ModelClient,
        items: Items,
        progress: Progress,
        *,
        is_bounded: bool,
        halt: Halt,
        served: int | None,
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
        self._unserved: deque[int] = deque()
        self._served = served
        if served is not None:
            caller.has_served()
        self._given_back: dict[int, tuple[int, Spent]] = {}
        self._asking = 0
        self._may_check = True
        self._left: Iterator[int] = iter(())
        self._ahead: int | None = None
        self._changed: asyncio.Future[None] | None = None

    async def run(self, items: Iterator[int], at_once: int) -> None:
        """Ask about these items, so many at once, until there are none left or a reason to halt."""
        self._halt.on_halt = self._wait_no_longer
        self._left = items
        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(self._ask_in_turn(items))

    def _wait_no_longer(self) -> None:
        """End what waits for room in the budget, for its turn or for another try: it would make a call."""
        self._wake()
        for task in self._waiting:
            task.cancel()

    async def _ask_in_turn(self, items: Iterator[int]) -> None:
        while not self._halt and not self._is_in_vain():
            item = await self._next(items)
            if item is None:
                return
            self._asking += 1
            try:
                answer = await self._answer(item)
            finally:
                self._asking -= 1
                self._wake()
            if answer is None:
                continue
            if "error" not in answer:
                self._served = item
            self._progress.add_generated(item, answer)
            await self._on_answer(item, answer)

    async def _next(self, items: Iterator[int]) -> int | None:
        """The next item to ask about: one that was not asked yet, or one that was given back in an outage."""
        while not self._halt:
            item = self._ahead if self._ahead is not None else next(items, None)
            self._ahead = None
            if item is not None:
                return item
            if self._unserved:
                return self._unserved.popleft()
            if not self._asking:
                return None
            self._changed = self._changed or asyncio.get_running_loop().create_future()
            await asyncio.shield(self._changed)  # What is in flight may be given back.
        return None

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set_result(None)
            self._changed = None

    async def _give_back(self, item: int, failure: CallFailed) -> dict[str, Any] | None:
        """Leave an item open that failed while no other was served; its failure where that is its own.

        Which it is another item tells: one that is open, or else one that was answered before and is asked once more.
        """
        successes, spent = self._given_back.get(item, (None, NOTHING))
        spent = spent.plus(failure.spent)
        if self._ahead is None:
            self._ahead = next(self._left, None)
        is_last = self._ahead is None and not self._unserved and self._asking == 1
        is_own = successes is not None and successes < self._caller.successes
        if is_own or (is_last and not self._caller.is_paused):
            is_page = failure.is_page and self._caller.may_be_misplaced
            if not is_own and (failure.error.code == UNREACHABLE or is_page):
                self._caller.give_up(failure.error)
                self._halt.by(failure.error.message, failure.error)
                return None
            self._given_back.pop(item, None)
            return failed(failure.error, spent)
        self._given_back[item] = (self._caller.successes, spent)
        self._unserved.append(item)
        if not self._caller.is_paused:
            self._may_check = True
        elif self._may_check and self._served is not None and self._ahead is None:
            self._may_check = False
            await self._check(self._served)
        return None

    async def _check(self, item: int) -> None:
        """Ask once more about an item that was answered: an answer says that the target serves, and is not kept."""
        given = self._items.asked(item)
        bounds = self._target.bounds(given) if self._is_bounded else Bounds()
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            timed, spent = await self._caller.call(
                lambda: self._timed(given, task), bounds.input_tokens or 0, bounds.output_tokens or 0
            )
        except CallFailed as failure:
            if self._caller.broken is not None:
                self._halt.by(failure.error.message, failure.error)
            spent = failure.spent
            if spent.calls:
                self._progress.note(note="check", answer=failed(failure.error, spent))
        else:
            answer = answered(timed.made, spent, timed.latency_ms, MAX_RECORD_BYTES)
            self._progress.note(note="check", answer={key: answer[key] for key in ("calls", "usage") if key in answer})
        finally:
            self._waiting.discard(task)

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
            if failure.is_unserved:
                return await self._give_back(item, failure)
            _, before = self._given_back.pop(item, (0, NOTHING))
            return failed(failure.error, before.plus(failure.spent))
        finally:
            self._waiting.discard(task)
        _, before = self._given_back.pop(item, (0, NOTHING))
        spent = spent.plus(before) if before.calls else spent
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
