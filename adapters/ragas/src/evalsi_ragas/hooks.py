"""The judge and the embedding model given to RAGAS; both send their requests to the kernel.

A new pair is made for each record and reference. Each keeps its first failure, because RAGAS may swallow or wrap it.
Imports RAGAS, so load it only when an evaluator is opened.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ragas.embeddings.base import BaseRagasEmbedding
from ragas.llms.base import InstructorBaseRagasLLM

from evalsi import Context, Skip
from evalsi_ragas.schemas import COUNTED, Schema, answer_schema, fault, nothing_listed, with_count

_INPUT = "\nNow perform the same with the following input\ninput: "
_OUTPUT = "\nOutput: "


class NoReply(Exception):
    """RAGAS used a model in a way that this adapter does not support."""


class Judge(InstructorBaseRagasLLM):  # type: ignore[misc]  # RAGAS ships no types here.
    """Judge model for RAGAS.

    Args:
        ctx: context of the record.
    """

    # Older metrics check this before they await the judge.
    is_async = True

    def __init__(self, ctx: Context) -> None:
        self.failure: Exception | None = None
        self.refs: list[str] = []
        self._ctx = ctx
        self._asked = Counter[str]()

    def generate(self, prompt: str, response_model: type[Any]) -> Any:
        """Raise `NoReply`: no metric makes a synchronous request."""
        raise self._failed(NoReply("RAGAS asked its judge without waiting. Report this to the adapter."))

    async def agenerate(self, prompt: str, response_model: type[Any]) -> Any:
        """Return the judge's answer as an instance of `response_model`.

        Raises:
            evalsi.AskError: the judge gave no answer.
            evalsi.Skip: the answer lists nothing to judge.
            ValueError: the answer is not what RAGAS expects.
        """
        if self.failure is not None:
            raise self.failure  # A retry by RAGAS fails the same way, without a call.
        try:
            return await self._answer(prompt, response_model)
        except Exception as error:  # noqa: BLE001 -- any failure is kept and raised again.
            raise self._failed(error) from None

    async def _answer(self, prompt: str, response_model: type[Any]) -> Any:
        name = response_model.__name__
        count = _count(name, prompt)
        schema = _schema(response_model)  # type: ignore[arg-type]  # Every class is hashable.
        schema = schema if count is None else with_count(schema, name, count)
        # RAGAS repeats a prompt to get another sample, so the cached reply must not be used.
        sample = self._asked[prompt]
        self._asked[prompt] += 1
        reply = await self._ctx.judge([{"role": "user", "content": prompt}], schema=schema, sample=sample)
        if reply.ref:
            self.refs.append(reply.ref)
        answer = _read(response_model, reply.value)
        value = answer.model_dump()
        if reason := nothing_listed(name, value, is_first=self._asked.total() == 1):
            raise Skip(reason)
        if wrong := fault(name, value, count):
            raise ValueError(wrong)
        return answer

    def _failed(self, error: Exception) -> Exception:
        self.failure = self.failure or error
        return error


class Embedder(BaseRagasEmbedding):  # type: ignore[misc]  # As above.
    """Embedding model for RAGAS.

    Args:
        ctx: context of the record.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self._ctx = ctx
        self._known: dict[str, list[float]] = {}

    async def know(self, texts: Sequence[str]) -> None:
        """Fetch vectors in advance, for metrics that ask for them synchronously."""
        self._known.update(zip(texts, await self.aembed_texts(texts), strict=True))

    def embed_text(self, text: str, **_: Any) -> list[float]:
        """Return the vector of a text that was fetched in advance."""
        if text not in self._known:
            raise self._failed(NoReply("RAGAS asked for a vector without waiting. Report this to the adapter."))
        return self._known[text]

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        """Return the vector of a text."""
        (vector,) = await self.aembed_texts([text])
        return vector

    async def aembed_texts(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        """Return the vectors of texts, in the same order.

        Raises:
            evalsi.AskError: the embedding model gave no vectors.
            ValueError: a vector has length 0, so it has no direction.
        """
        try:
            vectors = await self._ctx.embed(list(texts))
            for text, vector in zip(texts, vectors, strict=True):
                if not any(vector):
                    raise ValueError(f"the embedding model gave a vector of zeros for the text {text!r:.80}")
        except Exception as error:  # noqa: BLE001 -- as above.
            raise self._failed(error) from None
        return vectors

    def _failed(self, error: Exception) -> Exception:
        self.failure = self.failure or error
        return error


def _count(name: str, prompt: str) -> int | None:
    """Return how many items the prompt asks about, or None if the answer is not one verdict per item."""
    if name not in COUNTED:
        return None
    # The input is JSON, which escapes line breaks, so the last marker is the one that RAGAS wrote.
    _, mark, rest = prompt.rpartition(_INPUT)
    if not mark or not rest.endswith(_OUTPUT):
        raise NoReply("RAGAS words its questions in a new way. Report this to the adapter.")
    return len(json.loads(rest.removesuffix(_OUTPUT))[COUNTED[name][0]])


def _read(response_model: type[Any], value: Any) -> Any:
    try:
        return response_model.model_validate(value)
    except ValueError as error:
        wrong = " ".join(str(error).split())
        raise ValueError(f"the judge's answer is no {response_model.__name__} of RAGAS: {wrong:.300}") from error


@lru_cache(maxsize=256)
def _schema(response_model: type[Any]) -> Schema:
    return answer_schema(response_model.model_json_schema())
