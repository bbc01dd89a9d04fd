"""Writes the body of an embeddings call and reads its reply: one vector for each text, in the texts' order.

It must not know what the vectors are for.
"""

from __future__ import annotations

import base64
import math
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from evalsi_kernel.broker.ask import Embeddings, Tokens

from .bodies import text_or_empty
from .chat_reply import bad_reply, read_object, tokens_of
from .who import Who

_FLOAT_BYTES = 4


def embedding_request(model: str, texts: Sequence[str], *, as_base64: bool) -> dict[str, Any]:
    """The body, as plain values.

    Args:
        model: the provider's name of the model.
        texts: what to embed.
        as_base64: ask for packed floats, which are read many times faster; not every server knows them.
    """
    body: dict[str, Any] = {"model": model, "input": list(texts)}
    return {**body, "encoding_format": "base64"} if as_base64 else body


def read_embeddings(content: bytes, headers: Mapping[str, str], who: Who, count: int) -> Embeddings:
    """The vectors of `count` texts, whichever way they are written.

    Raises:
        ProviderError: `provider.bad_reply`; some are missing, come twice, differ in length or hold what is no number.
    """
    body = read_object(content, headers, who)
    # Embeddings have no completion; a server that says 0 of it says nothing.
    tokens = Tokens(input=tokens_of(body.get("usage")).input)
    data = body.get("data")
    if not isinstance(data, list) or len(data) != count:
        came = len(data) if isinstance(data, list) else "no"
        raise bad_reply(who, f"{who} answered {count} texts with {came} vectors.", tokens)
    vectors: dict[int, Sequence[float]] = {}
    for place, one in enumerate(data):
        vector = _vector(one.get("embedding")) if isinstance(one, Mapping) else None
        index = one.get("index", place) if isinstance(one, Mapping) else None
        if vector is None or not isinstance(index, int) or not 0 <= index < count or index in vectors:
            raise bad_reply(who, f"{who} answered with a vector that cannot be read (place {place}).", tokens)
        vectors[index] = vector
    if len({len(vector) for vector in vectors.values()}) != 1:
        raise bad_reply(who, f"{who} answered with vectors of different lengths.", tokens)
    ordered = [vectors[index] for index in range(count)]
    return Embeddings(ordered, tokens, text_or_empty(body.get("model")))


def _vector(value: object) -> Sequence[float] | None:
    """A vector of finite numbers, or None."""
    if isinstance(value, str):
        value = _unpacked(value)
    if not isinstance(value, list) or not value:
        return None
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in value):
        return None
    try:
        vector = [float(one) for one in value]
    except OverflowError:
        return None
    return vector if all(map(math.isfinite, vector)) else None


def _unpacked(text: str) -> list[float] | None:
    try:
        packed = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    if len(packed) % _FLOAT_BYTES:
        return None
    floats = array("f", packed)
    if sys.byteorder == "big":
        floats.byteswap()
    return floats.tolist()
