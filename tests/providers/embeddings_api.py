"""The form of embeddings in an OpenAI-compatible API, and vectors that say how alike two texts are. No HTTP."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import zlib
from collections.abc import Callable, Sequence, Set
from typing import Any, Final

from tests.providers import openai_api
from tests.providers.answers import Answer, Reply, count_tokens
from tests.providers.faults import Change, Fault, Status
from tests.providers.requests import Request
from tests.providers.rules import Rules

PATH: Final = "/v1/embeddings"
REQUEST_ID: Final = openai_api.REQUEST_ID
DIMENSIONS: Final = 64
MOST_INPUTS: Final = 2048

Vector = Sequence[float]
Embedding = Callable[[str], Vector | Fault]

error = openai_api.error
key_objection = openai_api.key_objection


def by_words(text: str) -> Vector:
    """A vector of length 1 made of the text's words: the more two texts share, the nearer their vectors are."""
    sums = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        digest = zlib.crc32(word.encode())
        sums[digest % DIMENSIONS] += 1.0 if digest & 0x80000000 else -1.0
    length = math.hypot(*sums)
    return [value / length for value in sums] if length else [1.0] + [0.0] * (DIMENSIONS - 1)


def objection(request: Request, rules: Rules) -> Status | None:
    """What is wrong with a request of embeddings, if anything is."""
    wrong = openai_api.model_objection(request, rules) or openai_api.parameter_objection(request, rules)
    if wrong:
        return wrong
    texts = inputs(request)
    if not texts or len(texts) > MOST_INPUTS or not all(isinstance(text, str) and text for text in texts):
        return Status(400, f"input must be a text or 1 to {MOST_INPUTS} texts, none of them empty.", param="input")
    if request.field("encoding_format") not in {None, "float", "base64"}:
        return Status(400, "encoding_format must be float or base64.", "invalid_value", "encoding_format")
    return None


def format_objection(request: Request, formats: Set[str]) -> Status | None:
    """Nothing: vectors have no format that a server might not know."""
    return None


def inputs(request: Request) -> list[Any]:
    """What is to be embedded."""
    given = request.field("input")
    return given if isinstance(given, list) else [given]


def answer(request: Request, embed: Embedding) -> Reply:
    """The vectors of all texts, or the first fault that the function gives."""
    vectors: list[Vector] = []
    for text in inputs(request):
        vector = embed(text)
        if isinstance(vector, Fault):
            return vector
        vectors.append(vector)
    tokens = sum(count_tokens(text) for text in inputs(request))
    return Answer("", input_tokens=tokens, output_tokens=0, vectors=vectors)


def reply(request: Request, answer: Answer, change: Change | None = None) -> dict[str, Any]:
    """The body of embeddings; a `dimensions` of the request cuts the vectors and makes them of length 1 again."""
    coded = request.field("encoding_format") == "base64"
    vectors = [_cut(vector, request.field("dimensions")) for vector in answer.vectors]
    body = {
        "object": "list",
        "data": [
            {"object": "embedding", "index": place, "embedding": _base64(vector) if coded else list(vector)}
            for place, vector in enumerate(vectors)
        ],
        "model": answer.model or request.model,
        "usage": {"prompt_tokens": answer.input_tokens, "total_tokens": answer.input_tokens},
    }
    if change in {"no_choices", "no_usage"}:
        del body["data" if change == "no_choices" else "usage"]
    return body


def in_pieces(_: Request, body: dict[str, Any]) -> bytes:
    """Vectors are not streamed, whatever is asked for."""
    return json.dumps(body).encode()


def _cut(vector: Vector, dimensions: Any) -> Vector:
    if not isinstance(dimensions, int) or dimensions >= len(vector):
        return vector
    length = math.hypot(*vector[:dimensions]) or 1.0
    return [value / length for value in vector[:dimensions]]


def _base64(vector: Vector) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
