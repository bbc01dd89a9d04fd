"""The batches of a connector, as the broker asks for them: handed through to whoever speaks the provider's API.

It must not know which API that is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchState, ListedBatch, ProviderError

from .batch_rows import PRICE_FACTOR


class Batches(Protocol):
    """The batches of one model; each method raises `ProviderError`."""

    async def submit(self, asks: Mapping[str, Ask], tag: str) -> str: ...

    async def recent(self, since_s: float) -> list[ListedBatch]: ...

    async def state(self, batch_id: str) -> BatchState: ...

    def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]: ...

    async def cancel(self, batch_id: str) -> None: ...


class BatchDoor:
    """What makes a connector a `BatchConnector`.

    Attributes:
        max_batch_asks: so many asks may be in one batch.
        batch_price_factor: what an ask in a batch costs, as a share of its price.
    """

    max_batch_asks: int
    batch_price_factor = PRICE_FACTOR
    _batches: Batches

    async def submit(self, asks: Mapping[str, Ask], tag: str = "") -> str:
        """Start a batch, with a tag where the API keeps one; returns its id, raises `ProviderError`."""
        return await self._batches.submit(asks, tag)

    async def recent(self, since_s: float) -> list[ListedBatch]:
        """The batches that were made since then; raises `ProviderError`."""
        return await self._batches.recent(since_s)

    async def state(self, batch_id: str) -> BatchState:
        """How far a batch is; raises `ProviderError`."""
        return await self._batches.state(batch_id)

    def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """What became of each ask of a batch that has ended; raises `ProviderError`."""
        return self._batches.results(batch_id, asks)

    async def cancel(self, batch_id: str) -> None:
        """Have no further ask of a batch worked on; raises `ProviderError`."""
        await self._batches.cancel(batch_id)
