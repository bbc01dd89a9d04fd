"""The connector `openai-compatible`: chat completions and embeddings of any server that speaks OpenAI's API.

It makes the call that it is asked for; only where a server does not know the best way to put it, a second or third one
in another way. It retries nothing, caches nothing and judges no reply.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from evalsi_kernel.broker.ask import Ask, Embeddings, Reply
from evalsi_kernel.broker.connector import ConnectorSettings, ProviderError
from evalsi_kernel.broker.reply_body import MAX_REPLY_BYTES

from .address import Address
from .batch_door import BatchDoor
from .chat_reply import read_chat_reply, reply_of, without_error
from .chat_request import STREAM_OPTIONS, chat_request, encoded, streamed
from .chat_stream import chat_of_stream
from .dialect import NEW_NAME, OLD_NAME, Dialect, Way
from .embedding import embedding_request, read_embeddings
from .openai_batches import MAX_ASKS, SETTINGS, OpenAIBatches
from .refusal import Refusal, read_refusal
from .server_events import is_streamed
from .status import status_error
from .transport import Answer, ApiClient
from .unsupported import refused_setting
from .who import Home

HOME: Final = Home("openai-compatible", "https://api.openai.com/v1", "api.openai.com", "OPENAI_API_KEY")

MAX_VECTOR_BYTES: Final = 2**18


def first_dialect(address: Address) -> Dialect:
    """What is known of a server before it has said anything."""
    return Dialect(NEW_NAME if address.is_home else OLD_NAME)


class OpenAICompatible(BatchDoor):
    """A model of a server that speaks OpenAI's API.

    Args:
        settings: of the model.

    Raises:
        ConfigError: `config.no_key`, a key is missing; or the base URL is none.
    """

    max_batch_asks = MAX_ASKS

    def __init__(self, settings: ConnectorSettings) -> None:
        self._who = HOME.who(settings)
        self.identity = self._who.identity
        self._model = settings.model
        self._streams = bool(settings.options.get("stream"))
        self._tells_usage = True
        self._dialect = first_dialect(self._who.address)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._who.key is not None:
            headers["Authorization"] = f"Bearer {self._who.key.secret()}"
        self._api = ApiClient(settings, headers, self._who)
        self._batches = OpenAIBatches(self._api, self._who, self._dialect)

    async def complete(self, ask: Ask) -> Reply:
        """Make one call; raises `ProviderError`."""
        async with self._dialect.turn(ask.schema):
            way = self._dialect.way(ask.schema)
            tried = {way}
            while True:
                tells_usage = self._tells_usage
                answer = await self._send(ask, way, tells_usage=tells_usage)
                if answer.is_success:
                    reply = self._read(answer, way)
                    self._dialect.works(ask.schema)
                    return reply
                refusal = read_refusal(answer.content) if answer.status in (400, 422) else Refusal("")
                if self._streams and tells_usage and refusal.is_unsupported and refusal.names(STREAM_OPTIONS):
                    # An older server streams, and does not tell what it took: that is then unknown.
                    self._tells_usage = False
                    continue
                way = self._dialect.next_way(way, refusal, ask.schema)
                if way in tried:
                    raise refused_setting(ask, refusal, self._who, SETTINGS) or self._failed(answer)
                tried.add(way)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Make one call for the vectors of some texts; raises `ProviderError`."""
        if not texts:
            return Embeddings(())
        body = embedding_request(self._model, texts, as_base64=self._who.address.is_home)
        # Vectors written as JSON take up to 22 bytes for each dimension.
        limit_bytes = max(MAX_REPLY_BYTES, len(texts) * MAX_VECTOR_BYTES)
        answer = await self._api.post("/embeddings", json.dumps(body).encode(), limit_bytes)
        if not answer.is_success:
            raise self._failed(answer)
        return read_embeddings(answer.content, answer.headers, self._who, len(texts))

    async def close(self) -> None:
        """Let go of connections."""
        await self._api.close()

    def _read(self, answer: Answer, way: Way) -> Reply:
        if not (self._streams and is_streamed(answer.content)):
            return read_chat_reply(answer.content, answer.headers, self._who, way.rung.form)
        body = without_error(chat_of_stream(answer.content, self._who), answer.headers, self._who)
        return reply_of(body, answer.headers, self._who, way.rung.form)

    async def _send(self, ask: Ask, way: Way, *, tells_usage: bool) -> Answer:
        body = chat_request(self._model, ask, way)
        if self._streams:
            body = streamed(body, tells_usage=tells_usage)
        return await self._api.post("/chat/completions", encoded(body))

    def _failed(self, answer: Answer) -> ProviderError:
        return status_error(answer.status, answer.headers, answer.content, self._who)
