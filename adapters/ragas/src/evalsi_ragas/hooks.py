"""The models that RAGAS is handed: a judge and an embedding model that ask the kernel.

Made anew for each record and reference. The first failure is kept, whatever RAGAS makes of it. Imports RAGAS, so it is
loaded when an evaluator is opened; it must not know a metric.
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
    """A model was asked where it cannot be; a fault of this adapter, or a new way of RAGAS."""


class Judge(InstructorBaseRagasLLM):  # type: ignore[misc]  # RAGAS ships no types here.
    """RAGAS' judge.

    Args:
        ctx: of the record.
    """

    # Older metrics ask a judge of this kind whether it can be awaited.
    is_async = True

    def __init__(self, ctx: Context) -> None:
        self.failure: Exception | None = None
        self.refs: list[str] = []
        self._ctx = ctx
        self._asked = Counter[str]()

    def generate(self, prompt: str, response_model: type[Any]) -> Any:
        """Refuse; no metric asks without waiting."""
        raise self._failed(NoReply("RAGAS asked its judge without waiting. Report this to the adapter."))

    async def agenerate(self, prompt: str, response_model: type[Any]) -> Any:
        """The judge's answer as an object of RAGAS' class.

        Raises:
            evalsi.AskError: the judge gave none.
            evalsi.Skip: the answer lists nothing to judge.
            ValueError: the answer is not what RAGAS expects.
        """
        if self.failure is not None:
            raise self.failure  # What RAGAS tries again costs nothing, and ends as the first try did.
        try:
            return await self._answer(prompt, response_model)
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is kept, and it goes on its way.
            raise self._failed(error) from None

    async def _answer(self, prompt: str, response_model: type[Any]) -> Any:
        name = response_model.__name__
        count = _count(name, prompt)
        schema = _schema(response_model)  # type: ignore[arg-type]  # A class is hashable, whatever its metaclass says.
        schema = schema if count is None else with_count(schema, name, count)
        # A question that RAGAS repeats is meant to be answered anew.
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
    """RAGAS' embedding model.

    Args:
        ctx: of the record.
    """

    def __init__(self, ctx: Context) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self._ctx = ctx
        self._known: dict[str, list[float]] = {}

    async def know(self, texts: Sequence[str]) -> None:
        """Fetch the vectors of texts of which RAGAS will not wait for them."""
        self._known.update(zip(texts, await self.aembed_texts(texts), strict=True))

    def embed_text(self, text: str, **_: Any) -> list[float]:
        """The vector of a text that is known."""
        if text not in self._known:
            raise self._failed(NoReply("RAGAS asked for a vector without waiting. Report this to the adapter."))
        return self._known[text]

    async def aembed_text(self, text: str, **_: Any) -> list[float]:
        """The vector of a text."""
        (vector,) = await self.aembed_texts([text])
        return vector

    async def aembed_texts(self, texts: Sequence[str], **_: Any) -> list[list[float]]:
        """The vectors of some texts, in their order.

        Raises:
            evalsi.AskError: the embedding model gave none.
            ValueError: a vector is of length 0, so that it has no direction.
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
    """How many things the question asks about, where one verdict is due for each."""
    if name not in COUNTED:
        return None
    # The input is written as JSON, in which no line break stands open: the last mark is RAGAS' own.
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
