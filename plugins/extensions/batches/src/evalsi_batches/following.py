"""What is done with a batch at its provider: handed in once, asked after at a growing interval, its results read.

It must not know a file of this machine, nor what a reply is worth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from evalsi_kernel.broker.connector import BatchConnector, BatchState, ProviderError
from evalsi_kernel.broker.retries import THROTTLED

from .batch import Batch
from .store import BatchFile

GONE = frozenset({"provider.not_found", "provider.unsupported"})
"""What a provider says of a batch, or of all batches, that it does not have."""
TRIES = 7
GROWTH = 1.3
SKEW_S = 300.0
"""How much the provider's clock may be behind ours."""


class BatchTimes(NamedTuple):
    """How long things take that are about batches, in seconds.

    Args:
        quiet_s: questions are handed in once no other came for so long.
        poll_s: until a batch is asked after for the first time; each wait is then longer than the one before.
        longest_poll_s: the longest wait between two times.
        retry_s: the first wait before a batch is handed in again, which doubles.
        gone_s: for how long a provider may say that it does not have a batch until that is believed.
        patience_s: for how long asking after a batch may fail otherwise.
        goodbye_s: how long the end of a run waits for a batch that is being handed in.
    """

    quiet_s: float = 1.0
    poll_s: float = 5.0
    longest_poll_s: float = 60.0
    retry_s: float = 2.0
    gone_s: float = 600.0
    patience_s: float = 3600.0
    goodbye_s: float = 0.5


class BatchFollower:
    """Follows the batches of one model.

    Args:
        connector: of the model.
        times: how long to wait.
        on_note: gets a sentence on how far a batch is.
        known: gives the ids of all batches that are noted.
    """

    def __init__(
        self,
        connector: BatchConnector,
        times: BatchTimes,
        on_note: Callable[[str], None],
        known: Callable[[], Awaitable[set[str]]],
    ) -> None:
        self._connector = connector
        self._times = times
        self._on_note = on_note
        self._known = known

    async def hand_in(self, file: BatchFile, *, may_be_there: bool) -> str:
        """Hand a batch in and return its id; where an answer is lost, look whether it was made before trying again.

        Args:
            file: the batch.
            may_be_there: it may have been handed in before.

        Raises:
            ProviderError: it was refused, or failed several times.
        """
        failures = 0
        while True:
            try:
                if may_be_there and (found := await self._listed(file)) is not None:
                    return found
                return await self._connector.submit(file.asks, file.name)
            except ProviderError as error:
                failures += 1
                if is_refusal(error) or failures >= TRIES:
                    raise
                may_be_there = may_be_there or error.error.code != THROTTLED
                wait_s = min(self._times.retry_s * 2.0 ** (failures - 1), self._times.longest_poll_s)
                await asyncio.sleep(max(wait_s, error.retry_after_s or 0.0))

    async def follow(self, batch: Batch) -> None:
        """Wait until a batch has ended, and take in what became of its asks.

        Raises:
            ProviderError: the provider does not have it any more, or it cannot be asked after.
        """
        batch_id = batch.file.batch_id
        assert batch_id is not None
        times, patience, told = self._times, _Patience(self._times), ""
        wait_s = 0.0 if batch.is_found else times.poll_s
        while True:
            await asyncio.sleep(wait_s)
            wait_s = min(max(times.poll_s, wait_s * GROWTH), times.longest_poll_s)
            try:
                state = await self._connector.state(batch_id)
                told = self._told(batch, state, told)
                if state.has_ended:
                    async for custom_id, end in self._connector.results(batch_id, batch.untold):
                        batch.take(custom_id, end)
                    return
            except ProviderError as error:
                patience.bear(error)
                wait_s = max(wait_s, error.retry_after_s or 0.0)
            else:
                patience.renew()

    def _told(self, batch: Batch, state: BatchState, before: str) -> str:
        """Say how far a batch is, unless that was said; returns what was said last."""
        note = f"batch {batch.file.batch_id}: {state.done:,} of {len(batch.file.asks):,} done"
        if note != before:
            self._on_note(note)
        return note

    async def _listed(self, file: BatchFile) -> str | None:
        """The id of a batch by its tag; where the provider keeps none, by when it was made and how many asks it has."""
        try:
            listed = await self._connector.recent(file.created_s - SKEW_S)
        except ProviderError as error:
            if error.error.code in GONE:
                return None
            raise
        known = await self._known()
        for one in sorted(listed, key=lambda one: one.created_s):
            is_alike = one.tag is None and one.total == len(file.asks) and one.batch_id not in known
            if one.tag == file.name or is_alike:
                return one.batch_id
        return None


class _Patience:
    """How long asking after a batch may fail."""

    def __init__(self, times: BatchTimes) -> None:
        self._times = times
        self._since_s: dict[bool, float] = {}

    def bear(self, error: ProviderError) -> None:
        """Take in a failure; raises it where it is of no use to wait on."""
        is_gone = error.error.code in GONE
        if is_refusal(error) and not is_gone:
            raise error
        now = asyncio.get_running_loop().time()
        since_s = self._since_s.setdefault(is_gone, now)
        if now - since_s >= (self._times.gone_s if is_gone else self._times.patience_s):
            raise error

    def renew(self) -> None:
        """Take in that all is well."""
        self._since_s.clear()


def is_refusal(error: ProviderError) -> bool:
    """Whether the provider did not do what was asked for, and will not."""
    return error.is_final or error.error.retry == "no"
