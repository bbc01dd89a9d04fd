"""Embeddings: one vector for each text, in the order of the texts, or an error."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
from collections.abc import Sequence

import pytest

from evalsi_connectors.address import read_address
from evalsi_connectors.embedding import embedding_request, read_embeddings
from evalsi_connectors.who import Who
from evalsi_kernel.broker.ask import UNKNOWN_TOKENS, Embeddings, Tokens
from evalsi_kernel.broker.connector import ProviderError
from evalsi_kernel.errors import ConfigError
from tests.connectors.calling import ANTHROPIC, KEY_VARIABLE, OPENAI, made, settings
from tests.providers import EMBEDDER, Provider, faults

WHO = Who(OPENAI, EMBEDDER, read_address("http://localhost/v1", ""), None)


def embedded(base_url: str, texts: Sequence[str], provider: str = OPENAI, **fields: str) -> Embeddings:
    async def run() -> Embeddings:
        connector = made(settings(base_url, provider, model=EMBEDDER, **fields))
        try:
            return await connector.embed(texts)
        finally:
            await connector.close()

    return asyncio.run(run())


def read(*data: object, count: int = 2, **more: object) -> Embeddings:
    return read_embeddings(json.dumps({"data": data, **more}).encode(), {}, WHO, count)


def row(vector: object, index: object = None) -> dict[str, object]:
    return {"embedding": vector} if index is None else {"embedding": vector, "index": index}


def test_vectors_come_in_the_order_of_the_texts_with_what_they_took() -> None:
    with Provider(embed=lambda text: [float(len(text)), 0.5]) as server:
        found = embedded(server.base_url, ["one", "three", "x"])

        assert found == Embeddings([[3.0, 0.5], [5.0, 0.5], [1.0, 0.5]], Tokens(input=4), EMBEDDER)
        assert server.requests[0].body == {"model": EMBEDDER, "input": ["one", "three", "x"]}


def test_no_text_needs_no_call() -> None:
    with Provider() as server:
        assert embedded(server.base_url, []) == Embeddings(())
        assert server.requests == []


def test_vectors_are_put_in_order_by_their_index() -> None:
    assert read(row([2.0], 1), row([1.0], 0)).vectors == [[1.0], [2.0]]


def test_without_an_index_the_order_is_that_of_the_reply() -> None:
    assert read(row([1.0]), row([2.0])).vectors == [[1.0], [2.0]]


def test_packed_floats_are_unpacked() -> None:
    packed = base64.b64encode(struct.pack("<3f", 0.5, -1.25, 3.0)).decode()

    assert read(row(packed), row([1, 2, 3])).vectors == [[0.5, -1.25, 3.0], [1.0, 2.0, 3.0]]


def test_openai_itself_is_asked_for_packed_floats() -> None:
    assert embedding_request("m", ["a"], as_base64=True) == {"model": "m", "input": ["a"], "encoding_format": "base64"}


@pytest.mark.parametrize(
    "data",
    [
        [],
        [row([1.0])],
        [row([1.0])] * 3,
        [row([1.0], 0), row([1.0], 0)],
        [row([1.0], 0), row([1.0], 2)],
        [row([1.0], 0), row([1.0], -1)],
        [row([1.0], "0"), row([1.0], "1")],
        [row([1.0]), row([1.0, 2.0])],
        [row([1.0]), row([])],
        [row([1.0]), row(None)],
        [row([1.0]), row(["1"])],
        [row([1.0]), row([True])],
        [row([1.0]), row([float("nan")])],
        [row([1.0]), row([10**400])],
        [row([1.0]), row("no base64!")],
        [row([1.0]), row("AAA=")],
        [row([1.0]), row(base64.b64encode(struct.pack("<f", float("inf"))).decode())],
        [row([1.0]), "text"],
    ],
)
def test_vectors_that_are_missing_doubled_uneven_or_no_numbers_are_a_bad_reply(data: list[object]) -> None:
    with pytest.raises(ProviderError) as caught:
        read(*data, usage={"prompt_tokens": 8})

    assert caught.value.error.code == "provider.bad_reply"
    assert caught.value.tokens == Tokens(input=8)


def test_a_reply_without_data_is_a_bad_reply() -> None:
    with Provider(faults=[faults.missing_choices()]) as server, pytest.raises(ProviderError) as caught:
        embedded(server.base_url, ["one"])

    assert caught.value.error.code == "provider.bad_reply"


def test_tokens_that_are_not_told_are_unknown() -> None:
    with Provider(faults=[faults.missing_usage()]) as server:
        assert embedded(server.base_url, ["one"]).tokens == UNKNOWN_TOKENS


def test_a_failing_status_is_an_error() -> None:
    with Provider(faults=[faults.rate_limited(5)]) as server, pytest.raises(ProviderError) as caught:
        embedded(server.base_url, ["one"])

    assert (caught.value.error.code, caught.value.retry_after_s) == ("provider.rate_limited", 5)


def test_anthropic_has_none_and_says_whom_to_ask() -> None:
    with pytest.raises(ProviderError) as caught:
        embedded("http://localhost:1", ["one"], ANTHROPIC)

    assert caught.value.error.code == "provider.unsupported"
    assert "openai-compatible" in caught.value.error.hint


def test_an_error_names_the_flags_of_the_model_that_makes_embeddings(monkeypatch: pytest.MonkeyPatch) -> None:
    def hint(base_url: str) -> str:
        with pytest.raises(ProviderError) as caught:
            embedded(base_url, ["one"], kind="embed")
        return caught.value.error.hint

    with Provider(faults=[faults.not_found(), faults.unauthorized()]) as server:
        assert "(--embed-model)" in hint(server.base_url)
        assert "--embed-api-key-env names the variable" in hint(server.base_url)
    assert hint("http://localhost:1/v1").startswith("Check --embed-base-url, and that the server runs")
    for base_url in ("http://user:word@localhost:1/v1", "http://localhost:1/v1"):
        monkeypatch.delenv(KEY_VARIABLE, raising=False)
        with pytest.raises(ConfigError) as refused:
            embedded(base_url, ["one"], kind="embed")
        assert "--embed-api-key-env" in refused.value.hint
