"""A provider of batches that answers as a test says, by the clock of the event loop: hours pass at once there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

from evalsi_batches.store import BatchFile
from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchState, ListedBatch, ProviderError

ASK = Ask([{"role": "user", "content": "?"}])
FILE = BatchFile("evalsi-1", {}, {"a": ASK, "b": ASK}, 1_000.0, is_cached=True, batch_id="b1")
DONE, GOING = BatchState(True, 2, 2, "ended"), BatchState(False, 2, 1, "in_progress")
Told = BatchState | ProviderError | str


def failure(code: str, retry_after_s: float | None = None, *, is_final: bool = False) -> ProviderError:
    """A fault of a provider; one that is final is of no use to try again."""
    return ProviderError(
        code, code, retry="no" if is_final else "later", retry_after_s=retry_after_s, is_final=is_final
    )


class Scripted:
    """A provider that answers by the clock, and notes when it was asked what."""

    max_batch_asks = 2
    batch_price_factor = 0.5

    def __init__(
        self,
        state: Callable[[float], Told] = lambda _: DONE,
        submit: Callable[[int], Told] = lambda _: "b1",
        listed: Sequence[ListedBatch] = (),
    ) -> None:
        self._state = state
        self._submit = submit
        self._listed = listed
        self.asked: list[tuple[str, float]] = []
        self.handed_in: list[Mapping[str, Ask]] = []
        self.fails = 0
        self.state_was_asked = asyncio.Event()

    def _came(self, what: str) -> float:
        now = asyncio.get_running_loop().time()
        self.asked.append((what, now))
        return now

    async def submit(self, asks: Mapping[str, Ask], tag: str = "") -> str:
        self._came("submit")
        self.handed_in.append(asks)
        told = self._submit(self.times("submit"))
        if isinstance(told, ProviderError):
            raise told
        assert isinstance(told, str)
        return told

    async def recent(self, since_s: float) -> Sequence[ListedBatch]:
        self._came("recent")
        return [one for one in self._listed if one.created_s >= since_s]

    async def state(self, batch_id: str) -> BatchState:
        told = self._state(self._came("state"))
        self.state_was_asked.set()
        if isinstance(told, ProviderError):
            raise told
        assert isinstance(told, BatchState)
        return told

    async def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        for custom_id in asks:
            self.fails -= 1
            yield custom_id, failure("provider.timeout") if self.fails >= 0 else Reply("said")

    async def cancel(self, batch_id: str) -> None:
        raise AssertionError("a batch is never cancelled")

    def times(self, what: str) -> int:
        return sum(one == what for one, _ in self.asked)
