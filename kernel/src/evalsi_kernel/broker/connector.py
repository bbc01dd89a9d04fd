"""The seam to a provider: what a connector of an extension must do, and how it fails.

It must not know HTTP, nor any provider.
"""

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
    """What a user says of a model.

    Args:
        provider: the connector's name, such as "openai-compatible".
        model: the provider's name of the model.
        base_url: where the provider answers; None means its public address.
        api_key_env: the environment variable that holds the key; None means the provider's usual one, "none" no key.
        timeout_s: how long one call may take.
        max_connections: calls that may be in flight at once.
        kind: what it is asked for; a judge and an embedding model are named by flags, a run's target by its spec.
        options: what else is said that this connector alone knows, such as how a model of Anthropic thinks.
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
    """A call that brought no reply.

    Args:
        error: for the user; its `retry` says whether the same call may be made again, at once or later.
        retry_after_s: how long the provider asks to wait; None when it does not say.
        is_final: every other call would fail the same way (a wrong key, an unknown model), so none need be made.
        tokens: what the call took all the same.
        is_sent: the request left this machine; a call that did not is not counted.
        is_page: what answered is a web page or other text, not the provider's API.

    Attributes:
        calls: how many requests were sent until it was given up; the broker counts them.
        has_fallback: whether another model is asked next, so that its failure is no outage.
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
    """A call that is broken off from here on is one that failed: the provider may bill it all the same."""
    try:
        yield
    except asyncio.CancelledError as end:
        raise ProviderError("protocol.cancelled", "The call was broken off.", source="kernel") from end


class Connector(Protocol):
    """A model behind a provider's API. It retries nothing, caches nothing and judges no reply: the broker does.

    Attributes:
        identity: what tells this model from another (provider, model, base_url); it enters cache keys and results, so
            it holds no secret.
    """

    identity: Mapping[str, str]

    async def complete(self, ask: Ask) -> Reply:
        """Make one call; raises `ProviderError`."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Make one call for the vectors of some texts; raises `ProviderError`."""

    async def close(self) -> None:
        """Let go of connections."""


class BatchState(NamedTuple):
    """How far a batch is.

    Args:
        has_ended: its results can be read; nothing more will change.
        total: asks in it.
        done: asks that were worked on so far, those that failed among them; some providers tell it at the end only.
        word: the provider's own word for where it stands.
    """

    has_ended: bool
    total: int
    done: int
    word: str


class ListedBatch(NamedTuple):
    """A batch as its provider lists it.

    Args:
        batch_id: of the batch.
        created_s: when it was made, in seconds of Unix time.
        total: asks in it.
        tag: under which it was handed in, "" for none; None where the provider keeps no tags.
    """

    batch_id: str
    created_s: float
    total: int
    tag: str | None


@runtime_checkable
class BatchConnector(Protocol):
    """A connector whose provider also takes many asks at once, for less money and with hours to answer.

    A batch lives at the provider: whoever knows its id and what was asked can ask after it, also after a restart.

    Attributes:
        max_batch_asks: the most asks that one batch may hold.
        batch_price_factor: what a call in a batch costs, as a share of what it costs by itself.
    """

    max_batch_asks: int
    batch_price_factor: float

    async def submit(self, asks: Mapping[str, Ask], tag: str = "") -> str:
        """Hand in asks by custom ids (1 to 64 of `A-Za-z0-9_-`).

        Args:
            asks: by their custom ids.
            tag: by which the batch is found where the answer to this is lost; up to 64 characters of the same kind.

        Returns:
            The batch's id.

        Raises:
            ProviderError: it was refused, or no answer came; it may then be there all the same.
        """

    async def recent(self, since_s: float) -> Sequence[ListedBatch]:
        """The batches that were made since then, in seconds of Unix time; raises `ProviderError`."""

    async def state(self, batch_id: str) -> BatchState:
        """Ask how far a batch is; raises `ProviderError`."""

    def results(self, batch_id: str, asks: Mapping[str, Ask]) -> AsyncIterator[tuple[str, Reply | ProviderError]]:
        """What became of each ask of a batch that has ended, in any order, each exactly once.

        Args:
            batch_id: of the batch.
            asks: what was handed in. One of which the provider tells nothing comes as an error too.

        Raises:
            ProviderError: the results cannot be read at all; asks that were not told yet may be asked for again.
        """

    async def cancel(self, batch_id: str) -> None:
        """Have the provider work on no further ask; what it has done can be read when it has ended."""
