"""Interface of connectors to model providers, which extensions implement, and the errors that they raise."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Ask, Embeddings, Reply, Tokens
from evalsi_protocol.errors import ErrorSource, Retry, WireError

Kind = Literal["judge", "embed", "target"]
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class ConnectorSettings(NamedTuple):
    """Settings of a connector to one model.

    Args:
        provider: the connector's name, such as "openai-compatible".
        model: the provider's name of the model.
        base_url: URL of the API; None means the provider's public one.
        api_key_env: the environment variable that holds the key; None means the provider's usual one, "none" means no
            key.
        timeout_s: timeout of one call.
        max_connections: maximum number of concurrent calls.
        kind: what the model is used for. Judges and embedding models are configured by flags, the target of a run by
            its spec.
        options: settings of this connector only, such as extended thinking of Anthropic models.
    """

    provider: str
    model: str
    base_url: str | None = None
    api_key_env: str | None = None
    timeout_s: float = 120.0
    max_connections: int = 256
    kind: Kind = "judge"
    options: Mapping[str, Any] = NO_OPTIONS


class ProviderError(Exception):
    """A call that got no usable reply.

    Args:
        error: the error for the user; its `retry` says whether and when the same call may be retried.
        retry_after_s: how long the provider asks to wait; None where it does not say.
        is_final: whether every other call would fail the same way, such as with a wrong key or an unknown model.
        tokens: tokens used by the failed call.
        is_sent: whether the request was sent; only sent requests are counted.
        is_page: whether the response is a web page or other text instead of the provider's API.

    Attributes:
        calls: number of requests sent until the call was given up; set by the broker.
        has_fallback: whether another model is asked next, so that this failure does not count towards an outage.
        is_unserved: whether no call has succeeded since this one first failed, so that it may be an outage.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        source: ErrorSource = "provider",
        retry: Retry = "no",
        retry_after_s: float | None = None,
        is_final: bool = False,
        tokens: Tokens = UNKNOWN_TOKENS,
        is_sent: bool = True,
        is_page: bool = False,
    ) -> None:
        super().__init__(message)
        self.error = WireError(code, message, hint, source, retry)
        self.retry_after_s = retry_after_s
        self.is_final = is_final
        self.tokens = tokens
        self.is_sent = is_sent
        self.is_page = is_page
        self.calls = int(is_sent)
        self.is_unserved = False
        self.has_fallback = False


@contextmanager
def may_be_billed() -> Iterator[None]:
    """Turn a cancellation inside of the block into a failed call, because the provider may bill it."""
    try:
        yield
    except asyncio.CancelledError as end:
        raise ProviderError("protocol.cancelled", "The call was broken off.", source="kernel") from end


class Connector(Protocol):
    """A model behind a provider's API. The broker caches, retries and checks replies; a connector must not.

    Attributes:
        identity: what distinguishes the model from others (provider, model, base_url). It is part of cache keys and
            results and must not hold secrets.
    """

    identity: Mapping[str, str]

    async def complete(self, ask: Ask) -> Reply:
        """Make one call and return its reply; raise `ProviderError` on failure."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return the embedding vectors of some texts with one call; raise `ProviderError` on failure."""

    async def close(self) -> None:
        """Close all connections."""


class BatchState(NamedTuple):
    """The progress of a batch.

    Args:
        has_ended: whether the results are complete and can be read.
        total: number of requests in the batch.
        done: number of requests processed so far, including failed ones; some providers report it only at the end.
        word: the provider's name of the state.
    """

    has_ended: bool
    total: int
    done: int
    word: str


class ListedBatch(NamedTuple):
    """A batch as its provider lists it.

    Args:
        batch_id: ID of the batch.
        created_s: Unix time of its creation in seconds.
        total: number of requests in it.
        tag: the tag it was submitted with, "" for none; None where the provider has no tags.
    """

    batch_id: str
    created_s: float
    total: int
    tag: str | None


@runtime_checkable
class BatchConnector(Protocol):
    """A connector whose provider also has a batch API, which is cheaper and may take hours.

    A batch is stored by the provider: it can be polled by its ID, also after a restart.

    Attributes:
        max_batch_asks: maximum number of requests in one batch.
        batch_price_factor: price of a batched call as a share of the price of a single call.
    """

    max_batch_asks: int
    batch_price_factor: float

    async def submit(self, asks: Mapping[str, Ask], tag: str = "") -> str:
        """Submit a batch of requests by their custom IDs (1 to 64 characters of `A-Za-z0-9_-`).

        Args:
            asks: requests by their custom IDs.
            tag: identifies the batch in `recent` if the response is lost; up to 64 characters of the same set.

        Returns:
            The ID of the batch.

        Raises:
            ProviderError: the batch was rejected, or there was no response; the batch may then exist nevertheless.
        """

    async def recent(self, since_s: float) -> Sequence[ListedBatch]:
        """List the batches created since a Unix time in seconds; raise `ProviderError` on failure."""

    async def state(self, batch_id: str) -> BatchState:
        """Return the progress of a batch; raise `ProviderError` on failure."""

    def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """Yield the result of each request of an ended batch exactly once, in any order.

        Args:
            batch_id: ID of the batch.
            asks: the submitted requests. One that the provider does not report yields an error.

        Raises:
            ProviderError: the results cannot be read; requests without a result may be submitted again.
        """

    async def cancel(self, batch_id: str) -> None:
        """Cancel the requests that are not processed yet; results so far can be read once the batch has ended."""
