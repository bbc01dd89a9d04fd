"""Questions to a judge, its replies, and their wire forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from evalsi_protocol.errors import WireError

Message = Mapping[str, str]


class AskError(Exception):
    """A call to the kernel failed. If an evaluator does not catch it, the outcome is this error."""

    def __init__(self, error: WireError) -> None:
        super().__init__(str(error))
        self.error = error


class Question(NamedTuple):
    """One question to a judge.

    Args:
        messages: chat messages, each `{"role": "system" | "user" | "assistant", "content": text}`.
        schema: JSON Schema of the answer, with an object at the top level; None asks for plain text.
        role: which judge of the run to ask.
        max_tokens: maximum number of tokens of the reply; None takes the run's setting.
        temperature: sampling temperature; None takes the run's setting.
        seed: sampling seed; None leaves it to the provider.
        sample: number that distinguishes repeated samples. Equal questions with the same number share one reply.
    """

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    role: str = "primary"
    max_tokens: int | None = None
    temperature: float | None = None
    seed: int | None = None
    sample: int = 0

    def to_body(self) -> dict[str, Any]:
        """Return the question as one of the `requests` of `judge.ask`, without default values."""
        body: dict[str, Any] = {"messages": [dict(message) for message in self.messages]}
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            if value != default:
                body[name] = dict(value) if name == "schema" else value
        return body


class JudgeReply(NamedTuple):
    """The reply of a judge.

    Args:
        value: the answer, which matches the question's schema; None if the question had no schema.
        text: the raw reply.
        ref: key of the reply in results.json.
        model: model that answered, as reported by the provider.
        cached: whether the reply came from the cache.
        cost_usd: cost in this run, in US dollars; None if unknown.
    """

    value: Any
    text: str
    ref: str = ""
    model: str = ""
    cached: bool = False
    cost_usd: float | None = None


class Completion(NamedTuple):
    """The reply of a model to `complete`. Unlike a judge's reply, it may be truncated, refused or empty.

    Args:
        text: the text of the reply.
        finish: why the reply ended: "stop", "length", "refusal", "tool" or "other".
        model: model that answered, as reported by the provider.
        cached: whether the reply came from the cache.
        tokens: input and output tokens together; None if unknown.
        cost_usd: cost of this call, in US dollars; None if unknown.
    """

    text: str
    finish: str = "stop"
    model: str = ""
    cached: bool = False
    tokens: int | None = None
    cost_usd: float | None = None


def ask_body(session: int, record_id: str, questions: Sequence[Question]) -> dict[str, Any]:
    """Return the body of a `judge.ask` request."""
    return {"session": session, "record": record_id, "requests": [question.to_body() for question in questions]}


def replies_of(body: Mapping[str, Any], count: int) -> list[JudgeReply | AskError]:
    """Return the replies of a `judge.ask`, in the order of its questions; an `AskError` for each that failed.

    Raises:
        AskError: the number of replies differs from the number of questions.
    """
    replies = body.get("replies")
    if not isinstance(replies, list) or len(replies) != count:
        raise AskError(WireError("protocol.body", f"The kernel did not send {count} replies.", "", "kernel"))
    return [_reply_of(reply) for reply in replies]


def _reply_of(reply: Mapping[str, Any]) -> JudgeReply | AskError:
    error = reply.get("error")
    if isinstance(error, Mapping):
        return AskError(WireError.from_body(error))
    return JudgeReply(**{name: reply[name] for name in JudgeReply._fields if name in reply})
