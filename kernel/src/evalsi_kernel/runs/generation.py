"""The target asked about items: at its pace, within the budget, tried again, and each answer written down at once.

It must not know what an answer is worth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

from evalsi_kernel.broker.ask import Tokens
from evalsi_kernel.broker.caller import Caller, CallFailed, Spent
from evalsi_kernel.runs.items import answered, failed
from evalsi_kernel.runs.progress import Progress
from evalsi_kernel.runs.record_store import RecordStore
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
    """

    def __init__(self) -> None:
        self.error: WireError | None = None
        self.reason = ""

    def __bool__(self) -> bool:
        return bool(self.reason)

    def by(self, reason: str, error: WireError | None = None) -> None:
        """Make no more calls; the first reason stands."""
        if not self.reason:
            self.reason, self.error = reason, error


class Generation:
    """Asks the target about the items that it has not answered yet.

    Args:
        target: what is asked.
        caller: makes its calls within pace and budget.
        records: of the run.
        trials: of each record.
        progress: where answers are written down.
        halt: stops it.
        on_answer: gets each answer once it is written down, and is waited for.
    """

    def __init__(
        self,
        target: Target,
        caller: Caller,
        *,
        records: RecordStore,
        trials: int,
        progress: Progress,
        halt: Halt,
        on_answer: Callable[[int, dict[str, Any]], Awaitable[None]],
    ) -> None:
        self._target = target
        self._caller = caller
        self._records = records
        self._trials = trials
        self._progress = progress
        self._halt = halt
        self._on_answer = on_answer

    async def run(self, items: Iterator[int], at_once: int) -> None:
        """Ask about these items, so many at once, until there are none left or a reason to halt."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(self._ask_in_turn(items))

    async def _ask_in_turn(self, items: Iterator[int]) -> None:
        for item in items:
            if self._halt:
                return
            answer = await self._answer(item)
            if answer is None:
                return
            self._progress.add_generated(item, answer)
            await self._on_answer(item, answer)

    async def _answer(self, item: int) -> dict[str, Any] | None:
        """What the target answers, or how it fails; None where the item is left for another time."""
        number, trial = divmod(item, self._trials)
        given = TargetInput(self._records[number], trial + 1)
        bounds = self._target.bounds(given)
        try:
            timed, spent = await self._caller.call(
                lambda: self._timed(given), bounds.input_tokens or 0, bounds.output_tokens or 0
            )
        except CallFailed as failure:
            if failure.error.code == "run.budget":
                self._halt.by(failure.error.message, failure.error)
                return None
            if self._caller.broken is not None:
                self._halt.by(failure.error.message, failure.error)
                return None
            return failed(failure.error, failure.spent.calls, failure.spent.cost_usd)
        cost_usd = timed.made.cost_usd if timed.made.cost_usd is not None else spent.cost_usd
        return answered(timed.made, cost_usd, timed.latency_ms, spent.calls)

    async def _timed(self, given: TargetInput) -> _Timed:
        loop = asyncio.get_running_loop()
        started = loop.time()
        made = await self._target.generate(given)
        return _Timed(made, (loop.time() - started) * 1000)


def bounds_of(target: Target, records: RecordStore) -> Bounds:
    """What the target can say of its first call."""
    return target.bounds(TargetInput(records[0], 1))


class Usage(NamedTuple):
    """What the target took so far, over all attempts; None is unknown."""

    calls: int = 0
    failed: int = 0
    input_tokens: int | None = 0
    output_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def plus(self, answer: dict[str, Any]) -> Usage:
        """With another answer."""
        usage = answer.get("usage", {})
        calls = answer.get("calls", 0)
        counts = (usage.get("input_tokens"), usage.get("output_tokens"), usage.get("cost_usd"))
        if not calls:
            counts = (0, 0, 0.0)
        added = [None if old is None or new is None else old + new for old, new in zip(self[2:], counts, strict=True)]
        return Usage(self.calls + calls, self.failed + ("error" in answer), *added)

    def spent(self) -> Spent:
        """As the budget counts."""
        return Spent(Tokens(self.input_tokens, self.output_tokens), self.cost_usd, self.calls)
