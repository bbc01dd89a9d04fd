"""Compute embeddings for a run: cached vectors where they exist, one batched call for the rest."""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import NamedTuple

from evalsi_kernel.broker.ask import Ask, Embeddings, Reply
from evalsi_kernel.broker.connector import Connector, ProviderError, may_be_billed
from evalsi_kernel.broker.judge_cache import JudgeCache
from evalsi_kernel.broker.judge_key import JudgeKey, judge_key
from evalsi_kernel.broker.model_client import NOTHING, CallFailed, ModelClient, Spent
from evalsi_kernel.broker.prices import text_tokens_bound
from evalsi_kernel.broker.settings import ModelSettings

MOST_TEXTS = 256
"""Maximum number of texts in one call; below the limits of all providers."""


class Embedded(NamedTuple):
    """Vectors in the order of the texts, their usage, and whether all of them were cached."""

    vectors: list[list[float]]
    spent: Spent
    cached: bool


class Embedder:
    """The embedding model of a run.

    Args:
        model: settings of the model.
        connector: makes one call.
        client: applies budget, rate limit and retries.
        cache: cache of vectors; None disables caching.
    """

    def __init__(
        self, model: ModelSettings, connector: Connector, client: ModelClient, cache: JudgeCache | None
    ) -> None:
        self.model = model
        self.connector = connector
        self.client = client
        self._cache = cache

    async def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the embedding vectors of some texts.

        Raises:
            CallFailed: a call failed; its usage includes the calls before it.
        """
        known: dict[str, list[float]] = {}
        keys = {text: self._key(text) for text in dict.fromkeys(texts)}
        if self._cache is not None:
            for text, key in keys.items():
                reply = await self._cache.get(key.digest)
                if reply is not None:
                    known[text] = _vector(reply.text)
        missing = [text for text in keys if text not in known]
        spent = NOTHING
        for start in range(0, len(missing), MOST_TEXTS):
            part = missing[start : start + MOST_TEXTS]
            try:
                made, of_part = await self.client.call(partial(self._call, part), text_tokens_bound(part), 0)
            except CallFailed as failure:
                raise CallFailed(failure.error, spent.plus(failure.spent)) from failure
            spent = spent.plus(of_part)
            for text, vector in zip(part, made.vectors, strict=True):
                known[text] = list(vector)
                if self._cache is not None:
                    self._cache.put(keys[text], Reply(_text(vector), model=made.model))
        return Embedded([known[text] for text in texts], spent, cached=not missing)

    async def _call(self, texts: Sequence[str]) -> Embeddings:
        with may_be_billed():
            made = await self.connector.embed(texts)
        lengths = set(map(len, made.vectors))
        if len(made.vectors) != len(texts) or len(lengths) != 1 or not all(map(_is_finite, made.vectors)):
            raise ProviderError(
                "provider.bad_reply",
                f"{len(texts)} texts got {len(made.vectors)} vectors, of {sorted(lengths)} values or not all finite.",
                "Check that the model is an embedding model.",
            )
        return made

    def _key(self, text: str) -> JudgeKey:
        """Return the cache key of a text; the role "embed" keeps it apart from chat replies."""
        return judge_key(self.connector.identity, Ask(({"role": "embed", "content": text},), max_tokens=1))


def _is_finite(vector: Sequence[float]) -> bool:
    return all(map(isfinite, vector))


def _text(vector: Sequence[float]) -> str:
    return b64encode(array("d", vector).tobytes()).decode()


def _vector(text: str) -> list[float]:
    numbers = array("d")
    numbers.frombytes(b64decode(text))
    return numbers.tolist()
