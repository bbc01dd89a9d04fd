"""The connector `anthropic`: messages of Anthropic's API, through its official SDK with the SDK's own retries off.

It retries nothing, caches nothing and judges no reply. The SDK is imported with this module and nowhere else before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import parse_qsl

import anthropic

from evalsi_kernel.broker.ask import Ask, Embeddings, Reply
from evalsi_kernel.broker.connector import ConnectorSettings

from .anthropic_batches import MAX_ASKS, SETTINGS, AnthropicBatches, refuse_seed, whole_answer
from .batch_door import BatchDoor
from .chat_reply import read_object, without_error
from .dialect import OLD_NAME, Dialect, Rung
from .failure import failure
from .messages_reply import message_of
from .messages_request import messages_request, sdk_arguments, takes
from .messages_stream import message_of_stream
from .refusal import Refusal, read_refusal
from .server_events import is_streamed
from .status import status_error
from .transport import Answer, Turns, open_client
from .unsupported import refused_setting
from .who import Home, Who

HOME: Final = Home("anthropic", "https://api.anthropic.com", "api.anthropic.com", "ANTHROPIC_API_KEY", usual_path="")


class AnthropicMessages(BatchDoor):
    """A model of Anthropic, or of a server that speaks its API.

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
        self._options = settings.options
        # Every model has the same name for it; which of them takes a schema is seen with the first call.
        self._dialect = Dialect(OLD_NAME, (Rung.STRICT, Rung.OBJECT, Rung.TEXT))
        self._turns = Turns(settings, self._who, anthropic.APIConnectionError)
        self._client = _open(settings, self._who)
        self._batches = AnthropicBatches(self._client, self._turns, self._who, self._rung)

    async def complete(self, ask: Ask) -> Reply:
        """Make one call; raises `ProviderError`."""
        refuse_seed(ask, self._who)
        async with self._dialect.turn(ask.schema):
            rung = self._rung(ask)
            tried = {rung}
            while True:
                body = messages_request(self._model, ask, rung, self._options)
                send = partial(self._client.messages.with_raw_response.create, **sdk_arguments(body))
                answer = await self._turns.take(partial(whole_answer, send))
                if answer.is_success:
                    reply = message_of(self._message(answer), self._who, rung.form)
                    self._dialect.works(ask.schema)
                    return reply
                refusal = read_refusal(answer.content) if answer.status == 400 else Refusal("")
                if error := refused_setting(ask, refusal, self._who, SETTINGS):
                    raise error
                way = self._dialect.way(ask.schema)._replace(rung=rung)
                rung = self._dialect.next_way(way, refusal, ask.schema).rung
                if rung in tried:
                    raise status_error(answer.status, answer.headers, answer.content, self._who)
                tried.add(rung)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Anthropic's API has no embeddings; raises `ProviderError` `provider.unsupported`."""
        raise failure(
            "provider.unsupported",
            "Anthropic's API has no embeddings.",
            "Name another provider for them, such as --embed-provider openai-compatible.",
            is_final=True,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._client.close()

    def _message(self, answer: Answer) -> Mapping[str, Any]:
        if self._options.get("stream") and is_streamed(answer.content):
            return without_error(message_of_stream(answer.content, self._who), answer.headers, self._who)
        return read_object(answer.content, answer.headers, self._who)

    def _rung(self, ask: Ask) -> Rung:
        rung = self._dialect.way(ask.schema).rung
        if rung is Rung.STRICT and ask.schema is not None and not takes(ask.schema):
            return Rung.OBJECT
        return rung


def _open(settings: ConnectorSettings, who: Who) -> anthropic.AsyncAnthropic:
    # x-api-key is the documented header, which every server of this API takes; the SDK's own choice is another. Without
    # a key the SDK would look for one in places of its own, and send it to whatever address this is.
    headers: dict[str, Any] = {
        "Authorization": anthropic.Omit(),
        "X-Api-Key": who.key.secret() if who.key else anthropic.Omit(),
    }
    return anthropic.AsyncAnthropic(
        api_key="none",
        base_url=who.address.root,
        max_retries=0,
        # The SDK bounds a call by its own reckoning unless it is told a time; ours is kept around it.
        timeout=settings.timeout_s,
        default_headers=headers,
        default_query=dict(parse_qsl(who.address.query)),
        http_client=open_client(settings),
        open_telemetry=False,
    )
