"""A deterministic judge without a model, with failures on demand. It answers `judge.ask` and `embed.ask`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from evalsi_conformance.schema_values import value_for
from evalsi_protocol.errors import WireError

Manner = Literal["answers", "unparsable", "refused", "not bound", "empty"]
FAILURES: Final[tuple[Manner, ...]] = ("unparsable", "refused", "not bound", "empty")
"""Failures: a reply that violates the schema, a refusal, no judge, a reply without the answer."""
DIMENSIONS: Final = 8
_ERRORS: Final = {
    "unparsable": WireError("judge.unparsable", "The reply is not what the schema asks for.", "", "judge"),
    "refused": WireError("judge.refused", "The judge refused to answer.", "", "judge"),
}
_NOT_BOUND: Final = WireError("capability.not_bound", "No judge is bound.", "Name a judge.", "config")


class Answer(NamedTuple):
    """The author's answer to questions that contain a text."""

    contains: str
    value: Any


class Question(NamedTuple):
    """One question of a pack.

    Args:
        session: session of the evaluator, as sent by the pack.
        record: id of the record, as sent by the pack; "" for none.
        method: `judge.ask` or `embed.ask`.
        role: role of the model.
    """

    session: Any
    record: Any
    method: str
    role: Any


class ScriptedJudge:
    """Answer questions, and record them with session and record.

    Args:
        script: the author's answers; the first whose text occurs in a question is used.
    """

    def __init__(self, script: Sequence[Answer] = ()) -> None:
        self.manner: Manner = "answers"
        self.asked: set[tuple[int, str]] = set()
        self.questions: list[Question] = []
        self._script = tuple(script)

    def answer(self, method: str, body: Mapping[str, Any]) -> dict[str, Any] | WireError:
        """Return the body of the response, or the error."""
        session, record = body.get("session", 0), body.get("record", "")
        if isinstance(session, int) and isinstance(record, str):
            self.asked.add((session, record))
        self.questions += [Question(session, record, method, role) for role in _roles(method, body)]
        if self.manner == "not bound" or method not in ("judge.ask", "embed.ask"):
            return _NOT_BOUND
        if method == "embed.ask":
            return self._embedded(body)
        requests = body.get("requests")
        if not isinstance(requests, list) or not all(isinstance(one, dict) for one in requests):
            return WireError("protocol.body", "A judge.ask has no list of requests.", "Send requests: […].", "pack")
        return {"replies": [self._reply(request) for request in requests]}

    def _embedded(self, body: Mapping[str, Any]) -> dict[str, Any] | WireError:
        texts = body.get("texts")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return WireError("protocol.body", "An embed.ask has no list of texts.", "Send texts: […].", "pack")
        if self.manner in _ERRORS:
            return _ERRORS[self.manner]
        return {"vectors": [] if self.manner == "empty" else [_vector(text) for text in texts]}

    def _reply(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.manner in _ERRORS:
            return {"error": _ERRORS[self.manner].to_body()}
        schema = request.get("schema")
        if self.manner == "empty":
            value, text = None, ""
        else:
            value = self._value(request, schema)
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        model = {"ref": "", "model": "evalsi-conformance", "cached": False, "cost_usd": None}
        return {"value": None if schema is None else value, "text": text, **model}

    def _value(self, request: Mapping[str, Any], schema: Any) -> Any:
        words = json.dumps(request.get("messages"), ensure_ascii=False)
        for answer in self._script:
            if answer.contains in words:
                return answer.value
        return "As the words show." if schema is None else value_for(schema, _pick(words))


def _roles(method: str, body: Mapping[str, Any]) -> list[Any]:
    """Return the role of each question of a request; an `embed.ask` is one question."""
    if method == "embed.ask":
        return ["embed"]
    requests = body.get("requests") if method == "judge.ask" else None
    if not isinstance(requests, list):
        return []
    return [one.get("role", "primary") for one in requests if isinstance(one, Mapping)]


def _pick(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _vector(text: str) -> list[float]:
    digest = hashlib.sha256(text.encode()).digest()
    return [(digest[place] + 1) / 256 for place in range(DIMENSIONS)]
