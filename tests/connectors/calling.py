"""Makes connectors to the vendor on this machine and collects what their calls bring, errors as values."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from evalsi_connectors.plugin import evalsi_connector
from evalsi_kernel.broker.ask import Ask, Reply
from evalsi_kernel.broker.connector import BatchConnector, Connector, ConnectorSettings, ProviderError
from tests.providers import MODEL, Provider

KEY_VARIABLE: Final = "EVALSI_TEST_KEY"
OPENAI: Final = "openai-compatible"
ANTHROPIC: Final = "anthropic"
BOTH: Final = (OPENAI, ANTHROPIC)
VERDICT: Final[Mapping[str, Any]] = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["reason", "score"],
    "additionalProperties": False,
}


def asked(text: str = "Grade this.", **fields: Any) -> Ask:
    """An ask of one message, with other fields of an `Ask`."""
    return Ask([{"role": "user", "content": text}], **fields)


def settings(base_url: str | None, provider: str = OPENAI, **fields: Any) -> ConnectorSettings:
    """Settings of the server's model and key, with other fields of `ConnectorSettings`."""
    return ConnectorSettings(provider, **{"model": MODEL, "api_key_env": KEY_VARIABLE, "base_url": base_url, **fields})


def url_of(server: Provider, provider: str) -> str:
    """The base URL that this connector takes."""
    return server.root_url if provider == ANTHROPIC else server.base_url


def made(wanted: ConnectorSettings) -> Connector:
    """The connector."""
    connector = evalsi_connector(wanted)
    assert connector is not None
    return connector


async def told(connector: Connector, ask: Ask) -> Reply | ProviderError:
    """What one call brings."""
    try:
        return await connector.complete(ask)
    except ProviderError as error:
        return error


def calls(wanted: ConnectorSettings, *asks: Ask) -> list[Reply | ProviderError]:
    """What some calls of one connector bring, made one after the other."""

    async def run() -> list[Reply | ProviderError]:
        connector = made(wanted)
        try:
            return [await told(connector, ask) for ask in asks]
        finally:
            await connector.close()

    return asyncio.run(run())


def at_once(wanted: ConnectorSettings, *asks: Ask) -> list[Reply | ProviderError]:
    """What some calls of one connector bring, all made at once."""

    async def run() -> list[Reply | ProviderError]:
        connector = made(wanted)
        try:
            return list(await asyncio.gather(*(told(connector, ask) for ask in asks)))
        finally:
            await connector.close()

    return asyncio.run(run())


def replied(server: Provider, ask: Ask, provider: str = OPENAI, **fields: Any) -> Reply:
    """The reply to one call; an error fails the test."""
    (result,) = calls(settings(url_of(server, provider), provider, **fields), ask)
    assert isinstance(result, Reply), result
    return result


def failed(server: Provider, ask: Ask, provider: str = OPENAI, **fields: Any) -> ProviderError:
    """The error of one call; a reply fails the test."""
    (result,) = calls(settings(url_of(server, provider), provider, **fields), ask)
    assert isinstance(result, ProviderError), result
    return result


def batches(connector: Connector) -> BatchConnector:
    """The connector as one that has batches."""
    assert isinstance(connector, BatchConnector)
    return connector
