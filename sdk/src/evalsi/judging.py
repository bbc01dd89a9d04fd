"""Questions to a judge and its replies, as an evaluator writes and reads them; and their forms on the wire.

It must not know a provider, a price or a cache: those are the kernel's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalsi_protocol.errors import WireError

Message = Mapping[str, str]


class AskError(Exception):
    """The kernel could not do what was asked; the evaluation ends as an error that carries the kernel's own."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Question(NamedTuple):
    """One question to a judge.

    Args:
        messages: chat messages, each `{"role": "system" | "user" | "assistant", "content": text}`.
        schema: JSON Schema of the answer, an object at its top; None asks for plain text.
        role: which judge of the run to ask.
        max_tokens: the most that the reply may take; None takes the run's own.
        temperature: of sampling; None takes the run's own.
        seed: of sampling; None leaves it to the provider.
        sample: tells repeated samples of one question apart: equal questions of one sample share one reply.
    """

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    role: str = "primary"
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    sample: int = 0

    def to_body(self) -> dict[str, Any]:
        """As one of the `requests` of `judge.ask`; what is the default is left out."""
        body: dict[str, Any] = {"messages": [dict(message) for message in self.messages]}
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            if value != default:
                body[name] = dict(value) if name == "schema" else value
        return body


class JudgeReply(NamedTuple):
    """What a judge answered.

    Args:
        value: the answer, which fits the question's schema; None where it had none.
        text: the reply as the judge wrote it.
        ref: under which results.json holds the reply.
        model: that answered, as its provider names it.
        cached: whether it came from the cache.
        cost_usd: what it cost in this run; None is unknown.
    """

    value: Any
    text: str
    ref: str = ""
    model: str = ""
    cached: bool = False
    cost_usd: float | None = None


class Completion(NamedTuple):
    """What a model wrote, as `complete` brings it; unlike a judge's reply it may be cut off, refused or empty.

    Args:
        text: as the model wrote it.
        finish: why it ended: "stop", "length", "refusal", "tool" or "other".
        model: that wrote it, as its provider names it.
        cached: whether it came from the cache.
        tokens: what it took, in and out; None is unknown.
        cost_usd: what it cost now; None is unknown.
    """

    text: str
    finish: str = "stop"
    model: str = ""
    cached: bool = False
    tokens: int | None = None
    cost_usd: float | None = None


def ask_body(session: int, record_id: str, questions: Sequence[Question]) -> dict[str, Any]:
    """The body of a `judge.ask`."""
    return {"session": session, "record": record_id, "requests": [question.to_body() for question in questions]}


def replies_of(body: Mapping[str, Any], count: int) -> list[JudgeReply | AskError]:
    """The replies of a `judge.ask`, in the order of its questions; one that failed is the error itself.

    Raises:
        AskError: the kernel answered fewer or more than were asked.
    """
    replies = body.get("replies")
    if not isinstance(replies, list) or len(replies) != count:
        raise AskError(WireError("protocol.body", f"{count} questions did not get {count} replies.", "", "kernel"))
    return [_reply_of(reply) for reply in replies]


def _reply_of(reply: Mapping[str, Any]) -> JudgeReply | AskError:
    error = reply.get("error")
    if isinstance(error, Mapping):
        return AskError(WireError.from_body(error))
    return JudgeReply(**{name: reply[name] for name in JudgeReply._fields if name in reply})
