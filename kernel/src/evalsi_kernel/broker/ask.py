"""One request to a model, its reply and its token counts, as shared by the broker and the connectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

Finish = Literal["stop", "length", "refusal", "tool", "other"]
Form = Literal["json_schema", "json_object", "text"]


class Ask(NamedTuple):
    """One request to a model; equal requests may share one reply.

    Args:
        messages: chat messages, each `{"role": …, "content": text}`; roles are system, user and assistant.
        schema: JSON Schema of the reply; None requests plain text.
        max_tokens: maximum length of the reply in tokens, reasoning included.
        temperature: sampling temperature; None leaves it to the provider.
        seed: sampling seed; None leaves it to the provider.
        effort: reasoning effort, passed to the provider unchanged; None leaves it to the provider.
        sample: distinguishes repeated samples of the same question.
    """

    messages: Sequence[Mapping[str, str]]
    schema: Mapping[str, Any] | None = None
    max_tokens: int = 16_000
    temperature: float | None = None
    seed: int | None = None
    effort: str | None = None
    sample: int = 0


class Tokens(NamedTuple):
    """Tokens used by a call; None means unknown, never 0.

    Args:
        input: tokens of the whole prompt, including those read from and written to the provider's cache.
        output: tokens of the whole reply, including reasoning.
        cache_read: the part of `input` that was read from the provider's cache.
        cache_write: the part of `input` that was written to the provider's cache.
        reasoning: the part of `output` that is hidden reasoning.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None

    def plus(self, other: Tokens) -> Tokens:
        """Return the sum of two counts; it is unknown where either count is."""
        pairs = zip(self, other, strict=True)
        return Tokens(*(None if one is None or two is None else one + two for one, two in pairs))


UNKNOWN_TOKENS = Tokens()
NO_TOKENS = Tokens(0, 0, 0, 0, 0)


class Reply(NamedTuple):
    """A provider's reply, before it is checked against a schema.

    Args:
        text: the reply, unchanged.
        finish: why it ended.
        tokens: token counts of the call.
        model: the model that replied, as the provider names it.
        provider_id: the provider's id of the call; "" when there is none.
        form: how structured output was requested.
    """

    text: str
    finish: Finish = "stop"
    tokens: Tokens = UNKNOWN_TOKENS
    model: str = ""
    provider_id: str = ""
    form: Form = "text"


class Embeddings(NamedTuple):
    """Embedding vectors in the order of the texts, all of one length, with token counts and the model's name."""

    vectors: Sequence[Sequence[float]]
    tokens: Tokens = UNKNOWN_TOKENS
    model: str = ""
